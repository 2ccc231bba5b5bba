//! Decides where a line of an artifact begins.
//!
//! Knows nothing about what is shown of it. Invariant: one block of the artifact is held at a time,
//! and the search ends after [`MAX_SEEK_BYTES`].

use super::Shelf;
use crate::reply::Ending;

/// How far from the start lines are counted.
pub(super) const MAX_SEEK_BYTES: u64 = 64 << 20;

const BLOCK_BYTES: u64 = 1 << 20;

/// Where a line was found.
pub(super) enum Sought {
    /// It begins at this byte.
    At(u64),
    /// The artifact has no such line: it ends here, after so many.
    End { offset: u64, lines: u64 },
    /// It was not found within the bound.
    TooFar,
}

/// Where line `number` begins, from 1.
pub(super) async fn line(shelf: &Shelf<'_>, number: u64) -> Result<Sought, Ending> {
    let (mut offset, mut begun, mut is_open) = (0, 0, false);
    if number == 1 {
        return Ok(Sought::At(0));
    }
    while offset < MAX_SEEK_BYTES {
        let block = shelf.read(offset, BLOCK_BYTES).await?;
        if block.is_empty() {
            return Ok(Sought::End { offset, lines: begun + u64::from(is_open) });
        }
        for (place, _) in block.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            begun += 1;
            if begun + 1 == number {
                return Ok(Sought::At(offset + place as u64 + 1));
            }
        }
        is_open = block.last() != Some(&b'\n');
        offset += block.len() as u64;
    }
    Ok(Sought::TooFar)
}

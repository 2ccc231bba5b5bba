//! Decides where bytes are cut: into the pieces in which a network could have brought them, and off,
//! where a connection could have broken.

use crate::chance::Chance;

/// A way to cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cuts {
    /// Not at all.
    Whole,
    /// Into pieces of this many bytes.
    Every(usize),
    /// At places that this seed gives.
    Random(u64),
}

/// Beyond this, single bytes would say nothing that pieces of seven do not.
const BYTE_BY_BYTE: usize = 16 * 1024;

/// This near to their end, bytes say that an answer is finished, or begin to.
const CLOSE: usize = 400;

/// The ways to cut `bytes`, the first of which is not to.
pub(crate) fn of(bytes: &[u8]) -> impl Iterator<Item = Cuts> + use<> {
    let single = (bytes.len() <= BYTE_BY_BYTE).then_some(Cuts::Every(1));
    [Some(Cuts::Whole), single, Some(Cuts::Every(7)), Some(Cuts::Random(seed_of(bytes)))]
        .into_iter()
        .flatten()
}

/// Where the bytes may end too early: amid, at two places of chance, and close to the end, where an
/// answer is nearly whole.
pub(crate) fn ends(bytes: &[u8]) -> [usize; 4] {
    let mut chance = Chance::new(!seed_of(bytes));
    let length = bytes.len();
    let close = chance.below(length.min(CLOSE) + 1);
    [length / 2, chance.below(length), chance.below(length), length - close]
}

/// The same bytes are always cut at the same places.
fn seed_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(bytes.len() as u64, |seed, byte| {
        seed.wrapping_mul(0x0100_0000_01b3).wrapping_add(u64::from(*byte))
    })
}

impl Cuts {
    /// The pieces of `bytes`.
    pub(crate) fn pieces(self, bytes: &[u8]) -> Vec<&[u8]> {
        match self {
            Self::Whole => vec![bytes],
            Self::Every(size) => bytes.chunks(size).collect(),
            Self::Random(seed) => at_random(bytes, &mut Chance::new(seed)),
        }
    }
}

fn at_random<'a>(mut bytes: &'a [u8], chance: &mut Chance) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let longest = if chance.one_in(4) { 4_096 } else { 40 };
        let (piece, rest) = bytes.split_at(chance.between(1, longest).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

//! Decides whether lines are cut where they end, however long they are.

use std::io::BufReader;

use proptest::prelude::*;

use crate::lines::{Found, LONGEST_LINE, next};

/// What is found in `bytes`, read in pieces of `chunk` bytes: each line by its length.
fn found(bytes: &[u8], chunk: usize) -> Vec<(Found, usize)> {
    let (mut reader, mut line) = (BufReader::with_capacity(chunk, bytes), Vec::new());
    let (mut all, mut passed) = (Vec::new(), 0);
    loop {
        let (found, read) = next(&mut reader, &mut line).unwrap();
        passed += read;
        if found == Found::End {
            assert_eq!(passed, bytes.len() as u64, "every byte is passed once");
            return all;
        }
        all.push((found, line.len()));
    }
}

#[test]
fn lines_end_at_their_line_feed_and_what_has_none_is_torn() {
    let check = |text: &str, expected: &[(Found, usize)]| {
        assert_eq!(found(text.as_bytes(), 3), expected, "{text:?}");
    };
    check("", &[]);
    check("\n", &[(Found::Line, 0)]);
    check("abcdef\ng\n", &[(Found::Line, 6), (Found::Line, 1)]);
    check("abc\nd", &[(Found::Line, 3), (Found::Torn, 1)]);
}

#[test]
fn a_line_beyond_the_limit_is_passed_without_being_kept() {
    let limit = usize::try_from(LONGEST_LINE).unwrap();
    let of = |length: usize, end: &str| [vec![b'x'; length], end.into()].concat();
    let longest = (Found::Line, limit - 1);
    let after = (Found::Line, 5);
    assert_eq!(found(&of(limit - 1, "\nafter\n"), 8_192), [longest, after]);
    assert_eq!(found(&of(limit, "\nafter\n"), 8_192), [(Found::Overlong, limit), after]);
    assert_eq!(found(&of(limit + 9, "\nafter\n"), 8_192), [(Found::Overlong, limit), after]);
    assert_eq!(found(&of(limit, ""), 8_192), [(Found::Torn, limit)]);
    assert_eq!(found(&of(limit + 9, ""), 8_192), [(Found::Torn, limit)]);
}

proptest! {
    #[test]
    fn the_size_of_the_pieces_makes_no_difference(
        bytes in prop::collection::vec(prop::sample::select(b"ab\n".to_vec()), 0..200),
        chunk in 1usize..50,
    ) {
        prop_assert_eq!(found(&bytes, chunk), found(&bytes, 8_192));
    }
}

//! Decides whether bytes become lines however they are cut.

use super::{LINE_LIMIT, Typed, take};

fn lines(pieces: &[&[u8]]) -> (Vec<Typed>, usize) {
    let (mut begun, mut typed) = (Vec::new(), Vec::new());
    pieces.iter().for_each(|piece| take(piece, &mut begun, &mut typed));
    (typed, begun.len())
}

#[test]
fn a_line_ends_with_its_line_feed_and_a_begun_one_waits() {
    let line = |text: &str| Typed::Line(text.to_owned());
    assert_eq!(lines(&[b"one\ntwo\n"]), (vec![line("one"), line("two")], 0));
    assert_eq!(lines(&[b"gr\xc3", b"\xbc\xc3\x9fe\n\nx"]), (vec![line("grüße"), line("")], 1));
    assert_eq!(lines(&[b"\xff\n"]), (vec![line("\u{fffd}")], 0));
}

#[test]
fn a_line_without_an_end_is_bounded() {
    let endless = vec![b'x'; LINE_LIMIT + 10];
    assert_eq!(lines(&[&endless]), (Vec::new(), LINE_LIMIT));
}

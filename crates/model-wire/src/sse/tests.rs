//! Where events begin and end, however the bytes are cut; and what that costs.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{Event, Framer, TooLarge};

fn framed(bytes: &[u8], sizes: &[usize], limit: usize) -> Result<Vec<String>, TooLarge> {
    let mut framer = Framer::new(limit);
    let mut events = Vec::new();
    let mut take = |event: Event<'_>| {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        events.push(format!("{}|{}", text(event.name), text(event.data)));
        Ok::<(), TooLarge>(())
    };
    let (mut rest, mut sizes) = (bytes, sizes.iter().cycle());
    while !rest.is_empty() {
        let size = sizes.next().copied().unwrap_or(usize::MAX).clamp(1, rest.len());
        framer.feed(&rest[..size], &mut take)?;
        rest = &rest[size..];
    }
    framer.finish(&mut take)?;
    Ok(events)
}

fn check(what: &str, bytes: &[u8], expected: &[&str]) {
    for sizes in [&[usize::MAX][..], &[1], &[7], &[2, 1, 3]] {
        let events = framed(bytes, sizes, 1024).expect(what);
        assert_eq!(events, expected, "{what}, in pieces of {sizes:?}");
    }
}

#[test]
fn events_are_found_in_every_spelling() {
    check("line feeds", b"data: a\n\ndata: b\n\n", &["|a", "|b"]);
    check("carriage returns", b"data: a\r\rdata: b\r\r", &["|a", "|b"]);
    check("both", b"data: a\r\n\r\ndata: b\r\n\r\n", &["|a", "|b"]);
    check("mixed", b"data: a\r\n\ndata: b\n\r\n", &["|a", "|b"]);
    check("no space", b"data:a\n\n", &["|a"]);
    check("two spaces", b"data:  a\n\n", &["| a"]);
    check("a name", b"event: e\ndata: a\n\ndata: b\n\n", &["e|a", "|b"]);
    check("the last name counts", b"event: e\nevent: f\ndata: a\n\n", &["f|a"]);
    check("a name without data", b"event: e\n\ndata: a\n\n", &["|a"]);
    check("lines", b"data: a\ndata: b\n\n", &["|a\nb"]);
    check("empty data", b"data\n\ndata:\n\n", &["|", "|"]);
    check("comments", b": PROCESSING\n\n:\ndata: a\n: x\n\n", &["|a"]);
    check("other fields", b"id: 1\nretry: 5\nfoo: bar\ndata: a\n\n", &["|a"]);
    check("colons in data", b"data: {\"a\":1}\n\n", &["|{\"a\":1}"]);
    check("a byte order mark", b"\xef\xbb\xbfdata: a\n\n", &["|a"]);
    check("a mark later on", b"data: a\n\n\xef\xbb\xbfdata: b\n\n", &["|a", "|b"]);
    check("padding before a field", b" data: a\n\n\0\0\tdata: b\n\n", &["|a", "|b"]);
    check("large letters", b"Event: e\nDATA: a\n\n", &["e|a"]);
    check("a field of errors", b"error: {\"a\":1}\n\n", &["error|{\"a\":1}"]);
    check("an object without a field", b"data: a\n\n{\"a\":1}\n", &["|a", "|{\"a\":1}"]);
    check("an unterminated event", b"data: a\n\ndata: b", &["|a", "|b"]);
    check("an unterminated line feed", b"data: a\n", &["|a"]);
    check("characters of several bytes", "data: ä漢👩‍👩‍👧\n\n".as_bytes(), &["|ä漢👩‍👩‍👧"]);
    check("a nul", b"data: a\0b\n\n", &["|a\0b"]);
    let bare = b"data: a\n\n{\n  \"error\": 1\n}\n";
    check("a bare document", bare, &["|a", "|{\n\"error\": 1\n}"]);
    check("a bare list", b"data: a\n\n[{\n}]\n\ndata: b", &["|a", "|[{\n}]", "|b"]);
    check("nothing", b"", &[]);
    check("empty lines", b"\n\n\r\n\r\n", &[]);
}

#[test]
fn what_is_longer_than_the_limit_is_refused() {
    let long = [b"data: ".as_slice(), &[b'x'; 100], b"\n\n"].concat();
    assert_eq!(framed(&long, &[7], 106), Ok(vec![format!("|{}", "x".repeat(100))]));
    assert_eq!(framed(&long, &[7], 105), Err(TooLarge));
    let lines = b"data: 0123456789\n".repeat(20);
    assert_eq!(framed(&lines, &[7], 128), Err(TooLarge), "many lines of one event");
    assert_eq!(framed(&[b':'; 200], &[7], 128), Err(TooLarge), "a comment");
    let many = b"data: 0123456789\n\n".repeat(20);
    assert_eq!(framed(&many, &[7], 128).map(|events| events.len()), Ok(20), "many small events");
}

/// Quadratic framers need minutes for this; the bound leaves room for a busy machine.
#[test]
fn a_line_that_never_ends_is_refused_at_the_limit_and_in_linear_time() {
    let begun = Instant::now();
    let mut framer = Framer::new(32 * 1024 * 1024);
    let mut take = |_: Event<'_>| Ok::<(), TooLarge>(());
    let chunk = [b'x'; 512];
    let fed = (0..80_000).find(|_| framer.feed(&chunk, &mut take).is_err());
    assert_eq!(fed, Some(32 * 1024 * 1024 / 512));
    assert!(begun.elapsed() < Duration::from_secs(10), "took {:?}", begun.elapsed());
}

#[test]
fn a_million_empty_lines_are_one_event() {
    let bytes = b"data:\n".repeat(1_000_000);
    let events = framed(&bytes, &[4096], 2_000_000).expect("within the limit");
    assert_eq!(events.len(), 1);
}

fn bytes_of_a_stream() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        Just(b"data:".to_vec()),
        Just(b"event: e".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b":".to_vec()),
        Just(b"\xef\xbb\xbf".to_vec()),
        Just("ä漢".as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn the_events_do_not_depend_on_the_pieces(
        bytes in bytes_of_a_stream(),
        sizes in proptest::collection::vec(1usize..9, 1..6),
        limit in 16usize..400,
    ) {
        let whole = framed(&bytes, &[usize::MAX], limit);
        let pieces = framed(&bytes, &sizes, limit);
        prop_assert_eq!(whole, pieces);
    }
}

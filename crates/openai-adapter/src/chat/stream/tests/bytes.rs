//! Bytes in every order: how events are cut, ended and wrapped (B10).

use super::{FAILED, HI, STOP, TRUNCATED};
use crate::{profile::Api, rehearsal::check};

#[test]
fn b10_bytes_in_every_order() {
    let text = |frames: &str| frames.as_bytes().to_vec();
    let hi =
        |end: &str| format!("data: {HI}{end}{end}data: {STOP}{end}{end}data: [DONE]{end}{end}");
    let expected = r#"Stop: "hi""#;
    for end in ["\n", "\r", "\r\n"] {
        check(Api::Chat, end, &text(&hi(end)), expected);
    }
    let rows: &[(&str, String, &str)] = &[
        ("no space", hi("\n").replace("data: ", "data:"), expected),
        ("no empty lines", hi("\n").replace("\n\n", "\n"), expected),
        ("no empty lines, cut", format!("data: {HI}\ndata: {{\"choices\""), TRUNCATED),
        ("two spaces", hi("\n").replace("data: ", "data:  "), expected),
        ("zero bytes between", hi("\n").replace("data: ", "\0\0data: "), expected),
        ("only comments", ": a\n\n: b\n\n".to_owned(), TRUNCATED),
        ("other fields", hi("\n").replace("data: ", "id: 1\nretry: 5\nevent: x\ndata: "), expected),
        (
            "one event in lines",
            format!("data: {}\n\ndata: {STOP}\n\n", HI.replace("[{", "\ndata: [{")),
            expected,
        ),
        ("no end of the last line", format!("data: {HI}\n\ndata: {STOP}"), expected),
        ("done without an end", format!("data: {HI}\n\ndata: [DONE]"), expected),
        ("done cut", format!("data: {HI}\n\ndata: [DON"), TRUNCATED),
        ("cut after the finish", format!("data: {HI}\n\ndata: {STOP}\n\ndata: {{\"cho"), expected),
        ("cut amid an event", format!("data: {HI}\n\ndata: {{\"cho"), TRUNCATED),
        (
            "a page",
            "<html><body>502</body></html>".to_owned(),
            "failed Protocol NOT_AN_API unknown",
        ),
        (
            "a document with an error",
            r#"{"error":{"message":"boom","code":500}}"#.to_owned(),
            FAILED,
        ),
        (
            "a document that is cut",
            r#"{"choices":[{"message":{"content":"hi"#.to_owned(),
            TRUNCATED,
        ),
        ("nothing", String::new(), TRUNCATED),
        ("no json", "hello".to_owned(), TRUNCATED),
        ("a million empty events", "data:\n\n".repeat(20_000), TRUNCATED),
    ];
    for (name, bytes, expected) in rows {
        check(Api::Chat, name, bytes.as_bytes(), expected);
    }
    let deep = format!("data: {}\n\n", "[".repeat(10_000));
    check(Api::Chat, "depth", deep.as_bytes(), "failed Protocol MALFORMED_EVENT unknown");
    let mut half = text(&hi("\n").replace("hi", "h\u{fc}"));
    let at = half.iter().position(|byte| *byte == 0xc3).expect("a long character");
    half.remove(at + 1);
    check(Api::Chat, "half a character", &half, "Stop: \"h\u{fffd}\"");
    let lone = hi("\n").replace("hi", "\\ud83d");
    check(Api::Chat, "half a pair", lone.as_bytes(), "Stop: \"\u{fffd}\"");
}

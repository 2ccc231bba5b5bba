//! Parts: what is text, what is thought, and what only the vendor can read.

use super::*;

#[test]
fn parts_are_what_they_say() {
    let cases = [
        (r#"{"text":"a"},{"text":"b"}"#, r#"Stop: "ab""#),
        (r#"{"text":"hm","thought":true},{"text":"a"}"#, r#"Stop: (hm | null) "a""#),
        (r#"{"text":"hm","thought":"true"},{"text":"a"}"#, r#"Stop: "hma""#),
        (
            r#"{"text":"a","thoughtSignature":"s"}"#,
            r#"Stop: ( | {"on":"text","thoughtSignature":"s"}) "a""#,
        ),
        (
            r#"{"text":"a","thoughtSignature":"s"},{"text":"b"}"#,
            r#"Stop: ( | {"on":"text","thoughtSignature":"s"}) "a" "b""#,
        ),
        (
            r#"{"text":"a"},{"text":"","thoughtSignature":"s"}"#,
            r#"Stop: "a" ( | {"part":{"text":"","thoughtSignature":"s"}})"#,
        ),
        (
            r#"{"text":"a"},{"thoughtSignature":"s"}"#,
            r#"Stop: "a" ( | {"part":{"text":"","thoughtSignature":"s"}})"#,
        ),
        (
            r#"{"text":"","thoughtSignature":"s"},{"text":"a"}"#,
            r#"Stop: ( | {"part":{"text":"","thoughtSignature":"s"}}) "a""#,
        ),
        (
            r#"{"text":"hm","thought":true,"thoughtSignature":"s"},{"text":"a"}"#,
            r#"Stop: (hm | {"part":{"text":"hm","thought":true,"thoughtSignature":"s"}}) "a""#,
        ),
        (
            r#"{"executableCode":{"code":"1"}},{"codeExecutionResult":{"output":"1"}}"#,
            r#"Stop: ( | {"part":{"executableCode":{"code":"1"}}}) ( | {"part":{"codeExecutionResult":{"output":"1"}}})"#,
        ),
        (
            r#"{"inlineData":{"data":"AA==","mimeType":"image/png"},"thoughtSignature":"s"}"#,
            r#"Stop: ( | {"part":{"inlineData":{"data":"AA==","mimeType":"image/png"},"thoughtSignature":"s"}})"#,
        ),
        (r#"{"text":null},{"text":7},{"text":"a"}"#, r#"Stop: ( | {"part":{"text":7}}) "a""#),
        (r#"null,7,"x",[],{},{"text":"a"}"#, r#"Stop: "a""#),
    ];
    for (parts, expected) in cases {
        check_both(parts, &[stop(parts)], expected);
        check_both(parts, &[piece(parts), stop("")], expected);
    }
}

#[test]
fn signed_texts_are_never_merged_over_frames() {
    let signed = |text: &str, signature: &str| {
        format!(r#"{{"text":"{text}","thoughtSignature":"{signature}"}}"#)
    };
    let plain = |text: &str| format!(r#"{{"text":"{text}"}}"#);
    let frames = [
        piece(&plain("a")),
        piece(&signed("b", "s")),
        piece(&plain("c")),
        piece(&plain("d")),
        stop(&signed("e", "t")),
    ];
    let kept =
        |signature: &str| format!(r#"( | {{"on":"text","thoughtSignature":"{signature}"}})"#);
    let expected = format!(r#"Stop: "a" {} "b" "cd" {} "e""#, kept("s"), kept("t"));
    check_both("woven", &frames, &expected);
}

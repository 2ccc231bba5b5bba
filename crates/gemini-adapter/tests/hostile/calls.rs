//! Calls: with ids and without, whole or not, and what is signed.

use super::*;

#[test]
fn calls_are_as_many_as_their_parts() {
    let f = call(r#""name":"f","args":{"p":1}"#);
    let a = call(r#""id":"a","name":"f","args":{"p":1}"#);
    let b = call(r#""id":"b","name":"f","args":{"p":1}"#);
    let (zero, first) = (minted(0), minted(1));
    let cases: &[(&str, Vec<String>, String)] = &[
        (
            "two without ids",
            vec![stop(&format!("{f},{f}"))],
            format!(r#"ToolCalls: f#{zero}{{"p":1}} f#{first}{{"p":1}}"#),
        ),
        (
            "two without ids, in two frames",
            vec![piece(&f), stop(&f)],
            format!(r#"ToolCalls: f#{zero}{{"p":1}} f#{first}{{"p":1}}"#),
        ),
        (
            "two ids",
            vec![stop(&format!("{a},{b}"))],
            r#"ToolCalls: f#a{"p":1} f#b{"p":1}"#.to_owned(),
        ),
        ("one again", vec![piece(&a), stop(&a)], r#"ToolCalls: f#a{"p":1}"#.to_owned()),
        (
            "one again, between",
            vec![piece(&a), piece(&b), stop(&a)],
            r#"ToolCalls: f#a{"p":1} f#b{"p":1}"#.to_owned(),
        ),
        (
            "an empty id",
            vec![stop(&call(r#""id":"","name":"f""#))],
            format!("ToolCalls: f#{zero}{{}}"),
        ),
        (
            "an id that is a number",
            vec![stop(&call(r#""id":7,"name":"f""#))],
            format!("ToolCalls: f#{zero}{{}}"),
        ),
        (
            "text around",
            vec![piece(TEXT), piece(&a), stop(r#"{"text":"ho"}"#)],
            r#"ToolCalls: "hi" f#a{"p":1} "ho""#.to_owned(),
        ),
        (
            "a call, then an empty text",
            vec![piece(&a), stop(r#"{"text":""}"#)],
            r#"ToolCalls: f#a{"p":1}"#.to_owned(),
        ),
        (
            "a call, then nothing",
            vec![piece(&a), r#"{"candidates":[{"finishReason":"STOP"}]}"#.to_owned()],
            r#"ToolCalls: f#a{"p":1}"#.to_owned(),
        ),
    ];
    for (name, frames, expected) in cases {
        check_both(name, frames, expected);
    }
}

#[test]
fn arguments_are_an_object_or_what_the_tool_layer_refuses() {
    let cases = [
        (r#""args":{}"#, "ToolCalls: f#a{}"),
        (r#""args":null"#, "ToolCalls: f#a{}"),
        (r#""args":"""#, "ToolCalls: f#a{}"),
        (r#""args":[1]"#, "ToolCalls: f#a[1]"),
        (r#""args":7"#, "ToolCalls: f#a7"),
        (r#""args":"{\"p\":1}""#, r#"ToolCalls: f#a{"p":1}"#),
        (r#""args":"{\"p\":""#, "Length: "),
        (
            r#""args":{"n":12345678901234567890123}"#,
            r#"ToolCalls: f#a"{\"n\":12345678901234567890123}""#,
        ),
        (r#""args":{"n":18446744073709551615}"#, r#"ToolCalls: f#a{"n":18446744073709551615}"#),
        (r#""args":{"p":1,"p":2}"#, r#"ToolCalls: f#a"{\"p\":1,\"p\":2}""#),
        (r#""args":"p=1""#, r#"ToolCalls: f#a"p=1""#),
        (r#""args":{"p":"\ud83d"}"#, r#"ToolCalls: f#a"{\"p\":\"\\ud83d\"}""#),
        (
            r#""partialArgs":[{"jsonPath":"$.p","numberValue":1}],"willContinue":true"#,
            "failed Protocol PARTIAL_ARGUMENTS unknown",
        ),
        (r#""args":{"p":1},"willContinue":false"#, r#"ToolCalls: f#a{"p":1}"#),
        (r#""args":{"p":1},"partialArgs":null"#, r#"ToolCalls: f#a{"p":1}"#),
    ];
    for (fields, expected) in cases {
        check_both(fields, &[stop(&call(&format!(r#""id":"a","name":"f",{fields}"#)))], expected);
    }
    for nameless in [r#""id":"a""#, r#""id":"a","name":"""#, r#""id":"a","name":null"#, ""] {
        check_both(nameless, &[stop(&call(nameless))], "Length: ");
    }
}

#[test]
fn only_a_stop_lets_calls_run() {
    let a = call(r#""id":"a","name":"f""#);
    let cases = [
        ("STOP", "ToolCalls: f#a{}"),
        ("MAX_TOKENS", "Length: "),
        ("SAFETY", "ContentFilter: "),
        ("RECITATION", "ContentFilter: "),
        ("BLOCKLIST", "ContentFilter: "),
        ("PROHIBITED_CONTENT", "ContentFilter: "),
        ("SPII", "ContentFilter: "),
        ("LANGUAGE", "ContentFilter: "),
        ("IMAGE_SAFETY", "ContentFilter: "),
        ("OTHER", "Other: "),
        ("NO_IMAGE", "Other: "),
        ("TOO_MANY_TOOL_CALLS", "Other: "),
        ("MALFORMED_RESPONSE", "Other: "),
        ("stop", "Other: "),
        ("UNHEARD_OF", "Other: "),
        ("MALFORMED_FUNCTION_CALL", "failed Invalid TOOL_USE_FAILED unknown"),
        ("UNEXPECTED_TOOL_CALL", "failed Invalid TOOL_USE_FAILED unknown"),
    ];
    for (reason, expected) in cases {
        check_both(reason, &[last(&a, reason)], expected);
        check_both(reason, &[piece(&a), last("", reason)], expected);
    }
    check_both("no reason", &[piece(&a)], TRUNCATED);
}

#[test]
fn a_signature_stays_with_its_part() {
    let sign = |part: &str| format!(r#"{},"thoughtSignature":"s"}}"#, &part[..part.len() - 1]);
    let a = call(r#""id":"a","name":"f""#);
    let b = call(r#""id":"b","name":"g""#);
    let on_call = r#"( | {"on":"functionCall","thoughtSignature":"s"})"#;
    let thought = r#"{"text":"hm","thought":true}"#;
    let cases: &[(&str, Vec<String>, String)] = &[
        (
            "the first of two",
            vec![stop(&format!("{},{b}", sign(&a)))],
            format!("ToolCalls: {on_call} f#a{{}} g#b{{}}"),
        ),
        (
            "the second of two",
            vec![stop(&format!("{a},{}", sign(&b)))],
            format!("ToolCalls: f#a{{}} {on_call} g#b{{}}"),
        ),
        (
            "after a thought",
            vec![piece(thought), stop(&sign(&a))],
            r#"ToolCalls: (hm | {"on":"functionCall","thoughtSignature":"s"}) f#a{}"#.to_owned(),
        ),
        (
            "sent again with it",
            vec![piece(&a), stop(&sign(&a))],
            format!("ToolCalls: {on_call} f#a{{}}"),
        ),
        (
            "sent again without it",
            vec![piece(&sign(&a)), stop(&a)],
            format!("ToolCalls: {on_call} f#a{{}}"),
        ),
        (
            "an empty one is none",
            vec![stop(&a.replace("}}", r#"},"thoughtSignature":""}"#))],
            "ToolCalls: f#a{}".to_owned(),
        ),
        (
            "null is none",
            vec![stop(&a.replace("}}", r#"},"thoughtSignature":null}"#))],
            "ToolCalls: f#a{}".to_owned(),
        ),
    ];
    for (name, frames, expected) in cases {
        check_both(name, frames, expected);
    }
}

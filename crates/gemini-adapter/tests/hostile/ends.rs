//! How an answer ends, and where it does not.

use super::*;

#[test]
fn a_list_is_whole_or_it_is_cut() {
    let frames = [piece(TEXT), piece(r#"{"text":"!"}"#), stop("")];
    let list = format!("[{}\n,\n{}\n,\n{}\n]", frames[0], frames[1], frames[2]);
    bytes("whole", list.as_bytes(), r#"Stop: "hi!""#);
    for end in [1, 2, 3, list.len() / 2] {
        bytes(&format!("without {end}"), &list.as_bytes()[..list.len() - end], TRUNCATED);
    }
    bytes("a comma at the end", format!("[{},", frames[0]).as_bytes(), TRUNCATED);
    bytes("a stop, and no bracket", format!("[{}", stop(TEXT)).as_bytes(), TRUNCATED);
    bytes("a stop, a comma", format!("[{},\n", stop(TEXT)).as_bytes(), TRUNCATED);
    bytes("a bracket alone", b"[", TRUNCATED);
    bytes("an empty list", b"[]", TRUNCATED);
    let lines = format!("{}\n{}", frames[0], stop(""));
    bytes("two documents", lines.as_bytes(), "failed Protocol MALFORMED_EVENT unknown");
}

#[test]
fn the_end_of_the_bytes_before_a_reason_is_a_cut() {
    let frames = [piece(TEXT), piece(&call(r#""id":"a","name":"f""#)), stop("")];
    for count in 0..frames.len() {
        check(&format!("{count} frames"), &frames[..count], TRUNCATED);
    }
    check("all", &frames, r#"ToolCalls: "hi" f#a{}"#);
    let all = wire_rehearsal::events(&frames);
    bytes("no empty line", &all[..all.len() - 2], r#"ToolCalls: "hi" f#a{}"#);
    bytes("half of the last frame", &all[..all.len() - 9], TRUNCATED);
    check("[DONE] for an end", &[&frames[0], "[DONE]"], TRUNCATED);
    check("[DONE] after the end", &[&frames[0], &frames[2], "[DONE]"], r#"Stop: "hi""#);
}

#[test]
fn what_is_said_after_a_stop_belongs_to_the_answer() {
    let empty = stop("");
    let more = r#"{"text":"!"}"#;
    let cases: &[(&str, Vec<String>, &str)] = &[
        ("with every piece", vec![stop(TEXT), stop(more), empty.clone()], r#"Stop: "hi!""#),
        (
            "before the first",
            vec![empty.clone(), empty.clone(), piece(TEXT), piece(more), empty.clone()],
            r#"Stop: "hi!""#,
        ),
        (
            "a call after it",
            vec![stop(TEXT), piece(&call(r#""id":"a","name":"f""#))],
            r#"ToolCalls: "hi" f#a{}"#,
        ),
        ("a limit after it", vec![stop(TEXT), last(more, "MAX_TOKENS")], r#"Length: "hi!""#),
        ("a filter after it", vec![stop(TEXT), last("", "SAFETY")], r#"ContentFilter: "hi""#),
        ("a limit, then a stop", vec![last(TEXT, "MAX_TOKENS"), stop(more)], r#"Length: "hi!""#),
        (
            "an error after it",
            vec![stop(TEXT), r#"{"error":{"code":503}}"#.to_owned()],
            "failed Protocol PROVIDER_OVERLOADED unknown",
        ),
    ];
    for (name, frames, expected) in cases {
        check_both(name, frames, expected);
    }
}

#[test]
fn one_candidate_is_the_answer() {
    let candidate = |index: &str, text: &str| {
        format!(r#"{{"content":{{"parts":[{{"text":"{text}"}}]}},"finishReason":"STOP"{index}}}"#)
    };
    let frame = |candidates: &[String]| format!(r#"{{"candidates":[{}]}}"#, candidates.join(","));
    let zero = r#","index":0"#;
    let one = r#","index":1"#;
    let cases = [
        (
            "the first of two without an index",
            vec![candidate("", "a"), candidate("", "b")],
            r#"Stop: "a""#,
        ),
        ("the one of index 0", vec![candidate(one, "b"), candidate(zero, "a")], r#"Stop: "a""#),
        ("the one without", vec![candidate("", "a"), candidate(one, "b")], r#"Stop: "a""#),
        ("none of index 0", vec![candidate(one, "b")], TRUNCATED),
        ("null among them", vec!["null".to_owned()], TRUNCATED),
    ];
    for (name, candidates, expected) in cases {
        check_both(name, &[frame(&candidates)], expected);
    }
    for nothing in [
        r#"{"candidates":[]}"#,
        r#"{"candidates":null}"#,
        r#"{"candidates":{}}"#,
        "{}",
        "null",
        "7",
    ] {
        check_both(nothing, &[nothing], TRUNCATED);
        check_both(nothing, &[&piece(TEXT), nothing, &stop("")], r#"Stop: "hi""#);
    }
}

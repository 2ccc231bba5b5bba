//! Blocks: how they begin, what adds to them, which of them are calls, and what of reasoning goes
//! back to its issuer.

use super::*;

/// Frames from a line of a table.
fn frames(script: &str) -> Vec<String> {
    script.split(" ; ").flat_map(frame).collect()
}

fn frame(words: &str) -> Vec<String> {
    let (verb, rest) = words.split_once(' ').expect("a verb");
    let (index, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let index = index.parse().expect("an index");
    let piece = |kind: &str, field: &str| {
        one(&delta(index, &format!(r#"{{"type":"{kind}","{field}":"{rest}"}}"#)))
    };
    match verb {
        "begin" => one(&begin(index, rest)),
        "delta" => one(&delta(index, rest)),
        "end" => one(&end(index)),
        "say" => said(index, rest),
        "think" => piece("thinking_delta", "thinking"),
        "sign" => piece("signature_delta", "signature"),
        "json" => one(&super::piece(index, rest)),
        "call" => {
            let (id, name) = rest.split_once(' ').expect("an id and a name");
            one(&call(index, id, name))
        }
        _ => panic!("no verb: {verb}"),
    }
}

/// Every line of a table, in a message that ends for the tools that were called.
fn table(text: &str, count: usize) {
    let is_case = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let mut seen = 0;
    for line in text.lines().filter(is_case) {
        let [name, script, expected] =
            <[&str; 3]>::try_from(line.split(" => ").collect::<Vec<_>>()).expect(line);
        check(name, &message(&[frames(script)], TOOL_USE), expected);
        seen += 1;
    }
    assert_eq!(seen, count, "the table is read to its end");
}

#[test]
fn blocks_come_to_what_their_table_says() {
    table(include_str!("blocks.txt"), 62);
}

#[test]
fn reasoning_comes_to_what_its_table_says() {
    table(include_str!("thoughts.txt"), 21);
}

#[test]
fn reasoning_of_a_message_that_was_cut_is_shown_and_does_not_go_back() {
    let cut = frames(r#"begin 0 {"type":"thinking","thinking":""} ; think 0 hm"#);
    let limited = message(std::slice::from_ref(&cut), MAX_TOKENS);
    check("cut", &limited, "Length: (hm | null)");
    check("broken off", &[one(START), cut].concat(), TRUNCATED);
}

const NOISE: [&str; 13] = [
    r#"{"type":"ping"}"#,
    r#"{"type":"ping","content":[]}"#,
    r#"{"type":"vendor_note","content":[{"type":"text","text":"no"}],"stop_reason":"end_turn"}"#,
    r#"{"type":"something_new","delta":{"type":"text_delta","text":"no"}}"#,
    r#"{"type":"content_block_delta","index":0}"#,
    r#"{"type":"content_block_delta","index":0,"delta":null}"#,
    r#"{"type":"content_block_stop"}"#,
    r#"{"type":"message_delta","delta":null}"#,
    "null",
    "7",
    "[]",
    r#""text""#,
    "{}",
];

#[test]
fn events_that_nobody_knows_pass() {
    for frame in NOISE {
        let frames = [one(frame), said(0, "hi"), one(frame)];
        check(frame, &message(&frames, END_TURN), r#"Stop: "hi""#);
    }
}

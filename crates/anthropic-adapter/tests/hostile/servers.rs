//! Servers and gateways that speak Messages in their own way.

use super::*;

#[test]
fn framing_differs_and_answers_do_not() {
    let frames = message(&[said(0, "hällo")], END_TURN);
    let plain = wire_rehearsal::events(&frames);
    let text = String::from_utf8(plain).expect("text");
    let named: String = frames
        .iter()
        .map(|frame| {
            let (_, rest) = frame.split_once(r#""type":""#).expect("a type");
            let (name, _) = rest.split_once('"').expect("an end");
            format!("event: {name}\ndata: {frame}\n\n")
        })
        .collect();
    let cases = [
        ("carriage returns", text.replace('\n', "\r\n")),
        ("bare carriage returns", text.replace('\n', "\r")),
        ("no space", text.replace("data: ", "data:")),
        ("names", named.clone()),
        ("names after the data", named.replace("\n\n", "\nid: 1\n\n")),
        ("names alone", named.replace(r#""type":"content_block_delta","#, "")),
        ("comments", text.replace("data: ", ": PROCESSING\n\ndata: ")),
        ("a mark of the byte order", format!("\u{feff}{text}")),
        ("no empty lines", text.replace("\n\n", "\n")),
        ("a [DONE] at the end", format!("{text}data: [DONE]\n\n")),
    ];
    for (name, bytes_of_it) in cases {
        bytes(name, bytes_of_it.as_bytes(), "Stop: \"hällo\"");
    }
}

#[test]
fn gateways_that_translate_another_api() {
    let cases: &[(&str, Vec<String>, &str)] = &[
        (
            "an empty text block before each call",
            message(&[vec![begin(0, r#"{"type":"text","text":""}"#), end(0), call(1, "call_1", "f"), piece(1, ""), piece(1, r#"{"p":1}"#), end(1)]], TOOL_USE),
            r#"ToolCalls: f#call_1{"p":1}"#,
        ),
        (
            "one index for all blocks",
            message(&[said(0, "hi"), vec![call(0, "a", "f"), piece(0, r#"{"p":1}"#), end(0), call(0, "b", "g"), piece(0, r#"{"q":2}"#), end(0)]], TOOL_USE),
            r#"ToolCalls: "hi" f#a{"p":1} g#b{"q":2}"#,
        ),
        (
            "a finish reason of Chat",
            message(&[vec![call(0, "a", "f"), piece(0, "{}"), end(0)]], r#"{"type":"message_delta","delta":{"stop_reason":"tool_calls"}}"#),
            "ToolCalls: f#a{}",
        ),
        (
            "the reason beside the delta",
            message(&[said(0, "hi")], r#"{"type":"message_delta","stop_reason":"max_tokens"}"#),
            r#"Length: "hi""#,
        ),
        (
            "an id that is null",
            message(&[vec![begin(0, r#"{"type":"tool_use","id":null,"name":"f","input":{"p":1}}"#), end(0)]], TOOL_USE),
            "minted",
        ),
        (
            "metrics in the last event",
            [one(START), said(0, "hi"), one(END_TURN), one(r#"{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":9,"outputTokenCount":3}}"#)].concat(),
            r#"Stop: "hi""#,
        ),
        (
            "a cost",
            message(&[said(0, "hi")], r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":3,"output_tokens":2,"cost":0.5}}"#),
            r#"Stop: "hi" [in 3 out 2 cost 500000000]"#,
        ),
    ];
    for (name, frames, expected) in cases {
        let minted = format!("ToolCalls: f#{}{{\"p\":1}}", model_wire::minted("seed", 0));
        let expected = if *expected == "minted" { &minted } else { *expected };
        check(name, frames, expected);
    }
}

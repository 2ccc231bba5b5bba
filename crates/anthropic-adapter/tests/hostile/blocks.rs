//! Blocks: how they begin, what adds to them, and which of them are calls.

use super::*;

const F: &str = r#"ToolCalls: f#a{"p":1}"#;

#[test]
fn arguments_are_found_wherever_a_server_puts_them() {
    let begun = |input: &str| {
        begin(0, &format!(r#"{{"type":"tool_use","id":"a","name":"f","input":{input}}}"#))
    };
    let cases: &[(&str, Vec<String>, &str)] = &[
        ("in the beginning", vec![begun(r#"{"p":1}"#), end(0)], F),
        ("there, and no end of the block", vec![begun(r#"{"p":1}"#)], F),
        (
            "there, and empty pieces",
            vec![begun(r#"{"p":1}"#), piece(0, ""), piece(0, ""), end(0)],
            F,
        ),
        ("as text", vec![begun(r#""{\"p\":1}""#), end(0)], F),
        ("as text that is cut", vec![begun(r#""{\"p\":""#), end(0)], "Length: "),
        ("null, then pieces", vec![begun("null"), piece(0, r#"{"p":1}"#), end(0)], F),
        ("no end of the block", vec![begun("{}"), piece(0, r#"{"p":1}"#)], F),
        ("no end, and half", vec![begun("{}"), piece(0, r#"{"p":"#)], "Length: "),
        ("no end, and nothing", vec![begun("{}")], "Length: "),
        ("empty pieces alone", vec![begun("{}"), piece(0, ""), end(0)], "ToolCalls: f#a{}"),
        (
            "a null piece",
            vec![
                begun("{}"),
                delta(0, r#"{"type":"input_json_delta","partial_json":null}"#),
                end(0),
            ],
            "ToolCalls: f#a{}",
        ),
        (
            "an untyped piece",
            vec![begun("{}"), delta(0, r#"{"partial_json":"{\"p\":1}"}"#), end(0)],
            F,
        ),
        ("a list", vec![begun("[1]"), end(0)], "ToolCalls: f#a[1]"),
        ("a number", vec![begun("{}"), piece(0, "7"), end(0)], "ToolCalls: f#a7"),
        (
            "white space around",
            vec![begun("{}"), piece(0, "\\n "), piece(0, r#"{"p":1}"#), piece(0, "\\n"), end(0)],
            F,
        ),
        (
            "an escape over two pieces",
            vec![
                begun("{}"),
                delta(0, r#"{"type":"input_json_delta","partial_json":"{\"p\":\"\\u00"}"#),
                delta(0, r#"{"type":"input_json_delta","partial_json":"e4\"}"}"#),
                end(0),
            ],
            r#"ToolCalls: f#a{"p":"ä"}"#,
        ),
        (
            "a trailing comma",
            vec![begun("{}"), piece(0, r#"{"p":1,}"#), end(0)],
            r#"ToolCalls: f#a"{\"p\":1,}""#,
        ),
        (
            "no name",
            vec![begin(0, r#"{"type":"tool_use","id":"a","input":{"p":1}}"#), end(0)],
            "Length: ",
        ),
        (
            "an empty name",
            vec![begin(0, r#"{"type":"tool_use","id":"a","name":"","input":{"p":1}}"#), end(0)],
            "Length: ",
        ),
        ("no type", vec![begin(0, r#"{"id":"a","name":"f","input":{"p":1}}"#), end(0)], F),
    ];
    for (name, frames, expected) in cases {
        check(name, &message(&[frames.clone()], TOOL_USE), expected);
    }
}

#[test]
fn pieces_go_to_the_block_that_they_belong_to() {
    let both = r#"ToolCalls: f#a{"p":1} g#b{"q":2}"#;
    let cases: &[(&str, Vec<String>, &str)] = &[
        (
            "woven",
            vec![
                call(0, "a", "f"),
                call(1, "b", "g"),
                piece(1, r#"{"q""#),
                piece(0, r#"{"p""#),
                piece(1, ":2}"),
                piece(0, ":1}"),
                end(1),
                end(0),
            ],
            both,
        ),
        (
            "never ended",
            vec![
                call(0, "a", "f"),
                piece(0, r#"{"p":1}"#),
                call(1, "b", "g"),
                piece(1, r#"{"q":2}"#),
            ],
            both,
        ),
        (
            "the second begins before the first ends",
            vec![
                call(0, "a", "f"),
                piece(0, r#"{"p":1}"#),
                call(1, "b", "g"),
                end(0),
                piece(1, r#"{"q":2}"#),
                end(1),
            ],
            both,
        ),
        (
            "with holes",
            vec![
                call(3, "a", "f"),
                piece(3, r#"{"p":1}"#),
                end(3),
                call(9, "b", "g"),
                piece(9, r#"{"q":2}"#),
                end(9),
            ],
            both,
        ),
        (
            "from the last",
            vec![
                call(5, "b", "g"),
                piece(5, r#"{"q":2}"#),
                end(5),
                call(2, "a", "f"),
                piece(2, r#"{"p":1}"#),
                end(2),
            ],
            both,
        ),
        (
            "ended twice",
            vec![
                call(0, "a", "f"),
                piece(0, r#"{"p":1}"#),
                end(0),
                end(0),
                call(1, "b", "g"),
                piece(1, r#"{"q":2}"#),
                end(1),
                end(1),
            ],
            both,
        ),
        (
            "pieces of a call at the index of a text",
            [said(0, "hm"), vec![call(1, "a", "f"), piece(0, r#"{"p":1}"#), end(1)]].concat(),
            r#"Length: "hm""#,
        ),
        (
            "arguments before the call",
            vec![piece(0, r#"{"p":1}"#), call(0, "a", "f"), end(0)],
            "Length: ",
        ),
        (
            "text into a call",
            vec![
                call(0, "a", "f"),
                delta(0, r#"{"type":"text_delta","text":"x"}"#),
                piece(0, r#"{"p":1}"#),
                end(0),
            ],
            r#"ToolCalls: f#a{"p":1} "x""#,
        ),
        ("a block that never began", vec![piece(4, r#"{"p":1}"#)], "Length: "),
    ];
    for (name, frames, expected) in cases {
        check(name, &message(&[frames.clone()], TOOL_USE), expected);
    }
}

#[test]
fn blocks_of_the_server_are_kept_as_they_came() {
    let cases = [
        (
            "a search and its results",
            vec![
                begin(
                    0,
                    r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}"#,
                ),
                piece(0, r#"{"query":"x"}"#),
                end(0),
                begin(
                    1,
                    r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","encrypted_content":"e"}]}"#,
                ),
                end(1),
            ],
            r#"Stop: ( | {"id":"srvtoolu_1","input":{"query":"x"},"name":"web_search","type":"server_tool_use"}) ( | {"content":[{"encrypted_content":"e","type":"web_search_result"}],"tool_use_id":"srvtoolu_1","type":"web_search_tool_result"})"#,
        ),
        (
            "results of which the end was lost",
            vec![begin(0, r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[]}"#)],
            r#"Stop: ( | {"content":[],"tool_use_id":"s","type":"web_search_tool_result"})"#,
        ),
        (
            "a call of a remote server",
            vec![
                begin(
                    0,
                    r#"{"type":"mcp_tool_use","id":"m","name":"t","server_name":"s","input":{"q":1}}"#,
                ),
                end(0),
            ],
            r#"Stop: ( | {"id":"m","input":{"q":1},"name":"t","server_name":"s","type":"mcp_tool_use"})"#,
        ),
        (
            "a call of the server that was cut",
            vec![
                begin(0, r#"{"type":"mcp_tool_use","id":"m","name":"t","input":{}}"#),
                piece(0, r#"{"q""#),
                end(0),
            ],
            "Stop: ",
        ),
        (
            "a file",
            vec![begin(0, r#"{"type":"container_upload","file_id":"file_1"}"#), end(0)],
            r#"Stop: ( | {"file_id":"file_1","type":"container_upload"})"#,
        ),
        (
            "a summary of what was said before",
            vec![
                begin(0, r#"{"type":"compaction","content":null}"#),
                delta(0, r#"{"type":"compaction_delta","content":"so "}"#),
                delta(0, r#"{"type":"compaction_delta","content":"far"}"#),
                end(0),
            ],
            r#"Stop: ( | {"content":"so far","type":"compaction"})"#,
        ),
        (
            "a block and a piece that nobody knows",
            vec![
                begin(0, r#"{"type":"new_block","x":1}"#),
                delta(0, r#"{"type":"new_delta","y":2}"#),
                end(0),
            ],
            r#"Stop: ( | {"type":"new_block","x":1})"#,
        ),
        ("a block without a type", vec![begin(0, r#"{"x":1}"#), end(0)], "Stop: "),
        ("a block that is no object", vec![begin(0, "7"), end(0)], "Stop: "),
    ];
    for (name, frames, expected) in cases {
        check(name, &message(&[frames], END_TURN), expected);
    }
}

#[test]
fn texts_are_what_began_and_what_was_added() {
    let text = |first: &str, pieces: &[&str]| {
        let mut frames = vec![begin(0, &format!(r#"{{"type":"text","text":{first}}}"#))];
        frames.extend(
            pieces
                .iter()
                .map(|piece| delta(0, &format!(r#"{{"type":"text_delta","text":{piece}}}"#))),
        );
        frames.push(end(0));
        message(&[frames], END_TURN)
    };
    check("a beginning", &text(r#""he""#, &[r#""llo""#]), r#"Stop: "hello""#);
    check("a beginning alone", &text(r#""hello""#, &[]), r#"Stop: "hello""#);
    check("null", &text("null", &["null", r#""hi""#]), r#"Stop: "hi""#);
    check("a number", &text("7", &[r#""hi""#, "7"]), r#"Stop: "hi""#);
    check(
        "a letter in two halves",
        &text(r#""""#, &[r#""\ud83d""#, r#""\ude00""#]),
        "Stop: \"\u{fffd}\u{fffd}\"",
    );
    check("a letter whole", &text(r#""""#, &[r#""\ud83d\ude00""#]), "Stop: \"\u{1f600}\"");
    check("nothing", &text(r#""""#, &[]), "Stop: ");
    let cited = vec![
        begin(0, r#"{"type":"text","text":"","citations":[]}"#),
        delta(0, r#"{"type":"text_delta","text":"hi"}"#),
        delta(0, r#"{"type":"citations_delta","citation":{"cited_text":"no"}}"#),
        end(0),
    ];
    check("citations", &message(&[cited], END_TURN), r#"Stop: "hi""#);
}

#[test]
fn events_that_nobody_knows_pass() {
    let noise = [
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
    for frame in noise {
        let [begun, piece, ended] = <[String; 3]>::try_from(said(0, "hi")).expect("three");
        let frames = [one(frame), vec![begun, piece, ended], one(frame)];
        check(frame, &message(&frames, END_TURN), r#"Stop: "hi""#);
    }
}

#[test]
fn what_is_said_twice_runs_once() {
    let whole = || vec![call(0, "a", "f"), piece(0, r#"{"p":1}"#), end(0)];
    let other = vec![call(1, "a", "f"), piece(1, r#"{"p":1}"#), end(1)];
    check("at another index", &message(&[whole(), other], TOOL_USE), F);
    check("the block", &message(&[whole(), whole()], TOOL_USE), F);
    check("the reason", &message(&[whole(), one(TOOL_USE)], TOOL_USE), F);
    let every = message(&[whole()], TOOL_USE);
    let doubled: Vec<String> =
        every.iter().flat_map(|frame| [frame.clone(), frame.clone()]).collect();
    check("every event", &doubled, F);
}

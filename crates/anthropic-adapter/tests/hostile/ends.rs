//! How a message ends, and where it does not.

use super::*;

#[test]
fn the_end_of_the_bytes_at_every_event_is_a_cut() {
    let frames =
        [said(0, "hi"), vec![call(1, "a", "f"), piece(1, r#"{"p":"#), piece(1, "1}"), end(1)]];
    let whole = message(&frames, TOOL_USE);
    for count in 0..whole.len() {
        check(&format!("{count} events"), &whole[..count], TRUNCATED);
    }
    check("all", &whole, r#"ToolCalls: "hi" f#a{"p":1}"#);
    let announced = |count: usize| [&whole[..count], &one("[DONE]")].concat();
    check("[DONE] amid the call", &announced(whole.len() - 3), TRUNCATED);
    check(
        "[DONE] for the last event",
        &announced(whole.len() - 1),
        r#"ToolCalls: "hi" f#a{"p":1}"#,
    );
    let all = wire_rehearsal::events(&whole);
    let unended = &all[..all.len() - 2];
    bytes("no empty line at the end", unended, r#"ToolCalls: "hi" f#a{"p":1}"#);
    bytes("half of the last event", &all[..all.len() - 6], TRUNCATED);
}

#[test]
fn each_reason_says_what_may_be_acted_on() {
    let said = || vec![said(0, "hi"), vec![call(1, "a", "f"), piece(1, "{}"), end(1)]];
    let cases = [
        (r#""end_turn""#, r#"ToolCalls: "hi" f#a{}"#),
        (r#""tool_use""#, r#"ToolCalls: "hi" f#a{}"#),
        (r#""stop_sequence""#, r#"ToolCalls: "hi" f#a{}"#),
        (r#""max_tokens""#, r#"Length: "hi""#),
        (r#""model_context_window_exceeded""#, r#"Length: "hi""#),
        (r#""refusal""#, r#"ContentFilter: "hi""#),
        (r#""pause_turn""#, r#"Other: "hi""#),
        (r#""compaction""#, r#"Other: "hi""#),
        (r#""END_TURN""#, r#"Other: "hi""#),
        (r#""""#, r#"Other: "hi""#),
        ("null", r#"Other: "hi""#),
        ("7", r#"Other: "hi""#),
        ("{}", r#"Other: "hi""#),
    ];
    for (reason, expected) in cases {
        let end = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":{reason}}}}}"#);
        check(reason, &message(&said(), &end), expected);
    }
}

#[test]
fn nothing_completes_a_message_that_was_cut() {
    let refusal = r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#;
    let whole = || vec![call(0, "a", "f"), piece(0, "{}"), end(0)];
    check("a limit, then a turn", &message(&[whole(), one(MAX_TOKENS)], END_TURN), "Length: ");
    check("a limit, then tools", &message(&[whole(), one(MAX_TOKENS)], TOOL_USE), "Length: ");
    check("a turn, then a limit", &message(&[whole(), one(END_TURN)], MAX_TOKENS), "Length: ");
    check(
        "a refusal, then a turn",
        &message(&[whole(), one(refusal)], END_TURN),
        "ContentFilter: ",
    );
    let null = r#"{"type":"message_delta","delta":{"stop_reason":null}}"#;
    check("a reason, then none", &message(&[whole(), one(TOOL_USE)], null), "ToolCalls: f#a{}");
    let no_delta = [one(START), whole(), one(STOP)].concat();
    check("no reason at all", &no_delta, "Other: ");
}

#[test]
fn one_stream_has_one_message() {
    let another = START.replace("msg_1", "msg_2");
    let nameless = r#"{"type":"message_start","message":{"role":"assistant"}}"#;
    let restarted = "failed Protocol ANSWER_RESTARTED unknown";
    let hi = || said(0, "hi");
    check("another name", &message(&[hi(), one(&another), hi()], END_TURN), restarted);
    check("no name", &message(&[hi(), one(nameless), hi()], END_TURN), restarted);
    let both = [one(nameless), hi(), one(nameless), hi(), one(END_TURN), one(STOP)].concat();
    check("no name twice", &both, restarted);
    check("before anything was said", &message(&[one(&another), hi()], END_TURN), r#"Stop: "hi""#);
    let late = [hi(), one(START), one(END_TURN), one(STOP)].concat();
    check("announced late", &late, r#"Stop: "hi""#);
    let never = [hi(), one(END_TURN), one(STOP)].concat();
    check("never announced", &never, r#"Stop: "hi""#);
    let after = [message(&[hi()], END_TURN), message(&[said(0, "more")], END_TURN)].concat();
    check("a second one after the end", &after, r#"Stop: "hi""#);
}

#[test]
fn documents_are_answers_if_they_say_that_they_ended() {
    let cases = [
        (r#"{"type":"message","content":"hi","stop_reason":"end_turn"}"#, r#"Stop: "hi""#),
        (r#"{"type":"message","content":[],"stop_reason":"end_turn"}"#, "Stop: "),
        (r#"{"type":"message","content":null,"stop_reason":"end_turn"}"#, "Stop: "),
        (
            r#"{"type":"message","content":[null,7,"x",{"type":"text","text":"hi"}],"stop_reason":"end_turn"}"#,
            r#"Stop: "hi""#,
        ),
        (r#"{"content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}"#, r#"Stop: "hi""#),
        (
            r#"{"type":"message","content":[{"type":"tool_use","id":"a","name":"f"}],"stop_reason":"tool_use"}"#,
            "ToolCalls: f#a{}",
        ),
        (
            r#"{"type":"message","content":[{"type":"tool_use","id":"a","name":"f","input":{"p":1}}],"stop_reason":"max_tokens"}"#,
            "Length: ",
        ),
        (
            r#"{"type":"message","content":[{"type":"tool_use","id":"a","name":"f","input":{"n":12345678901234567890123}}],"stop_reason":"tool_use"}"#,
            r#"ToolCalls: f#a"{\"n\":12345678901234567890123}""#,
        ),
        (r#"{"type":"message","content":[{"type":"text","text":"hi"}]}"#, r#"Other: "hi""#),
        (r#"{"type":"message"}"#, TRUNCATED),
        (r#"{"type":"completion","completion":"hi","stop_reason":"stop_sequence"}"#, TRUNCATED),
        (r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#, TRUNCATED),
        ("[]", TRUNCATED),
        ("{}", TRUNCATED),
        (r#"{"type":"message","content":[{"type":"text","te"#, TRUNCATED),
        (r#"{"type":"message"} {"type":"message"}"#, "failed Protocol MALFORMED_EVENT unknown"),
    ];
    for (document, expected) in cases {
        bytes(document, document.as_bytes(), expected);
    }
}

#[test]
fn a_message_in_a_stream_that_has_no_reason_goes_on() {
    let lacks = r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"hi"}]}"#;
    check("broken off", &one(lacks), TRUNCATED);
    check("announced", &[one(lacks), one("[DONE]")].concat(), r#"Other: "hi""#);
    check("ended", &[one(lacks), one(STOP)].concat(), r#"Other: "hi""#);
    bytes("a document", lacks.as_bytes(), r#"Other: "hi""#);
}

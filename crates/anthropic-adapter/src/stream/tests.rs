//! What each hostile Messages stream must come to, however its bytes are cut.

use model_wire::minted;
use serde_json::{Value, json};

use crate::rehearsal::{check, events, play};

fn stream(name: &str, frames: &[Value], expected: &str) {
    let data: Vec<String> = frames.iter().map(Value::to_string).collect();
    check(name, &events(&data), expected);
}

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg", "role": "assistant", "content": []}})
}

fn block(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn text_block(index: u64) -> Value {
    block(index, json!({"type": "text", "text": ""}))
}

fn call(index: u64, id: &str, name: &str) -> Value {
    block(index, json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn said(index: u64, text: &str) -> Value {
    delta(index, json!({"type": "text_delta", "text": text}))
}

fn arguments(index: u64, piece: &str) -> Value {
    delta(index, json!({"type": "input_json_delta", "partial_json": piece}))
}

fn closed(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn reason(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}})
}

fn stop() -> Value {
    json!({"type": "message_stop"})
}

/// A whole stream around `middle` that ends for `why`.
fn around(middle: &[Value], why: &str) -> Vec<Value> {
    [&[start()], middle, &[reason(why), stop()]].concat()
}

fn whole_call() -> [Value; 3] {
    [call(0, "a", "f"), arguments(0, "{\"p\":1}"), closed(0)]
}

const TRUNCATED: &str = "failed Protocol STREAM_TRUNCATED unknown";
const F: &str = r#"ToolCalls: f#a{"p":1} [out 5]"#;

#[test]
fn a_stop_reason_says_what_the_answer_is() {
    let hi = [text_block(0), said(0, "h"), said(0, "i"), closed(0)];
    let cases = [
        ("end_turn", "Stop"),
        ("stop_sequence", "Stop"),
        ("max_tokens", "Length"),
        ("model_context_window_exceeded", "Length"),
        ("refusal", "ContentFilter"),
        ("pause_turn", "Other"),
        ("something_new", "Other"),
        ("tool_use", "Other"),
    ];
    for (why, finish) in cases {
        stream(why, &around(&hi, why), &format!(r#"{finish}: "hi" [out 5]"#));
    }
    let calls = [&hi[..], &[call(1, "a", "f"), arguments(1, "{\"p\":1}"), closed(1)]].concat();
    let cases = [
        ("tool_use", r#"ToolCalls: "hi" f#a{"p":1} [out 5]"#),
        ("end_turn", r#"ToolCalls: "hi" f#a{"p":1} [out 5]"#),
        ("max_tokens", r#"Length: "hi" [out 5]"#),
        ("model_context_window_exceeded", r#"Length: "hi" [out 5]"#),
        ("refusal", r#"ContentFilter: "hi" [out 5]"#),
        ("pause_turn", r#"Other: "hi" [out 5]"#),
        ("something_new", r#"Other: "hi" [out 5]"#),
    ];
    for (why, expected) in cases {
        stream(why, &around(&calls, why), expected);
    }
}

#[test]
fn only_the_end_of_the_message_ends_an_answer() {
    let f = [&[start()], &whole_call()[..]].concat();
    stream("nothing", &[start()], TRUNCATED);
    stream("a whole call", &f, TRUNCATED);
    let reasoned = [f.clone(), vec![reason("tool_use")]].concat();
    stream("a reason, and no end", &reasoned, &format!("{TRUNCATED} [out 5]"));
    let announced = |frames: &[Value]| {
        let data: Vec<String> = frames.iter().map(Value::to_string).collect();
        events(&[data, vec!["[DONE]".to_owned()]].concat())
    };
    check("announced after a reason", &announced(&reasoned), F);
    check("announced without a reason", &announced(&f), TRUNCATED);
    stream("no reason", &[f.clone(), vec![stop()]].concat(), "Other: ");
    stream("the end alone", &[stop()], TRUNCATED);
    let mut bytes = events(&[start().to_string(), said(0, "hi").to_string()]);
    bytes.extend_from_slice(b"data: {\"type\":\"message_st");
    check("cut within an event", &bytes, TRUNCATED);
}

#[test]
fn arguments_are_whole_or_the_answer_is_cut() {
    let with = |pieces: &[&str]| {
        let mut frames = vec![call(0, "a", "f")];
        frames.extend(pieces.iter().map(|piece| arguments(0, piece)));
        frames.push(closed(0));
        around(&frames, "tool_use")
    };
    stream("pieces", &with(&["", "{\"p\"", ":1", "}"]), F);
    stream("nothing", &with(&[]), "ToolCalls: f#a{} [out 5]");
    stream("empty", &with(&["", " "]), "ToolCalls: f#a{} [out 5]");
    stream("a placeholder", &with(&["{}", "{\"p\":1}"]), F);
    stream("twice", &with(&["{\"p\":1}", "{\"p\":1}"]), F);
    stream(
        "two",
        &with(&["{\"p\":1}", "{\"p\":2}"]),
        r#"ToolCalls: f#a"{\"p\":1}{\"p\":2}" [out 5]"#,
    );
    stream("no json", &with(&["{p}"]), r#"ToolCalls: f#a"{p}" [out 5]"#);
    stream("a text", &with(&["\"p\""]), r#"ToolCalls: f#a"\"p\"" [out 5]"#);
    stream("cut", &with(&["{\"p\":"]), "Length:  [out 5]");
    let nameless = json!({"type": "tool_use", "id": "a", "input": {"p": 1}});
    stream("no name", &around(&[block(0, nameless), closed(0)], "tool_use"), "Length:  [out 5]");
    stream("only begun", &around(&[call(0, "a", "f")], "tool_use"), "Length:  [out 5]");
    let open = [call(0, "a", "f"), arguments(0, "{\"p\":1}")];
    stream("never closed", &around(&open, "tool_use"), F);
    let lost = [arguments(0, "{\"p\":1}"), closed(0)];
    stream("never begun", &around(&lost, "tool_use"), "Length:  [out 5]");
}

#[test]
fn arguments_may_come_with_the_beginning() {
    let begun = |input: Value| {
        block(0, json!({"type": "tool_use", "id": "a", "name": "f", "input": input}))
    };
    let p = || begun(json!({"p": 1}));
    stream("whole", &around(&[p(), closed(0)], "tool_use"), F);
    stream("and again", &around(&[p(), arguments(0, "{ \"p\": 1 }"), closed(0)], "tool_use"), F);
    stream("and nothing", &around(&[p(), arguments(0, ""), closed(0)], "tool_use"), F);
    let other = [p(), arguments(0, "{\"p\":2}"), closed(0)];
    stream(
        "and others",
        &around(&other, "tool_use"),
        r#"ToolCalls: f#a"{\"p\":1}{\"p\":2}" [out 5]"#,
    );
    let cut = [p(), arguments(0, "{\"p\""), closed(0)];
    stream("and cut ones", &around(&cut, "tool_use"), "Length:  [out 5]");
    stream("as text", &around(&[begun(json!("{\"p\":1}")), closed(0)], "tool_use"), F);
    stream(
        "as null",
        &around(&[begun(Value::Null), closed(0)], "tool_use"),
        "ToolCalls: f#a{} [out 5]",
    );
    let object = delta(0, json!({"type": "input_json_delta", "partial_json": {"p": 1}}));
    stream("an object as piece", &around(&[call(0, "a", "f"), object, closed(0)], "tool_use"), F);
}

#[test]
fn blocks_are_told_apart_by_their_index() {
    let woven = [
        call(0, "a", "f"),
        call(1, "b", "g"),
        arguments(1, "{\"q\""),
        arguments(0, "{\"p\""),
        arguments(1, ":2}"),
        arguments(0, ":1}"),
        closed(1),
        closed(0),
    ];
    let both = r#"ToolCalls: f#a{"p":1} g#b{"q":2} [out 5]"#;
    stream("woven", &around(&woven, "tool_use"), both);
    let out_of_order = [
        call(1, "b", "g"),
        arguments(1, "{\"q\":2}"),
        closed(1),
        call(0, "a", "f"),
        arguments(0, "{\"p\":1}"),
        closed(0),
    ];
    stream("out of order", &around(&out_of_order, "tool_use"), both);
    let always_zero = [
        text_block(0),
        said(0, "hi"),
        closed(0),
        call(0, "a", "f"),
        arguments(0, "{\"p\":1}"),
        closed(0),
        call(0, "b", "g"),
        arguments(0, "{\"q\":2}"),
        closed(0),
    ];
    let expected = r#"ToolCalls: "hi" f#a{"p":1} g#b{"q":2} [out 5]"#;
    stream("one index for all", &around(&always_zero, "tool_use"), expected);
    let without = |frame: &Value| {
        let mut frame = frame.clone();
        frame.as_object_mut().expect("an object").remove("index");
        frame
    };
    let none: Vec<Value> = always_zero.iter().map(without).collect();
    stream("no index at all", &around(&none, "tool_use"), expected);
    let elsewhere = [call(0, "a", "f"), arguments(7, "{\"p\":1}"), closed(0)];
    stream("a piece of nobody", &around(&elsewhere, "tool_use"), "Length:  [out 5]");
    let late = [call(0, "a", "f"), closed(0), arguments(0, "{\"p\":1}")];
    stream("a piece after the end", &around(&late, "tool_use"), F);
    let mixed =
        [text_block(0), call(0, "a", "f"), said(0, "hi"), arguments(0, "{\"p\":1}"), closed(0)];
    stream("pieces by kind", &around(&mixed, "tool_use"), r#"ToolCalls: "hi" f#a{"p":1} [out 5]"#);
}

#[test]
fn what_is_sent_twice_counts_once() {
    let [begun, piece, end] = whole_call();
    let twice = [begun.clone(), begun.clone(), piece, end.clone(), end.clone()];
    stream("its beginning", &around(&twice, "tool_use"), F);
    let filled = block(0, json!({"type": "tool_use", "id": "a", "name": "f", "input": {"p": 1}}));
    stream("its beginning, now with input", &around(&[begun, filled, end], "tool_use"), F);
    let whole = [whole_call(), whole_call()].concat();
    stream("a whole call", &around(&whole, "tool_use"), F);
    let elsewhere = [call(1, "a", "f"), arguments(1, "{\"p\":1}"), closed(1)];
    let whole = [&whole_call()[..], &elsewhere].concat();
    stream("at another index", &around(&whole, "tool_use"), F);
    let hi = [text_block(0), said(0, "hi"), closed(0)];
    let text = [hi.clone(), hi].concat();
    stream("a text", &around(&text, "end_turn"), r#"Stop: "hi" [out 5]"#);
    let twice = [
        &[start(), start()],
        &whole_call()[..],
        &[reason("tool_use"), reason("tool_use"), stop(), stop()],
    ]
    .concat();
    stream("everything", &twice, F);
    let other = [call(1, "a", "f"), arguments(1, "{\"p\":2}"), closed(1)];
    let two = [&whole_call()[..], &other].concat();
    let expected = format!(r#"ToolCalls: f#a{{"p":1}} f#{}{{"p":2}} [out 5]"#, minted("seed", 1));
    stream("only an id", &around(&two, "tool_use"), &expected);
    let mut another = start();
    another["message"]["id"] = "other".into();
    let restarted =
        [vec![start(), said(0, "h"), another], vec![said(0, "hi"), reason("end_turn"), stop()]]
            .concat();
    stream("another answer", &restarted, "failed Protocol ANSWER_RESTARTED unknown");
}

#[test]
fn calls_without_an_id_get_one_each() {
    let nameless = |index| block(index, json!({"type": "tool_use", "name": "f", "input": {}}));
    let two = [nameless(0), closed(0), nameless(1), closed(1)];
    let expected =
        format!("ToolCalls: f#{}{{}} f#{}{{}} [out 5]", minted("seed", 0), minted("seed", 1));
    stream("two", &around(&two, "tool_use"), &expected);
}

#[test]
fn thinking_is_kept_with_its_signature() {
    let thinking = |text: &str| delta(0, json!({"type": "thinking_delta", "thinking": text}));
    let signed = |text: &str| delta(0, json!({"type": "signature_delta", "signature": text}));
    let begun = || block(0, json!({"type": "thinking", "thinking": "", "signature": ""}));
    let kept = r#"(hm | {"signature":"s","thinking":"hm","type":"thinking"})"#;
    let frames = [begun(), thinking("h"), thinking("m"), signed("s"), closed(0)];
    stream("signed", &around(&frames, "end_turn"), &format!("Stop: {kept} [out 5]"));
    let frames = [begun(), thinking("hm"), closed(0)];
    stream("unsigned", &around(&frames, "end_turn"), "Stop: (hm | null) [out 5]");
    let frames = [begun(), thinking("hm")];
    stream("cut", &around(&frames, "max_tokens"), "Length: (hm | null) [out 5]");
    let frames = [begun(), signed("s"), closed(0)];
    let omitted = r#"Stop: ( | {"signature":"s","thinking":"","type":"thinking"}) [out 5]"#;
    stream("omitted", &around(&frames, "end_turn"), omitted);
    stream("empty", &around(&[begun(), closed(0)], "end_turn"), "Stop:  [out 5]");
    let redacted = [block(0, json!({"type": "redacted_thinking", "data": "x"})), closed(0)];
    let expected = r#"Stop: ( | {"data":"x","type":"redacted_thinking"}) [out 5]"#;
    stream("redacted", &around(&redacted, "end_turn"), expected);
    let [first, second] =
        [redacted.to_vec(), vec![begun(), thinking("hm"), signed("s"), closed(0)]];
    let order =
        [first, second, vec![call(1, "a", "f"), arguments(1, "{\"p\":1}"), closed(1)]].concat();
    let expected = format!(
        r#"ToolCalls: ( | {{"data":"x","type":"redacted_thinking"}}) {kept} f#a{{"p":1}} [out 5]"#
    );
    stream("in its place", &around(&order, "tool_use"), &expected);
}

#[test]
fn unknown_events_and_blocks_pass() {
    let frames = [
        start(),
        json!({"type": "ping"}),
        json!({"type": "something_new", "delta": {"text": "no"}}),
        json!({"no": "type"}),
        block(0, json!({"type": "new_block", "x": 1})),
        delta(0, json!({"type": "new_delta", "x": 2})),
        closed(0),
        json!({"type": "content_block_stop", "index": 9}),
        text_block(1),
        delta(1, json!({"type": "citations_delta", "citation": {"cited_text": "no"}})),
        said(1, "hi"),
        closed(1),
        reason("end_turn"),
        stop(),
    ];
    let expected = r#"Stop: ( | {"type":"new_block","x":1}) "hi" [out 5]"#;
    stream("unknown", &frames, expected);
    let named = b"event: content_block_delta\ndata: {\"delta\":{\"text\":\"hi\"}}\n\n\
        event: message_delta\ndata: {\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n\
        event: message_stop\ndata: {}\n\n";
    check("types in the event names", named, r#"Stop: "hi""#);
    let begun = [block(0, json!({"type": "text", "text": "h"})), said(0, "i")];
    stream("text at the beginning", &around(&begun, "end_turn"), r#"Stop: "hi" [out 5]"#);
    let own = block(0, json!({"type": "server_tool_use", "id": "s", "name": "web", "input": {}}));
    let cut = [own.clone(), arguments(0, "{\"q\""), closed(0)];
    stream("a cut call of the server's own", &around(&cut, "max_tokens"), "Length:  [out 5]");
    let open = [own, arguments(0, "{\"q\":1}")];
    stream("an open one", &around(&open, "pause_turn"), "Other:  [out 5]");
}

#[test]
fn errors_are_refusals_only_before_the_answer() {
    let error = |kind: &str| json!({"type": "error", "error": {"type": kind, "message": "m"}});
    let cases = [
        ("overloaded_error", "Unavailable PROVIDER_OVERLOADED unknown", "unknown"),
        ("rate_limit_error", "RateLimited RATE_LIMITED not committed", "unknown"),
        ("api_error", "Unavailable PROVIDER_ERROR unknown", "unknown"),
        ("invalid_request_error", "Invalid INVALID_REQUEST not committed", "unknown"),
        ("authentication_error", "Forbidden AUTHENTICATION_FAILED not committed", "unknown"),
        ("permission_error", "Forbidden PERMISSION_DENIED not committed", "unknown"),
        ("not_found_error", "NotFound MODEL_NOT_FOUND not committed", "unknown"),
        ("request_too_large", "Invalid REQUEST_TOO_LARGE not committed", "unknown"),
        ("billing_error", "RateLimited QUOTA_EXHAUSTED not committed", "unknown"),
        ("timeout_error", "Timeout PROVIDER_TIMEOUT unknown", "unknown"),
        ("something_new", "Unavailable PROVIDER_ERROR unknown", "unknown"),
    ];
    for (kind, before, after) in cases {
        stream(kind, &[error(kind)], &format!("failed {before}"));
        stream(kind, &[start(), error(kind)], &format!("failed {before}"));
        let later = before.rsplit_once(" not committed").map_or(before, |(head, _)| head);
        let later = later.trim_end_matches(" unknown").replace("Unavailable", "Protocol");
        let begun = [start(), text_block(0), said(0, "h"), error(kind)];
        stream(kind, &begun, &format!("failed {later} {after}"));
    }
    let long = json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "prompt is too long: 205000 tokens > 200000 maximum"}});
    stream("too long", &[long], "failed ContextOverflow CONTEXT_OVERFLOW not committed");
    let bare = json!({"error": "overloaded"});
    stream("bare", &[bare], "failed Unavailable PROVIDER_ERROR unknown");
    let late = around(&[text_block(0), said(0, "hi"), closed(0)], "end_turn");
    let late = [late, vec![error("api_error")]].concat();
    stream("after the end", &late, r#"Stop: "hi" [out 5]"#);
}

#[test]
fn documents_are_answers_too() {
    let document = json!({"id": "m", "type": "message", "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "hi"},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"p": 1}}],
        "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 1}});
    let whole = r#"ToolCalls: (hm | {"signature":"s","thinking":"hm","type":"thinking"}) "hi" f#a{"p":1} [in 3 out 1]"#;
    check("whole", document.to_string().as_bytes(), whole);
    check("as an event", &events(&[document.to_string()]), whole);
    check("in a list", json!([document]).to_string().as_bytes(), whole);
    let with = |reason: Value| {
        let mut document = document.clone();
        document["stop_reason"] = reason;
        document.to_string()
    };
    let kept = r#"(hm | {"signature":"s","thinking":"hm","type":"thinking"}) "hi" [in 3 out 1]"#;
    check("cut", with(json!("max_tokens")).as_bytes(), &format!("Length: {kept}"));
    check("no reason", with(Value::Null).as_bytes(), &format!("Other: {kept}"));
    let text = document.to_string();
    check("half", &text.as_bytes()[..text.len() / 2], TRUNCATED);
    check("something else", br#"{"hello":1}"#, TRUNCATED);
    check("a page", b"<html></html>", "failed Protocol NOT_AN_API unknown");
    check("nothing", b"", TRUNCATED);
}

#[test]
fn usage_is_cumulative_and_the_last_known_value_wins() {
    let hi = [text_block(0), said(0, "hi"), closed(0)];
    let frames = |first: Value, last: Value| {
        let mut begun = start();
        begun["message"]["usage"] = first;
        let mut end = reason("end_turn");
        end["usage"] = last;
        [&[begun], &hi[..], &[end, stop()]].concat()
    };
    let all = |read: u64, written: u64| {
        json!({"input_tokens": 10, "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written, "output_tokens": 1})
    };
    let check = |name: &str, first: Value, last: Value, counts: &str| {
        stream(name, &frames(first, last), &format!(r#"Stop: "hi"{counts}"#));
    };
    let out = || json!({"output_tokens": 7});
    check("both", all(100, 50), out(), " [in 160 out 7 cached 100 written 50]");
    check("zeros", all(0, 0), out(), " [in 10 out 7 cached 0 written 0]");
    check("no cache", json!({"input_tokens": 10, "output_tokens": 1}), out(), " [in 10 out 7]");
    check("null", all(100, 50), Value::Null, " [in 160 cached 100 written 50]");
    check("empty", all(100, 50), json!({}), " [in 160 cached 100 written 50]");
    check("none", Value::Null, Value::Null, "");
    let nulls = json!({"input_tokens": 10, "cache_read_input_tokens": null, "cache_creation_input_tokens": null});
    check("null parts", nulls, out(), " [in 10 out 7]");
    let one = json!({"input_tokens": 10, "cache_read_input_tokens": 4});
    check("one part of a cache", one, out(), " [out 7 cached 4]");
    let last = json!({"input_tokens": 10, "output_tokens": 7, "cache_read_input_tokens": 4});
    check("one part, late", json!({"input_tokens": 10}), last, " [out 7 cached 4]");
    check("lower", all(0, 0), json!({"output_tokens": 0}), " [in 10 out 0 cached 0 written 0]");
    let lower = json!({"cache_read_input_tokens": 5});
    check("a lower part", json!({"input_tokens": 3, "cache_read_input_tokens": 9}), lower, "");
    let late = json!({"input_tokens": 12, "output_tokens": 7, "cache_read_input_tokens": 3});
    check(
        "zeros first",
        json!({"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}),
        late,
        " [in 15 out 7 cached 3 written 0]",
    );
}

#[test]
fn deltas_tell_the_answer_once() {
    let frames = around(
        &[
            block(0, json!({"type": "thinking", "thinking": ""})),
            delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
            delta(0, json!({"type": "signature_delta", "signature": "s"})),
            closed(0),
            text_block(1),
            said(1, "h"),
            said(1, "i"),
            closed(1),
            call(2, "a", "f"),
            arguments(2, "{\"p\""),
            arguments(2, ":1}"),
            closed(2),
            block(3, json!({"type": "tool_use", "id": "b", "name": "g", "input": {"q": 2}})),
            closed(3),
        ],
        "tool_use",
    );
    let data: Vec<String> = frames.iter().map(Value::to_string).collect();
    let deltas = "r:hm t:h t:i call0:f#a args0:{\"p\" args0::1} call1:g#b args1:{\"q\":2} ";
    assert_eq!(play(&events(&data), usize::MAX).deltas, deltas);
}

//! What each hostile Responses stream must come to, however its bytes are cut (E1 to E12).

mod doubt;

use model_wire::minted;
use serde_json::{Value, json};

use crate::{
    profile::Api,
    rehearsal::{check, events, play},
};

fn stream(name: &str, frames: &[Value], expected: &str) {
    let data: Vec<String> = frames.iter().map(Value::to_string).collect();
    check(Api::Responses, name, &events(&data), expected);
}

fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn arguments(index: u64, delta: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": delta})
}

fn said(index: u64, delta: &str) -> Value {
    json!({"type": "response.output_text.delta", "output_index": index, "delta": delta})
}

fn completed(output: Value) -> Value {
    json!({"type": "response.completed", "response": {"id": "r", "output": output}})
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments})
}

fn message(text: &str) -> Value {
    let part = json!({"type": "output_text", "text": text});
    json!({"type": "message", "id": "msg", "role": "assistant", "content": [part]})
}

const TRUNCATED: &str = "failed Protocol STREAM_TRUNCATED unknown";
const F: &str = r#"ToolCalls: f#a{"p":1}"#;

#[test]
fn e1_pieces_go_by_place_then_by_id_then_to_the_open_item() {
    let ids_disagree = [
        added(0, call("a", "f", "")),
        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "other", "delta": "{\"p\":1}"}),
        json!({"type": "response.output_item.done", "output_index": 0,
            "item": {"type": "function_call", "id": "third", "call_id": "a", "name": "f", "arguments": "{\"p\":1}"}}),
        completed(json!([])),
    ];
    stream("place", &ids_disagree, F);
    let by_id = |id: &str, delta: &str| json!({"type": "response.function_call_arguments.delta", "item_id": id, "delta": delta});
    let unplaced = |item: Value| json!({"type": "response.output_item.added", "item": item});
    let woven = [
        unplaced(call("a", "f", "")),
        unplaced(call("b", "g", "")),
        by_id("fc_a", "{\"p\":1}"),
        by_id("fc_b", "{\"p\":2}"),
        completed(json!([])),
    ];
    stream("ids", &woven, r#"ToolCalls: f#a{"p":1} g#b{"p":2}"#);
    let open = [
        unplaced(call("a", "f", "")),
        json!({"type": "response.function_call_arguments.delta", "delta": "{\"p\":1}"}),
        completed(json!([])),
    ];
    stream("the open item", &open, F);
    let same_place = [
        added(0, call("a", "f", "")),
        done(0, call("a", "f", "{\"p\":1}")),
        added(0, call("b", "g", "")),
        arguments(0, "{\"p\":2}"),
        done(0, call("b", "g", "{\"p\":2}")),
        completed(json!([])),
    ];
    stream("two items at one place", &same_place, r#"ToolCalls: f#a{"p":1} g#b{"p":2}"#);
    let out_of_order = [
        done(1, call("b", "g", "{\"p\":2}")),
        done(0, call("a", "f", "{\"p\":1}")),
        completed(json!([])),
    ];
    stream("out of order", &out_of_order, r#"ToolCalls: f#a{"p":1} g#b{"p":2}"#);
}

#[test]
fn e2_done_outranks_the_snapshot_and_the_snapshot_the_deltas() {
    let f = |arguments: &str| call("a", "f", arguments);
    let end = completed(json!([]));
    let pieces = [arguments(0, "{\"p\":"), arguments(0, "1}")];
    let [first, second] = pieces.clone();
    stream("only deltas", &[added(0, f("")), first, second, end.clone()], F);
    stream("only done", &[done(0, f("{\"p\":1}")), end.clone()], F);
    stream("only the snapshot", &[completed(json!([f("{\"p\":1}")]))], F);
    let cut = [added(0, f("")), arguments(0, "{\"p\""), completed(json!([f("{\"p\":1}")]))];
    stream("the snapshot completes", &cut, F);
    let disagree = [added(0, f("")), arguments(0, "{\"p\":9}"), done(0, f("{\"p\":1}"))];
    let disagree = [disagree.to_vec(), vec![completed(json!([f("{\"p\":8}")]))]].concat();
    stream("done decides", &disagree, F);
    let finished = json!({"type": "response.function_call_arguments.done", "output_index": 0, "arguments": "{\"p\":1}"});
    stream("the end of the arguments", &[added(0, f("")), finished, end.clone()], F);
    stream("added alone says nothing", &[added(0, f("")), end.clone()], "Length: ");
    stream(
        "added twice",
        &[added(0, f("")), added(0, f("")), done(0, f("{\"p\":1}")), end.clone()],
        F,
    );
    stream("done twice", &[done(0, f("{\"p\":1}")), done(0, f("{\"p\":1}")), end.clone()], F);
    let object =
        json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": {"p": 1}});
    stream("an object", &[done(0, object), end], F);
}

#[test]
fn e3_an_empty_snapshot_erases_nothing() {
    let text = [added(0, message("")), said(0, "h"), said(0, "i"), completed(json!([]))];
    stream("no output", &text, r#"Stop: "hi""#);
    let bare = [said(0, "hi"), json!({"type": "response.completed"})];
    stream("no response", &bare, r#"Stop: "hi""#);
    let empty = [said(0, "hi"), done(0, message("")), completed(json!([message("")]))];
    stream("empty texts", &empty, r#"Stop: "hi""#);
    let null = [said(0, "hi"), completed(json!(null))];
    stream("null", &null, r#"Stop: "hi""#);
}

#[test]
fn e4_e5_unknown_and_sparse_events_pass() {
    let sparse = [
        json!({"type": "response.created", "response": {}}),
        json!({"type": "keepalive", "sequence_number": 1}),
        json!({"type": "response.output_text.delta", "delta": "h"}),
        json!({"type": "response.something.new", "delta": "no"}),
        json!({"type": "response.output_text.delta", "delta": "i", "logprobs": null}),
        json!({"type": "response.output_text.done", "text": "hi"}),
        json!({"choices": []}),
        completed(json!([])),
    ];
    stream("sparse", &sparse, r#"Stop: "hi""#);
    let named = b"event: response.output_text.delta\ndata: {\"delta\":\"hi\"}\n\n\
        event: response.completed\ndata: {}\n\n";
    check(Api::Responses, "types in the event names", named, r#"Stop: "hi""#);
    let parts = [
        json!({"type": "response.output_text.delta", "content_index": 1, "delta": "b"}),
        json!({"type": "response.output_text.delta", "content_index": 0, "delta": "a"}),
        completed(json!([])),
    ];
    stream("parts in order", &parts, r#"Stop: "ab""#);
}

#[test]
fn e6_items_of_unknown_types_are_kept_for_their_issuer() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let frames = [
        added(0, json!({"type": "web_search_call", "id": "ws_1"})),
        done(0, search),
        done(1, message("hi")),
        completed(json!([])),
    ];
    let item = r#"( | {"id":"ws_1","status":"completed","type":"web_search_call"})"#;
    stream("a search", &frames, &format!(r#"Stop: {item} "hi""#));
}

#[test]
fn e7_only_a_terminal_event_ends_an_answer() {
    let hi = said(0, "hi");
    let f = done(0, call("a", "f", "{\"p\":1}"));
    stream("nothing", std::slice::from_ref(&hi), TRUNCATED);
    stream("a whole call", std::slice::from_ref(&f), TRUNCATED);
    let announced = events(&[f.to_string(), "[DONE]".to_owned()]);
    check(Api::Responses, "done is no terminal", &announced, TRUNCATED);
    let incomplete = |reason: &str| json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": reason}}});
    stream("a limit", &[hi.clone(), incomplete("max_output_tokens")], r#"Length: "hi""#);
    stream("a limit, after a call", &[f.clone(), incomplete("max_output_tokens")], "Length: ");
    stream("a filter", &[hi.clone(), incomplete("content_filter")], r#"ContentFilter: "hi""#);
    stream("something", &[hi.clone(), incomplete("new")], r#"Other: "hi""#);
    let failed = json!({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "m"}}});
    stream("failed", &[failed], "failed Unavailable PROVIDER_ERROR unknown");
    let flat = json!({"type": "error", "code": "rate_limit_exceeded", "message": "m"});
    stream("flat", std::slice::from_ref(&flat), "failed RateLimited RATE_LIMITED not committed");
    stream("after text", &[hi.clone(), flat], "failed RateLimited RATE_LIMITED unknown");
    let nested =
        json!({"type": "error", "error": {"code": "context_length_exceeded", "message": "m"}});
    stream("nested", &[nested], "failed ContextOverflow CONTEXT_OVERFLOW not committed");
    let later = [hi, completed(json!([])), json!({"type": "error", "message": "late"})];
    stream("after the end", &later, r#"Stop: "hi""#);
}

#[test]
fn e8_reasoning_is_kept_as_it_was_done() {
    let begun =
        json!({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "provisional"});
    let ended =
        json!({"type": "reasoning", "id": "rs", "status": "completed", "encrypted_content": "z"});
    let summary =
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"});
    let frames = [
        added(0, begun.clone()),
        summary.clone(),
        done(0, ended),
        done(1, call("a", "f", "{\"p\":1}")),
        completed(json!([])),
    ];
    let kept = r#"{"encrypted_content":"z","id":"rs","summary":[],"type":"reasoning"}"#;
    stream("done", &frames, &format!(r#"ToolCalls: (hm | {kept}) f#a{{"p":1}}"#));
    let item =
        |cipher: &str| json!({"type": "reasoning", "summary": [], "encrypted_content": cipher});
    let disagree = [done(0, item("z")), completed(json!([item("y")]))];
    let kept = r#"{"encrypted_content":"z","summary":[],"type":"reasoning"}"#;
    stream("done outranks the snapshot", &disagree, &format!("Stop: ( | {kept})"));
    let only_begun = [added(0, begun), summary, said(1, "hi"), completed(json!([]))];
    stream("only begun", &only_begun, r#"Stop: (hm | null) "hi""#);
    let open = json!({"type": "reasoning", "id": "rs", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]});
    let expected = r#"Stop: (hm | {"content":[{"text":"hm","type":"reasoning_text"}],"id":"rs","summary":[],"type":"reasoning"})"#;
    stream("open text", &[done(0, open), completed(json!([]))], expected);
}

#[test]
fn e10_ids_are_unique_within_an_answer() {
    let same = [
        done(0, call("a", "f", "{\"p\":1}")),
        done(1, call("a", "g", "{\"p\":2}")),
        completed(json!([])),
    ];
    let expected = format!(r#"ToolCalls: f#a{{"p":1}} g#{}{{"p":2}}"#, minted("seed", 1));
    stream("two calls of one id", &same, &expected);
    let nameless = json!({"type": "function_call", "name": "f", "arguments": "{}"});
    let expected = format!("ToolCalls: f#{}{{}}", minted("seed", 0));
    stream("no id", &[done(0, nameless), completed(json!([]))], &expected);
}

#[test]
fn cut_calls_cut_the_answer() {
    let cut = [done(0, message("hi")), done(1, call("a", "f", "{\"p\":")), completed(json!([]))];
    stream("arguments", &cut, r#"Length: "hi""#);
    let mut incomplete = call("a", "f", "{}");
    incomplete["status"] = json!("incomplete");
    stream("by its status", &[done(0, incomplete), completed(json!([]))], "Length: ");
    let nameless = json!({"type": "function_call", "call_id": "a", "arguments": "{}"});
    stream("no name", &[done(0, nameless), completed(json!([]))], "Length: ");
}

#[test]
fn documents_are_answers_too() {
    let document = |status: &str| {
        json!({"id": "r", "object": "response", "status": status, "output": [message("hi")],
            "usage": {"input_tokens": 3, "output_tokens": 1}})
        .to_string()
    };
    let check = |name: &str, body: &str, expected: &str| {
        check(Api::Responses, name, body.as_bytes(), expected);
    };
    check("completed", &document("completed"), r#"Stop: "hi" [in 3 out 1]"#);
    check("incomplete", &document("incomplete"), r#"Other: "hi" [in 3 out 1]"#);
    let failed = "failed Unavailable PROVIDER_ERROR unknown [in 3 out 1]";
    for status in ["failed", "cancelled", "in_progress", "queued"] {
        check(status, &document(status), failed);
    }
    check("an error", r#"{"error":{"message":"m"}}"#, "failed Unavailable PROVIDER_ERROR unknown");
    check("something else", r#"{"hello":1}"#, TRUNCATED);
}

#[test]
fn refusals_are_text_that_a_filter_let_through() {
    let refusal = json!({"type": "response.refusal.delta", "output_index": 0, "delta": "no"});
    stream("a refusal", &[refusal, completed(json!([]))], r#"ContentFilter: "no""#);
    let part = json!({"type": "refusal", "refusal": "no"});
    let item = json!({"type": "message", "content": [part]});
    stream("in the item", &[done(0, item), completed(json!([]))], r#"ContentFilter: "no""#);
}

#[test]
fn deltas_tell_the_answer_once() {
    let frames = [
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"}),
        added(1, message("")),
        said(1, "h"),
        said(1, "i"),
        done(1, message("hi")),
        added(2, call("a", "f", "")),
        arguments(2, "{\"p\":1}"),
        done(2, call("a", "f", "{\"p\":1}")),
        done(3, call("b", "g", "{}")),
        completed(json!([])),
    ];
    let data: Vec<String> = frames.iter().map(Value::to_string).collect();
    let deltas = "r:hm t:h t:i call0:f#a args0:{\"p\":1} call1:g#b args1:{} ";
    assert_eq!(play(Api::Responses, &events(&data), usize::MAX).deltas, deltas);
}

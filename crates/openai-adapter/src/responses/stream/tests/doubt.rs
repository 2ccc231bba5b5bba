//! Events that disagree, are missing, or come twice (E1 to E13): nothing is lost, nothing is made
//! twice, and what was cut is no answer.

use serde_json::{Value, json};

use super::{F, TRUNCATED, added, arguments, call, completed, done, message, said, stream};
use crate::{profile::Api, rehearsal::check};

const FAILED: &str = "failed Unavailable PROVIDER_ERROR unknown";
/// The same after parts of the answer.
const AMID: &str = "failed Protocol PROVIDER_ERROR unknown";
const F_AND_G: &str = r#"ToolCalls: f#a{"p":1} g#b{"p":2}"#;

fn by_id(id: &str, index: u64, delta: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": id,
        "delta": delta})
}

/// An event of an item that is not where, or not whole as, `event` says.
fn unplaced(mut event: Value) -> Value {
    event.as_object_mut().expect("an event").remove("output_index");
    event
}

#[test]
fn e1_items_are_found_by_whatever_does_not_lie() {
    stream(
        "all at place 0, told apart by their ids",
        &[
            added(0, call("a", "f", "")),
            added(0, call("b", "g", "")),
            by_id("fc_a", 0, "{\"p\":1}"),
            by_id("fc_b", 0, "{\"p\":2}"),
            done(0, call("a", "f", "{\"p\":1}")),
            done(0, call("b", "g", "{\"p\":2}")),
            completed(json!([])),
        ],
        F_AND_G,
    );
    stream(
        "the same, without done",
        &[
            added(0, call("a", "f", "")),
            added(0, call("b", "g", "")),
            by_id("fc_a", 0, "{\"p\":1}"),
            by_id("fc_b", 0, "{\"p\":2}"),
            completed(json!([])),
        ],
        F_AND_G,
    );
    stream(
        "added without a place, pieces with one and another id",
        &[
            unplaced(added(0, call("a", "f", ""))),
            by_id("other", 0, "{\"p\":1}"),
            completed(json!([])),
        ],
        F,
    );
    stream(
        "added without a place, done with one and without ids",
        &[
            unplaced(added(0, call("a", "f", ""))),
            done(0, json!({"type": "function_call", "name": "f", "arguments": "{\"p\":1}"})),
            completed(json!([])),
        ],
        F,
    );
}

#[test]
fn e1_another_item_at_the_same_place_is_another() {
    stream(
        "another item is done at the place of an open one",
        &[
            added(0, call("a", "f", "")),
            arguments(0, "{\"p\":1}"),
            done(0, call("b", "g", "{\"p\":2}")),
            completed(json!([])),
        ],
        F_AND_G,
    );
    stream(
        "a message at the place of a call",
        &[
            added(0, call("a", "f", "")),
            arguments(0, "{\"p\":1}"),
            done(0, message("hi")),
            completed(json!([])),
        ],
        r#"ToolCalls: f#a{"p":1} "hi""#,
    );
}

#[test]
fn e1_pieces_that_nothing_tells_apart_run_nothing() {
    stream(
        "pieces of two open calls that nothing tells apart",
        &[
            unplaced(added(0, call("a", "f", ""))),
            unplaced(added(0, call("b", "g", ""))),
            unplaced(arguments(0, "{\"p\":1}")),
            unplaced(arguments(0, "{\"p\":2}")),
            completed(json!([])),
        ],
        "Length: ",
    );
    stream(
        "places as texts",
        &[
            json!({"type": "response.output_item.added", "output_index": "0", "item": call("a", "f", "")}),
            json!({"type": "response.function_call_arguments.delta", "output_index": 0.0, "delta": "{\"p\":1}"}),
            completed(json!([])),
        ],
        F,
    );
    stream(
        "a text piece does not enter an open call",
        &[
            added(0, call("a", "f", "")),
            json!({"type": "response.output_text.delta", "delta": "hi"}),
            arguments(0, "{\"p\":1}"),
            completed(json!([])),
        ],
        r#"ToolCalls: f#a{"p":1} "hi""#,
    );
}

#[test]
fn e2_what_was_missing_is_taken_from_what_was_told() {
    stream(
        "done without added, pieces before it",
        &[arguments(0, "{\"p\":1}"), done(0, call("a", "f", "")), completed(json!([]))],
        F,
    );
    stream(
        "a placeholder when done",
        &[
            added(0, call("a", "f", "")),
            arguments(0, "{\"p\":1}"),
            done(0, call("a", "f", "{}")),
            completed(json!([])),
        ],
        F,
    );
    stream(
        "cut when done",
        &[
            added(0, call("a", "f", "")),
            arguments(0, "{\"p\":1}"),
            done(0, call("a", "f", "{\"p\":")),
            completed(json!([])),
        ],
        "Length: ",
    );
}

#[test]
fn e2_the_end_of_a_part_stands_for_what_was_missing() {
    stream(
        "the name at the end of the arguments",
        &[
            json!({"type": "response.function_call_arguments.done", "output_index": 0, "item_id": "a",
                "name": "f", "arguments": "{\"p\":1}"}),
            completed(
                json!([{"type": "function_call", "id": "a", "call_id": "a", "name": "f", "arguments": ""}]),
            ),
        ],
        F,
    );
    stream(
        "arguments as an object at their end",
        &[
            added(0, call("a", "f", "")),
            json!({"type": "response.function_call_arguments.done", "output_index": 0, "arguments": {"p": 1}}),
            completed(json!([])),
        ],
        F,
    );
    stream(
        "the end of a part, without pieces",
        &[
            added(0, json!({"type": "message", "id": "m", "content": []})),
            json!({"type": "response.content_part.done", "output_index": 0, "content_index": 0,
                "part": {"type": "output_text", "text": "hi"}}),
            completed(json!([])),
        ],
        r#"Stop: "hi""#,
    );
    stream(
        "the end of a part after its pieces",
        &[
            added(0, json!({"type": "message", "id": "m", "content": []})),
            said(0, "h"),
            said(0, "i"),
            json!({"type": "response.content_part.done", "output_index": 0, "content_index": 0,
                "part": {"type": "output_text", "text": "hi"}}),
            done(0, message("hi")),
            completed(json!([message("hi")])),
        ],
        r#"Stop: "hi""#,
    );
    stream(
        "a call twice, as two items",
        &[
            done(
                0,
                json!({"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "{\"p\":1}"}),
            ),
            done(
                1,
                json!({"type": "function_call", "id": "fc_2", "call_id": "a", "name": "f", "arguments": "{\"p\": 1}"}),
            ),
            completed(json!([])),
        ],
        F,
    );
}

#[test]
fn e3_the_snapshot_finds_its_items_again() {
    let text = |id: &str, text: &str| json!({"type": "message", "id": id, "content": [{"type": "output_text", "text": text}]});
    let call = |id: &str, call_id: &str| json!({"type": "function_call", "id": id, "call_id": call_id, "name": "f", "arguments": "{\"p\":1}"});
    let thought = json!({"type": "reasoning", "id": "rs", "summary": []});
    stream(
        "another id for each item",
        &[
            done(0, text("m1", "hi")),
            done(1, call("c1", "a")),
            completed(json!([text("m2", "hi"), call("c2", "z")])),
        ],
        r#"ToolCalls: "hi" f#a{"p":1}"#,
    );
    stream(
        "an item more, before the others",
        &[unplaced(done(0, text("m1", "hi"))), completed(json!([thought, text("m2", "hi")]))],
        r#"Stop: ( | {"id":"rs","summary":[],"type":"reasoning"}) "hi""#,
    );
    stream(
        "a message more, before the streamed one",
        &[done(0, text("m1", "two")), completed(json!([text("x", "one"), text("y", "two")]))],
        r#"Stop: "one" "two""#,
    );
    stream(
        "all but one item",
        &[done(0, text("m1", "hi")), done(1, call("c1", "a")), completed(json!([call("c9", "a")]))],
        r#"ToolCalls: "hi" f#a{"p":1}"#,
    );
    stream(
        "no response, no id, no model",
        &[said(0, "hi"), json!({"type": "response.completed", "response": {"output": []}})],
        r#"Stop: "hi""#,
    );
    stream(
        "two calls alike, told twice",
        &[
            done(0, call("c1", "a")),
            done(1, call("c2", "b")),
            completed(json!([call("d1", "a"), call("d2", "b")])),
        ],
        r#"ToolCalls: f#a{"p":1} f#b{"p":1}"#,
    );
}

#[test]
fn e7_an_answer_that_ended_otherwise_has_no_call() {
    for (reason, finish) in [("content_filter", "ContentFilter"), ("new", "Other")] {
        let end = json!({"type": "response.incomplete",
            "response": {"incomplete_details": {"reason": reason}}});
        let whole = done(0, call("a", "f", "{\"p\":1}"));
        stream(reason, &[whole, end], &format!("{finish}: "));
    }
}

#[test]
fn e7_the_worse_end_counts() {
    let end = |kind: &str, response: Value| json!({"type": kind, "response": response});
    let hi = || said(0, "hi");
    let cut = json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []});
    let rows = [
        ("completed, but incomplete", end("response.completed", cut.clone()), r#"Length: "hi""#),
        ("done, but incomplete", end("response.done", cut), r#"Length: "hi""#),
        (
            "completed, with a reason",
            end("response.completed", json!({"incomplete_details": {"reason": "content_filter"}})),
            r#"ContentFilter: "hi""#,
        ),
        (
            "completed, with no reason",
            end("response.completed", json!({"incomplete_details": {"reason": null}})),
            r#"Stop: "hi""#,
        ),
        ("completed, but failed", end("response.completed", json!({"status": "failed"})), AMID),
        (
            "completed, with an error",
            end("response.completed", json!({"status": "completed", "error": {"message": "boom"}})),
            AMID,
        ),
        ("done, but cancelled", end("response.done", json!({"status": "cancelled"})), AMID),
        (
            "in progress, with an error",
            end("response.in_progress", json!({"error": {"message": "boom"}})),
            AMID,
        ),
        ("failed without a reason", end("response.failed", json!({})), AMID),
        ("failed without a response", json!({"type": "response.failed"}), AMID),
        ("an error of its own type", json!({"type": "response.error", "message": "boom"}), AMID),
        ("flat, without a type", json!({"code": "server_error", "message": "boom"}), AMID),
        ("flat, with another type", json!({"type": "server_error", "message": "boom"}), AMID),
        (
            "a limit in the middle",
            json!({"type": "error", "status": 429, "error": {"message": "slow"}}),
            "failed RateLimited RATE_LIMITED unknown",
        ),
    ];
    for (name, event, expected) in rows {
        stream(name, &[hi(), event.clone()], expected);
        stream(name, &[hi(), event, completed(json!([]))], expected);
    }
    let mut part = message("hi");
    part["status"] = json!("incomplete");
    stream("a message that is cut", &[done(0, part), completed(json!([]))], r#"Length: "hi""#);
    let f = || done(0, call("a", "f", "{\"p\":1}"));
    let incomplete = |reason: Value| json!({"type": "response.incomplete", "response": {"incomplete_details": reason}});
    stream(
        "incomplete, with a call",
        &[f(), incomplete(json!({"reason": "max_tokens"}))],
        "Length: ",
    );
    stream("the same after the end of the bytes", &[f()], TRUNCATED);
    let named = b"event: error\ndata: {\"type\":\"x\",\"message\":\"boom\"}\n\n";
    check(Api::Responses, "named, with a type", named, FAILED);
    let gone = br#"{"error":{"code":"previous_response_not_found","message":"m"}}"#;
    let expected = "failed NotFound PREVIOUS_RESPONSE_NOT_FOUND not committed";
    check(Api::Responses, "a response that is gone", gone, expected);
}

#[test]
fn e8_reasoning_with_and_without_what_it_may_have() {
    let item = |fields: Value| {
        let mut item = json!({"type": "reasoning", "id": "rs_1"});
        item.as_object_mut()
            .expect("an item")
            .extend(fields.as_object().cloned().unwrap_or_default());
        item
    };
    let kept = |name: &str, fields: Value, expected: &str| {
        let frames =
            [done(0, item(fields)), done(1, call("a", "f", "{\"p\":1}")), completed(json!([]))];
        stream(name, &frames, &format!(r#"ToolCalls: {expected} f#a{{"p":1}}"#));
    };
    kept("nothing", json!({}), r#"( | {"id":"rs_1","summary":[],"type":"reasoning"})"#);
    kept(
        "nulls",
        json!({"summary": null, "content": null, "encrypted_content": null, "status": null}),
        r#"( | {"id":"rs_1","summary":[],"type":"reasoning"})"#,
    );
    kept(
        "a summary",
        json!({"summary": [{"type": "summary_text", "text": "hm"}]}),
        r#"(hm | {"id":"rs_1","summary":[{"text":"hm","type":"summary_text"}],"type":"reasoning"})"#,
    );
}

#[test]
fn e5_items_that_others_said_are_not_the_models() {
    let echo = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "ask"}]});
    let frames = [done(0, echo), done(1, message("hi")), completed(json!([]))];
    stream("the user's", &frames, r#"Stop: "hi""#);
}

//! What is left out after which refusal, and for whom.

use model_wire::Refusal;
use runtime_ports::{ModelMessage, ModelRole, Transcript};

use super::{Parts, Refused};
use crate::body::Marks;

fn refusal(message: &str) -> Refusal {
    let error = serde_json::json!({"type": "invalid_request_error", "message": message});
    Refusal::of_value(&serde_json::json!({"type": "error", "error": error}))
}

fn history(texts: &[&str]) -> Transcript {
    let messages = texts.iter().map(|text| ModelMessage::text(ModelRole::User, *text));
    Transcript::from(messages.collect::<Vec<_>>())
}

const BOUND: &str = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is \
                     bound to a different conversation.";

#[test]
fn marks_are_left_out_of_every_later_request() {
    let (refused, messages) = (Refused::default(), history(&["a"]));
    let parts = refused.parts(&messages, Marks::Set);
    assert_eq!(parts, Parts { marks: Marks::Set, bare: 0, thinks: true });
    let extra = refusal("system.0.cache_control: Extra inputs are not permitted");
    assert!(refused.learn(&extra, &messages, parts));
    let parts = refused.parts(&history(&["b"]), Marks::Set);
    assert_eq!(parts.marks, Marks::Left);
    assert!(!refused.learn(&extra, &messages, parts), "nothing is left to leave out");
}

#[test]
fn reasoning_is_left_out_of_what_was_refused_and_of_nothing_else() {
    let (refused, short) = (Refused::default(), history(&["a", "b", "c"]));
    let parts = refused.parts(&short, Marks::Set);
    assert!(refused.learn(&refusal(BOUND), &short, parts));
    assert_eq!(refused.parts(&short, Marks::Set).bare, 3);
    assert!(!refused.learn(&refusal(BOUND), &short, refused.parts(&short, Marks::Set)));
    let longer = history(&["a", "b", "c", "d", "e"]);
    assert_eq!(refused.parts(&longer, Marks::Set).bare, 3, "what came later is kept");
    assert_eq!(refused.parts(&history(&["a", "b"]), Marks::Set).bare, 0, "another history");
    assert!(refused.learn(&refusal(BOUND), &longer, refused.parts(&longer, Marks::Set)));
    assert_eq!(refused.parts(&longer, Marks::Set).bare, 5);
}

#[test]
fn other_refusals_leave_nothing_out() {
    let (refused, messages) = (Refused::default(), history(&["a"]));
    let parts = refused.parts(&messages, Marks::Set);
    for message in [
        "messages: at least one message is required",
        "thinking.budget_tokens: must be greater than 1024",
        "cache_control: a maximum of 4 blocks may be marked",
        "prompt is too long: 9 tokens > 8 maximum; signature in thinking",
        "temperature: extra inputs are not permitted",
    ] {
        assert!(!refused.learn(&refusal(message), &messages, parts), "{message}");
    }
    assert_eq!(refused.parts(&messages, Marks::Set), parts);
}

const UNTHOUGHT: &str = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found \
                         `tool_use`. When `thinking` is enabled, a final `assistant` message must start \
                         with a thinking block.";

#[test]
fn a_turn_that_began_without_thoughts_goes_on_without_them() {
    let refused = Refused::default();
    let speaks = |role, text: &str| ModelMessage::text(role, text);
    let mut messages = history(&["a"]);
    messages.push(speaks(ModelRole::Assistant, "b"));
    messages.push(speaks(ModelRole::Tool, "c"));
    let parts = refused.parts(&messages, Marks::Set);
    assert!(parts.thinks && refused.learn(&refusal(UNTHOUGHT), &messages, parts));
    let silent = refused.parts(&messages, Marks::Set);
    assert_eq!(silent, Parts { thinks: false, ..parts });
    assert!(!refused.learn(&refusal(UNTHOUGHT), &messages, silent), "nothing is left to leave out");
    messages.push(speaks(ModelRole::Assistant, "d"));
    messages.push(speaks(ModelRole::Tool, "e"));
    assert!(!refused.parts(&messages, Marks::Set).thinks, "the same turn");
    messages.push(speaks(ModelRole::User, "f"));
    assert!(refused.parts(&messages, Marks::Set).thinks, "the next turn");
    assert!(refused.parts(&history(&["x"]), Marks::Set).thinks, "another history");
}

//! Holds exchanges to one result a call, in order, whatever ids the model chose.

use proptest::prelude::*;
use runtime_ports::{ModelContent, ModelMessage, ToolResult};
use serde_json::json;

use super::{Exchange, SurfacedIds};

fn call(id: &str, name: &str) -> ModelContent {
    ModelContent::ToolUse { id: id.into(), name: name.into(), arguments: json!({}) }
}

/// Answers every surfaced call with its own id; gives the surfaced ids and the messages.
fn play(output: Vec<ModelContent>, surfaced: &mut SurfacedIds) -> (Vec<String>, [ModelMessage; 2]) {
    let mut exchange = Exchange::new(output, surfaced);
    let mut seen = Vec::new();
    while let Some(call) = exchange.next_call() {
        exchange.answer(ToolResult { success: true, text: format!("of {}", call.call_id) });
        seen.push(call.call_id);
    }
    (seen, exchange.into_messages())
}

fn ids_of(message: &ModelMessage) -> Vec<&str> {
    let ids = message.content.iter().filter_map(|content| match content {
        ModelContent::ToolUse { id, .. } => Some(id.as_str()),
        ModelContent::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_str()),
        _ => None,
    });
    ids.collect()
}

fn texts_of(message: &ModelMessage) -> Vec<(&str, bool)> {
    let texts = message.content.iter().filter_map(|content| match content {
        ModelContent::ToolResult { content, failed, .. } => Some((content.as_str(), *failed)),
        _ => None,
    });
    texts.collect()
}

#[test]
fn calls_keep_their_ids_and_their_order() {
    let output = vec![ModelContent::text("look"), call("b", "read"), call("a", "write")];
    let (seen, [said, results]) = play(output.clone(), &mut SurfacedIds::default());
    assert_eq!(seen, ["b", "a"]);
    assert_eq!(said.content, output);
    assert_eq!(ids_of(&results), ["b", "a"]);
    assert_eq!(texts_of(&results), [("of b", false), ("of a", false)]);
}

#[test]
fn of_calls_that_share_an_id_the_first_wins() {
    let output = vec![call("a", "delete"), call("a", "delete"), call("b", "read")];
    let (seen, [said, results]) = play(output, &mut SurfacedIds::default());
    assert_eq!(seen, ["a", "b"], "the later one is not surfaced");
    assert_eq!(ids_of(&said), ["a", "a-2", "b"]);
    assert_eq!(ids_of(&results), ["a", "a-2", "b"]);
    let texts = texts_of(&results);
    assert_eq!([texts[0], texts[2]], [("of a", false), ("of b", false)]);
    let refusal: serde_json::Value = serde_json::from_str(texts[1].0).unwrap();
    assert_eq!(refusal["error_code"], "duplicate_tool_call_id");
    assert_eq!((&refusal["tool_name"], texts[1].1), (&json!("delete"), true));
}

#[test]
fn an_id_of_an_earlier_answer_is_surfaced_under_a_fresh_one_and_kept_in_the_thread() {
    let mut surfaced = SurfacedIds::default();
    let (first, _) = play(vec![call("a", "read")], &mut surfaced);
    let (second, [said, results]) = play(vec![call("a", "read")], &mut surfaced);
    assert_eq!((first, second), (vec!["a".to_owned()], vec!["a-2".to_owned()]));
    assert_eq!((ids_of(&said), ids_of(&results)), (vec!["a"], vec!["a"]));
}

#[test]
fn an_empty_id_gets_a_name() {
    let output = vec![call("", "read"), call("", "read")];
    let (seen, [said, _]) = play(output, &mut SurfacedIds::default());
    assert_eq!(ids_of(&said), ["call", "call-2"]);
    assert_eq!(seen.len(), 2, "two calls without an id are two calls");
}

proptest! {
    #[test]
    fn every_call_has_exactly_one_result_and_every_surfaced_id_is_new(
        answers in proptest::collection::vec(
            proptest::collection::vec("(a|a-2|b|)", 1..5),
            1..5,
        ),
    ) {
        let mut surfaced = SurfacedIds::default();
        let mut all_seen = Vec::new();
        for ids in answers {
            let output = ids.iter().map(|id| call(id, "read")).collect();
            let (seen, [said, results]) = play(output, &mut surfaced);
            prop_assert_eq!(ids_of(&said), ids_of(&results));
            prop_assert_eq!(ids_of(&said).len(), ids.len());
            let mut distinct = ids_of(&said);
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), ids.len());
            all_seen.extend(seen);
        }
        let surfaced = all_seen.len();
        all_seen.sort_unstable();
        all_seen.dedup();
        prop_assert_eq!(all_seen.len(), surfaced);
    }
}

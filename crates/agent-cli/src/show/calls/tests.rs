//! Decides whether a reader can tell which call a line is about.

use std::sync::Arc;

use serde_json::json;

use super::Calls;

#[test]
fn a_call_is_named_again_unless_its_own_line_is_the_newest() {
    let mut calls = Calls::default();
    let ids: [Arc<str>; 2] = ["a".into(), "b".into()];
    let numbers =
        ids.each_ref().map(|id| calls.begin(id, "read_file", &json!({ "path": "x" })).number);
    assert_eq!(numbers, [1, 2]);
    let mut told = |id| calls.mention(id).map(|call| (call.number, call.again.is_some()));
    assert_eq!(told("b"), Some((2, false)));
    assert_eq!(told("a"), Some((1, true)));
    assert_eq!(told("a"), Some((1, false)));
    assert_eq!(told("c"), None, "it was never reached");
}

#[test]
fn an_id_names_another_call_in_the_next_cycle() {
    let mut calls = Calls::default();
    let id: Arc<str> = "call-1".into();
    calls.begin(&id, "list_files", &json!({}));
    calls.open_cycle();
    assert_eq!(calls.mention(&id), None);
    assert_eq!(calls.begin(&id, "list_files", &json!({})).number, 2);
}

//! Decides whether a reader can tell which call a line is about.

use std::sync::Arc;

use serde_json::json;

use super::Calls;

#[test]
fn a_call_is_named_again_unless_its_own_line_is_the_newest() {
    let mut calls = Calls::default();
    let ids: [Arc<str>; 2] = ["a".into(), "b".into()];
    let run: Arc<str> = "run".into();
    let arguments = json!({ "path": "x" });
    let numbers = ids.each_ref().map(|id| calls.begin(&run, id, "read_file", &arguments).number);
    assert_eq!(numbers, [1, 2]);
    let mut told = |id| calls.mention(&run, id).map(|call| (call.number, call.again.is_some()));
    assert_eq!(told("b"), Some((2, false)));
    assert_eq!(told("a"), Some((1, true)));
    assert_eq!(told("a"), Some((1, false)));
    assert_eq!(told("c"), None, "it was never reached");
}

#[test]
fn an_id_names_another_call_in_the_next_cycle() {
    let mut calls = Calls::default();
    let id: Arc<str> = "call-1".into();
    let run: Arc<str> = "run".into();
    calls.begin(&run, &id, "list_files", &json!({}));
    calls.forget(&run);
    assert_eq!(calls.mention(&run, &id), None);
    assert_eq!(calls.begin(&run, &id, "list_files", &json!({})).number, 2);
}

#[test]
fn runs_that_are_under_way_together_keep_their_calls_apart() {
    let mut calls = Calls::default();
    let [parent, child]: [Arc<str>; 2] = ["parent".into(), "child".into()];
    let id: Arc<str> = "call-1".into();
    calls.begin(&parent, &id, "create_sub_task", &json!({}));
    calls.begin(&child, &id, "read_file", &json!({}));
    calls.forget(&child);
    assert_eq!(calls.mention(&parent, &id).map(|call| call.number), Some(1));
}

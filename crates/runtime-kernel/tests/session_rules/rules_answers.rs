//! Rule 8: who gets the model's final answer.

use in_memory_fakes::TurnScript;
use runtime_kernel::{RoundCompletion, SessionControl, SessionToolOutcome};
use serde_json::json;

use crate::scenario::scenario;

#[tokio::test]
async fn rule_08_the_answer_goes_to_complete_round_even_when_it_is_empty() {
    for answer in ["x", "", " \n"] {
        let outcome = scenario().turn(TurnScript::new().complete(answer)).run().await;
        let completed = format!("complete {answer}");
        let log = ["prepare 1", "submitted 1", "input 1", "receipt 1 completed", &completed];
        outcome.is(Some(answer), &log);
    }
}

#[tokio::test]
async fn rule_08_a_pending_capture_gets_the_answer_instead() {
    let capture =
        SessionToolOutcome { capture: Some(json!("note")), ..SessionToolOutcome::success("t") };
    let script = || TurnScript::new().ktool("write", json!({}), "c1").complete("contents");
    let outcome = scenario()
        .turn(script())
        .turn(script())
        .outcome(capture)
        .control(SessionControl::Continue)
        .run()
        .await;
    assert_eq!(outcome.host.captures, [(json!("note"), "contents".to_owned())]);
    assert_eq!(outcome.host.log[5..7], ["receipt 1 completed", "capture contents"]);
    assert_eq!(outcome.host.completions.len(), 1, "the second round has no capture pending");
    assert_eq!(outcome.result.unwrap().as_deref(), Some("contents"));
}

#[tokio::test]
async fn rule_08_facts_are_those_of_their_round_and_finishing_is_left_to_the_host() {
    let wishes = SessionToolOutcome {
        finish_after_round: true,
        emitted_response: true,
        ..SessionToolOutcome::success("t")
    };
    let outcome = scenario()
        .turn(TurnScript::new().ktool("look", json!({}), "c1").complete("one"))
        .turn(TurnScript::new().complete("two"))
        .outcome(wishes)
        .control(SessionControl::Continue)
        .run()
        .await;
    let completion = |answer: &str, fact| RoundCompletion {
        answer: answer.into(),
        used_tool: fact,
        finish_requested: fact,
        emitted_response: fact,
    };
    assert_eq!(outcome.host.completions, [completion("one", true), completion("two", false)]);
    assert_eq!(outcome.result.unwrap().as_deref(), Some("two"));
}

//! Rules 7, 8 and 9: what the answer of a run is.

use anyhow::anyhow;
use in_memory_fakes::TurnScript;
use runtime_kernel::{AuditEvent, SubagentError, ToolOutcome};
use serde_json::json;

use crate::stage::{CONTEXT, Played, Stage, TASK, calling, capturing, estimate, set, success};

fn reason(played: &Played) -> &SubagentError {
    played.error().downcast_ref().expect("a reason of the run's own")
}

fn capture_stage(answer: &str) -> Stage {
    Stage::new(calling(&["write"]).complete(answer)).outcome(capturing("write it now"))
}

#[tokio::test]
async fn rule_07_the_final_answer_is_the_contents_and_the_outcome_is_the_result() {
    let stage = capture_stage("\n the page \n").captures_to(Ok(ToolOutcome::success("  kept \n")));
    let played = stage.play().await;
    assert_eq!(played.host.contents.as_deref(), Some("\n the page \n"), "exactly as it came");
    assert_eq!(played.host.capture_token, Some(json!({ "page": 3 })), "verbatim");
    let stands = estimate(&[CONTEXT, TASK, "call of write", "write it now"]);
    assert_eq!(played.estimates()[1], stands, "the budget of the projection as it stands");
    assert_eq!(played.answer(), "kept");
    assert_eq!(played.host.asked[6..], ["ProviderReceipt", "capture", "Completed"]);
}

#[tokio::test]
async fn rule_07_an_empty_capture_is_an_error() {
    let played = capture_stage(" \n ").play().await;
    assert_eq!(reason(&played), &SubagentError::EmptyCapture);
    assert_eq!(played.host.contents, None, "the host is not asked");
}

#[tokio::test]
async fn rule_07_the_result_of_a_capture_must_be_a_success_nonempty_and_fit() {
    let failed = SubagentError::CaptureFailed { reason: "full".to_owned() };
    let huge_state = success("kept", vec![set("page", &"p".repeat(500_000))], &[]);
    let cases = [
        (ToolOutcome::failure("full"), failed),
        (ToolOutcome::success(" \n"), SubagentError::EmptyCaptureResult),
        (ToolOutcome::success("x".repeat(500_000)), SubagentError::CaptureTooLarge),
        (huge_state, SubagentError::CaptureTooLarge),
    ];
    for (outcome, expected) in cases {
        let played = capture_stage("the page").captures_to(Ok(outcome)).play().await;
        assert_eq!(reason(&played), &expected);
        assert_eq!(played.event_names().last(), Some(&"ProviderReceipt"));
    }
}

#[tokio::test]
async fn rule_07_it_is_the_trimmed_text_that_has_to_fit() {
    let padded = ToolOutcome::success(format!("kept{}", " ".repeat(500_000)));
    let played = capture_stage("the page").captures_to(Ok(padded)).play().await;
    assert_eq!(played.answer(), "kept");
}

#[tokio::test]
async fn rule_07_an_error_of_complete_capture_ends_the_run_after_the_receipt() {
    let played = capture_stage("the page").captures_to(Err(anyhow!("capture broke"))).play().await;
    assert_eq!(played.error().to_string(), "capture broke");
    assert_eq!(played.host.asked[6..], ["ProviderReceipt", "capture"]);
}

#[tokio::test]
async fn rule_08_the_trimmed_answer_is_the_result() {
    let played = Stage::new(TurnScript::new().complete(" \n done. \n")).play().await;
    assert_eq!(played.answer(), "done.");
    let Some(AuditEvent::Completed { model, response, .. }) = played.host.events.last() else {
        panic!("completed last")
    };
    assert_eq!((model.as_str(), response.as_str()), ("alias", "done."));
}

#[tokio::test]
async fn rule_08_an_empty_answer_is_an_error_that_differs_with_and_without_tools() {
    let played = Stage::new(TurnScript::new().complete(" \n")).play().await;
    assert_eq!(reason(&played), &SubagentError::EmptyAnswer);
    let used = Stage::new(calling(&["list"]).complete("")).outcome(ToolOutcome::success("ok"));
    assert_eq!(reason(&used.play().await), &SubagentError::EmptyAnswerAfterTools);
    let invalid = TurnScript::new().call("other_tool", json!({}), "bad").complete("");
    let played = Stage::new(invalid).play().await;
    assert_eq!(reason(&played), &SubagentError::EmptyAnswerAfterTools, "invalid calls count");
}

#[tokio::test]
async fn rule_09_completed_is_recorded_last_and_once() {
    let stage = Stage::new(calling(&["list"]).complete("done"));
    let played = stage.outcome(ToolOutcome::success("ok")).play().await;
    let order =
        ["Started", "InferenceSubmitted", "ToolCall", "ToolResult", "ProviderReceipt", "Completed"];
    assert_eq!(played.event_names(), order);
}

#[tokio::test]
async fn rule_09_a_completion_that_cannot_be_recorded_is_no_success() {
    let stage = Stage::new(TurnScript::new().complete("done")).fails_to_record("Completed");
    let played = stage.play().await;
    assert_eq!(played.error().to_string(), "record of Completed failed");
    assert_eq!(played.event_names().last(), Some(&"ProviderReceipt"));
}

//! Rules 4 and 5: what becomes of a tool call and of its result.

use anyhow::{Context as _, anyhow};
use in_memory_fakes::TurnScript;
use runtime_kernel::{AuditEvent, ToolOutcome};
use runtime_ports::{PortFailure, PortFailureKind};
use serde_json::{Value, json};

use crate::stage::{CONTEXT, Stage, TASK, calling, capturing, estimate, set, success};

#[tokio::test]
async fn rule_04_a_valid_call_is_audited_then_rendered_then_executed() {
    let script = TurnScript::new()
        .ktool("list", json!({ "path": "." }), "call-1")
        .answered(true, "a.md")
        .complete("done");
    let played = Stage::new(script).outcome(ToolOutcome::success("a.md")).play().await;
    let order =
        ["ToolCall", "render", "execute list", "ToolResult", "ProviderReceipt", "Completed"];
    assert_eq!(played.host.asked[2..], order);
    let AuditEvent::ToolCall { name, arguments, .. } = &played.host.events[2] else { panic!() };
    assert_eq!((name.as_str(), arguments), ("list", &json!({ "path": "." })));
    assert_eq!(played.results(), [(true, true, "a.md")]);
    let turn = played.intelligence.started()[0].operation_id;
    assert_eq!(played.host.turn_ids, [turn], "the call is made for the turn");
}

#[tokio::test]
async fn rule_04_the_budget_is_that_of_the_projection_as_it_stands() {
    let script = calling(&["one", "two"]).complete("done");
    let stage = Stage::new(script);
    let stage =
        stage.outcome(ToolOutcome::success("first")).outcome(ToolOutcome::success("second"));
    let played = stage.play().await;
    let before_one = estimate(&[CONTEXT, TASK, "call of one"]);
    let before_two = estimate(&[CONTEXT, TASK, "call of one", "first", "call of two"]);
    assert_eq!(played.estimates(), [before_one, before_two]);
    assert_eq!(played.host.budgets[0].max_input_tokens(), 100_000);
}

/// An invalid call, and what the model is told of it.
async fn check_invalid(tool: &str, arguments: Value) -> String {
    let script = TurnScript::new()
        .call(tool, arguments, "bad")
        .ktool("list", json!({}), "good")
        .complete("done");
    let played = Stage::new(script).outcome(ToolOutcome::success("ok")).play().await;
    let audited = ["Started", "InferenceSubmitted", "ToolCall", "ToolResult", "ProviderReceipt"];
    assert_eq!(played.event_names()[..5], audited, "{tool}: only the valid call is audited");
    let (success, told) = played.answers().remove(0);
    assert!(!success, "{tool}");
    let entered = estimate(&[CONTEXT, TASK, &told, "call of list"]);
    assert_eq!(played.estimates(), [entered], "{tool}: the answer enters the history");
    told
}

#[tokio::test]
async fn rule_04_an_invalid_call_is_answered_as_failure_and_not_audited() {
    let secret = "a payload that is never echoed";
    let cases = [
        ("other_tool", json!({ "name": "list", "arguments": {} })),
        ("call_ktool", json!(secret)),
        ("call_ktool", json!({ "name": "list", "arguments": {}, "extra": secret })),
        ("call_ktool", json!({ "name": "", "arguments": {} })),
        ("call_ktool", json!({ "name": secret.repeat(20), "arguments": {} })),
        ("call_ktool", json!({ "name": "list", "arguments": secret })),
        ("call_ktool", json!({ "name": "list" })),
    ];
    for (tool, arguments) in cases {
        let told = check_invalid(tool, arguments).await;
        assert!(!told.contains(secret), "{told}");
        assert!(told.len() < 200, "{told}");
    }
}

#[tokio::test]
async fn rule_04_a_host_error_is_a_failed_outcome_named_after_the_tool() {
    let script = calling(&["list"]).complete("done");
    let played = Stage::new(script).host_error(anyhow!("disk is gone")).play().await;
    assert_eq!(played.answer(), "done", "the run goes on");
    let (success, told) = played.answers().remove(0);
    assert!(!success);
    assert!(told.starts_with("list failed: disk is gone"), "{told}");
    assert_eq!(played.results(), [(false, true, told.as_str())]);
}

/// A disposition lost while one error type is mapped to another, so that the model repeats a
/// committed write.
#[tokio::test]
async fn regression_the_disposition_survives_the_mapping_of_host_errors() {
    let kind = PortFailureKind::Unavailable;
    let cases = [
        (PortFailure::committed(kind, "C", "reply lost"), "it took effect, do not repeat it"),
        (PortFailure::in_flight_unknown(kind, "C", "reply lost"), "it may have taken effect"),
        (PortFailure::rejected(kind, "C", "no"), "nothing was changed"),
    ];
    for (failure, words) in cases {
        let commit = failure.commit;
        let own = HostError { cause: failure.clone() };
        for error in [failure.clone().into(), wrapped(failure), own.into()] {
            let script = calling(&["write"]).complete("done");
            let played = Stage::new(script).host_error(error).play().await;
            let (_, told) = played.answers().remove(0);
            assert!(told.contains(words), "{commit:?}: {told}");
        }
    }
    let script = calling(&["write"]).complete("done");
    let played = Stage::new(script).host_error(anyhow!("no idea")).play().await;
    assert!(played.answers()[0].1.contains("it may have taken effect"), "unknown is not harmless");
}

/// An error type of a host, as it would write one.
#[derive(Debug)]
struct HostError {
    cause: PortFailure,
}

impl std::fmt::Display for HostError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the host gave up")
    }
}

impl std::error::Error for HostError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

fn wrapped(failure: PortFailure) -> anyhow::Error {
    let inner: anyhow::Result<()> = Err(failure.into());
    inner.context("while writing").context("in the host").expect_err("an error")
}

#[tokio::test]
async fn rule_05_a_failed_outcome_brings_its_text_only() {
    for shows in [&[][..], &["notes"][..]] {
        let mut failed = success("failed", vec![set("notes", "never")], shows);
        (failed.ok, failed.capture) = (false, Some(json!("token")));
        let script = calling(&["one", "two"]).complete("done");
        let stage = Stage::new(script).outcome(failed).outcome(ToolOutcome::success("ok"));
        let played = stage.play().await;
        assert_eq!(played.answer(), "done", "its capture does not count");
        assert_eq!(played.answers()[0], (false, "failed".to_owned()));
        let before_two = estimate(&[CONTEXT, TASK, "call of one", "failed", "call of two"]);
        assert_eq!(played.estimates()[1], before_two, "its updates do not count");
    }
}

/// A result that does not fit: state unchanged, capture dropped, result audited exactly.
async fn check_withheld(outcome: ToolOutcome) {
    let (ok, large) = (outcome.ok, outcome.text.clone());
    let script = calling(&["one", "two"]).complete("done");
    let stage = Stage::new(script).max_input_tokens(estimate(&[]) + 200);
    let stage = stage.outcome(outcome).outcome(ToolOutcome::success("small"));
    let played = stage.play().await;
    assert_eq!(played.results(), [(ok, false, large.as_str()), (true, true, "small")]);
    let (success, told) = played.answers().remove(0);
    assert!(!success, "the model is told of a failure");
    assert!(told.contains("The tool ran") && told.contains("Do not retry"), "{told}");
    let before_two = estimate(&[CONTEXT, TASK, "call of one", &told, "call of two"]);
    assert_eq!(played.estimates()[1], before_two, "the call stays, the failure follows");
    assert_eq!(played.answer(), "done", "the capture is dropped");
}

#[tokio::test]
async fn rule_05_a_result_that_does_not_fit_changes_nothing_and_is_audited_exactly() {
    let mut outcome = success(&"r".repeat(900), vec![set("notes", "new")], &["notes"]);
    outcome.capture = Some(json!("token"));
    check_withheld(outcome).await;
}

#[tokio::test]
async fn rule_05_a_small_result_with_a_state_that_does_not_fit_goes_the_same_way() {
    check_withheld(success("r", vec![set("notes", &"s".repeat(900))], &[])).await;
}

#[tokio::test]
async fn rule_05_a_failed_result_that_does_not_fit_goes_the_same_way() {
    check_withheld(ToolOutcome::failure("f".repeat(900))).await;
}

#[tokio::test]
async fn rule_05_what_fits_exactly_is_accepted() {
    let call_and_result = |length: usize| {
        let result = "r".repeat(length);
        let needed = estimate(&[CONTEXT, TASK, "call of one", &result]);
        (ToolOutcome::success(result), needed)
    };
    for (spare, accepted) in [(0, true), (1, false)] {
        let (outcome, needed) = call_and_result(400);
        let script = calling(&["one"]).complete("done");
        let stage = Stage::new(script).max_input_tokens(needed - spare).outcome(outcome);
        assert_eq!(stage.play().await.results()[0].1, accepted, "{spare} tokens short");
    }
}

#[tokio::test]
async fn rule_07_calls_after_a_capture_never_reach_the_host() {
    let script = TurnScript::new()
        .ktool("write", json!({}), "call-1")
        .ktool("list", json!({}), "call-2")
        .call("other_tool", json!(1), "call-3")
        .complete("the page");
    let stage = Stage::new(script).outcome(capturing("write it now"));
    let played = stage.captures_to(Ok(ToolOutcome::success("kept"))).play().await;
    let reached = ["ToolCall", "render", "execute write", "ToolResult", "ProviderReceipt"];
    assert_eq!(played.host.asked[2..7], reached);
    let answers = played.answers();
    assert_eq!(answers.len(), 3, "every call is answered");
    assert!(answers[1..].iter().all(|(success, told)| !success && told.contains("final answer")));
}

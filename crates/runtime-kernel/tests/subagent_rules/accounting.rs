//! Rules 4 and 9: one receipt for every turn that started, whatever happened to it.

use std::{future::Future, pin::pin, task::Poll, time::Duration};

use anyhow::anyhow;
use in_memory_fakes::TurnScript;
use runtime_kernel::{AccountingError, AuditEvent, ToolOutcome};
use runtime_ports::{Intelligence, PortFailure, PortFailureKind, TokenUsage, TurnEnd};
use uuid::Uuid;

use crate::stage::{Played, Stage, calling, capturing};

fn unreachable_server() -> PortFailure {
    PortFailure::in_flight_unknown(PortFailureKind::Unavailable, "DOWN", "server is down")
}

/// The one receipt that the host was given.
fn receipt(played: &Played) -> (Option<TokenUsage>, TurnEnd) {
    let receipts: Vec<_> = played
        .host
        .events
        .iter()
        .filter_map(|event| match event {
            AuditEvent::ProviderReceipt { usage, receipt, round: 1, .. } => {
                Some((*usage, receipt.end))
            }
            _ => None,
        })
        .collect();
    assert_eq!(receipts.len(), 1, "{:?}", played.host.asked);
    receipts[0]
}

/// A run that breaks: its error, and one receipt that ended so, recorded last.
async fn check_broken(stage: Stage, error: &str, end: TurnEnd) {
    let played = stage.play().await;
    assert_eq!(format!("{:#}", played.error()), error);
    assert_eq!(receipt(&played).1, end, "{error}");
    assert_eq!(played.event_names().last(), Some(&"ProviderReceipt"), "{error}");
}

fn ok_call() -> Stage {
    Stage::new(calling(&["list"])).outcome(ToolOutcome::success("ok"))
}

#[tokio::test]
async fn rule_04_errors_of_the_host_end_the_run_after_the_receipt() {
    let interrupted = TurnEnd::Interrupted;
    let stage = Stage::new(calling(&["list"]));
    check_broken(stage.fails_to_render(), "render failed", interrupted).await;
    let stage = Stage::new(calling(&["list"])).fails_to_record("ToolCall");
    check_broken(stage, "record of ToolCall failed", interrupted).await;
    check_broken(
        ok_call().fails_to_record("ToolResult"),
        "record of ToolResult failed",
        interrupted,
    )
    .await;
}

#[tokio::test]
async fn rule_09_every_way_a_turn_can_break_leaves_one_receipt() {
    let failed = Stage::new(calling(&[]).fail(unreachable_server()));
    check_broken(failed, "DOWN: server is down", TurnEnd::Failed).await;
    let failed_start = Stage::new(TurnScript::fail_start(unreachable_server()));
    check_broken(failed_start, "DOWN: server is down", TurnEnd::Failed).await;
    let ended = "the provider ended its turn without a terminal event; try again";
    check_broken(Stage::new(calling(&[]).end()), ended, TurnEnd::Interrupted).await;
    let refused = calling(&["list"]).answer_refused(unreachable_server());
    let refused = Stage::new(refused).outcome(ToolOutcome::success("ok"));
    check_broken(refused, "DOWN: server is down", TurnEnd::Interrupted).await;
}

#[tokio::test]
async fn rule_09_a_refused_start_leaves_none() {
    let refusal = PortFailure::rejected(PortFailureKind::Forbidden, "NO", "not allowed");
    let played = Stage::new(TurnScript::refuse_start(refusal)).play().await;
    assert_eq!(played.error().to_string(), "NO: not allowed");
    assert_eq!(played.event_names(), ["Started", "InferenceSubmitted"]);
    assert!(played.intelligence.receipts().is_empty());
}

#[tokio::test(start_paused = true)]
async fn rule_09_a_timeout_leaves_a_receipt_that_says_so() {
    let mut stage = Stage::new(calling(&[]).stall());
    stage.request.timeout = Some(Duration::from_secs(5));
    check_broken(stage, "DEADLINE_EXCEEDED: operation deadline exceeded", TurnEnd::TimedOut).await;
}

#[tokio::test(start_paused = true)]
async fn rule_09_cancelling_the_parent_leaves_a_receipt_that_says_so() {
    let (intelligence, runtime, request, mut host) = Stage::new(calling(&[]).stall()).set();
    let parent = request.parent_operation_id;
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        intelligence.cancel(parent).await.expect("cancelled")
    };
    let (result, hit) = tokio::join!(runtime.run(request, &mut host), cancel);
    assert!(hit, "the turn is a child of the parent operation");
    let played = Played { result, host, intelligence };
    assert_eq!(receipt(&played).1, TurnEnd::Cancelled);
}

#[tokio::test]
async fn rule_09_the_usage_is_the_last_that_the_turn_reported() {
    let usage = |tokens| TokenUsage { output_tokens: Some(tokens), ..TokenUsage::default() };
    let reported = TurnScript::new().usage(usage(1)).usage(usage(2));
    let completed = Stage::new(reported.clone().complete_with_usage("done", usage(3))).play().await;
    assert_eq!(receipt(&completed).0, Some(usage(3)));
    let withheld = Stage::new(reported.clone().complete_unmetered("done")).play().await;
    assert_eq!(receipt(&withheld).0, Some(usage(2)));
    let broken = Stage::new(reported.fail(unreachable_server())).play().await;
    assert_eq!(receipt(&broken).0, Some(usage(2)));
    let silent = Stage::new(TurnScript::new().complete_unmetered("done")).play().await;
    assert_eq!(receipt(&silent).0, None, "unknown is not zero");
}

/// An error whose receipt cannot be accounted for: both are returned, the first as the source.
async fn check_unaccounted(stage: Stage, accounting: &str, first: &str) {
    let played = stage.play().await;
    let chain: Vec<String> = played.error().chain().map(ToString::to_string).collect();
    assert_eq!(chain, [accounting, first]);
    assert!(played.error().downcast_ref::<AccountingError>().is_some());
    let tries = played.host.asked.iter().filter(|asked| *asked == "ProviderReceipt").count();
    assert!(tries <= 1, "a receipt is offered once");
}

#[tokio::test]
async fn rule_09_when_recording_fails_too_its_error_has_the_first_as_its_source() {
    let record = "record of ProviderReceipt failed";
    let first = "DOWN: server is down";
    let stage = Stage::new(calling(&[]).fail(unreachable_server()));
    check_unaccounted(stage.fails_to_record("ProviderReceipt"), record, first).await;
    let stage = Stage::new(TurnScript::fail_start(unreachable_server()));
    check_unaccounted(stage.fails_to_record("ProviderReceipt"), record, first).await;
    let stage = Stage::new(calling(&["list"])).fails_to_render();
    check_unaccounted(stage.fails_to_record("ProviderReceipt"), record, "render failed").await;
    let stage = Stage::new(calling(&["list"]).fail_finish(unreachable_server())).fails_to_render();
    check_unaccounted(stage, first, "render failed").await;
}

#[tokio::test]
async fn rule_09_a_receipt_that_cannot_be_recorded_is_no_success() {
    let stage = Stage::new(TurnScript::new().complete("done"));
    let played = stage.fails_to_record("ProviderReceipt").play().await;
    assert_eq!(played.error().to_string(), "record of ProviderReceipt failed");
    let capture = Stage::new(calling(&["write"]).complete("page")).outcome(capturing("now"));
    let played = capture.fails_to_record("ProviderReceipt").play().await;
    assert_eq!(played.host.contents, None, "no capture is completed before the receipt");
}

/// Polls `future` at most `polls` times, then drops it. True when it came to its end.
async fn drop_after(polls: usize, future: impl Future) -> bool {
    let mut future = pin!(future);
    let mut left = polls;
    std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        future.as_mut().poll(context).map(|_| true)
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn rule_09_a_dropped_run_leaves_one_receipt_wherever_it_was_dropped() {
    let mut polls = 0;
    loop {
        let wait = Duration::from_millis(1);
        let script = calling(&["one"]).delay(wait).complete("done").optional();
        let stage = Stage::new(script).outcome(capturing("now"));
        let stage = stage.captures_to(Err(anyhow!("the end")));
        let (intelligence, runtime, request, mut host) = stage.set();
        let ended = drop_after(polls, runtime.run(request, &mut host)).await;
        intelligence.assert_one_receipt_per_turn();
        if ended {
            break;
        }
        polls += 1;
    }
    assert!(polls >= 3, "dropped in the tool, at the provider and in the capture: {polls}");
}

#[tokio::test]
async fn rule_09_the_receipt_is_that_of_the_turn() {
    let played = Stage::new(TurnScript::new().complete("done")).play().await;
    let AuditEvent::ProviderReceipt { receipt, parent_operation_id, manifest_hash, .. } =
        &played.host.events[2]
    else {
        panic!("the receipt comes third")
    };
    assert_eq!(**receipt, played.intelligence.receipts()[0]);
    assert_eq!(*parent_operation_id, Uuid::from_u128(7));
    let AuditEvent::InferenceSubmitted { manifest_hash: submitted, .. } = &played.host.events[1]
    else {
        panic!("the submission comes second")
    };
    assert_eq!(manifest_hash, submitted);
}

#[tokio::test]
async fn rule_09_a_host_that_panics_leaves_one_receipt_too() {
    // No outcome is planned for the call, so that the host panics in it.
    let (intelligence, runtime, request, mut host) = Stage::new(calling(&["one"])).set();
    let run = tokio::spawn(async move { runtime.run(request, &mut host).await.map(drop) });
    assert!(run.await.expect_err("a panic").is_panic());
    intelligence.assert_one_receipt_per_turn();
    assert_eq!(intelligence.receipts()[0].end, TurnEnd::Interrupted);
}

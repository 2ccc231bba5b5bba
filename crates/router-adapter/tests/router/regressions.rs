//! Mistakes that runtimes of this kind have made, each with a test that finds it again.

use in_memory_fakes::{FaultPlan, ModelStep};
use runtime_ports::{CommitDisposition, Metering, TurnEnd};

use crate::stage::{Stage, call, disk_full, follow_to_call, start};

/// Accounting done in `Drop` cannot wait for a store, nor tell anybody that it failed. Here the
/// store fails at first, for a quarter of a second, which nothing in `Drop` could sit out.
#[tokio::test(start_paused = true)]
async fn accounting_done_in_drop() {
    let faults = FaultPlan::new().before("receipts.settle", 1, disk_full()).before(
        "receipts.settle",
        2,
        disk_full(),
    );
    let stage = Stage::with_faults([call("c").usage(4, 1)], &faults).await;
    let mut turn = stage.begin(&start("hello")).await;
    follow_to_call(turn.as_mut()).await;
    drop(turn);
    assert!(stage.store.settled().is_empty(), "dropping itself writes nothing");
    stage.router.settled().await;
    assert_eq!(stage.receipt().end, TurnEnd::Interrupted);
}

/// The store says "not committed" of its own write; the model call before it was paid for.
#[tokio::test(start_paused = true)]
async fn an_audit_failure_after_a_paid_model_call_surfacing_with_the_audits_disposition() {
    for name in ["receipts.note_request", "receipts.settle"] {
        let faults =
            (1..=3).fold(FaultPlan::new(), |plan, nth| plan.before(name, nth, disk_full()));
        let stage = Stage::with_faults([ModelStep::text("paid").usage(4, 1)], &faults).await;
        let course = stage.play().await;
        assert_eq!(disk_full().commit, CommitDisposition::NotCommitted);
        assert_eq!(course.failure().commit, CommitDisposition::Committed, "{name}");
        assert_eq!(course.failure().attempts.len(), 1, "{name}");
    }
}

/// A provider that reports nothing, or a part, has not reported zero.
#[tokio::test(start_paused = true)]
async fn an_unreported_token_count_stored_as_0() {
    let stage = Stage::new([ModelStep::text("silent")]).await;
    stage.play().await;
    let receipt = stage.receipt();
    assert_eq!((receipt.metering, receipt.cost_nano_usd), (Metering::Unavailable, None));
    assert!(receipt.is_lower_bound);
    let half = runtime_ports::TokenUsage { output_tokens: Some(3), ..Default::default() };
    let stage = Stage::new([ModelStep::text("half").token_usage(half)]).await;
    stage.play().await;
    let receipt = stage.receipt();
    assert_eq!((receipt.metering, receipt.cost_nano_usd), (Metering::Tokens(half), None));
    assert!(receipt.is_lower_bound);
}

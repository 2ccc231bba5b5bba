//! Receipts when the store fails, and when their owner dies.

use std::sync::Arc;

use in_memory_fakes::{FakeModel, Fault, FaultPlan, ModelStep};
use router_adapter::Router;
use runtime_ports::{
    CommitDisposition, Intelligence as _, Metering, PortFailure, PortFailureKind, TurnEnd,
    UsageReceipt,
};

use crate::stage::{
    Stage, call, disk_full, disk_lost, follow, follow_to_call, router_over, start, usage,
};

/// Three failures of a call in a row: more than the router repeats a write.
fn for_good(name: &str, fault: impl Into<Fault>) -> FaultPlan {
    let fault = fault.into();
    (1..=3).fold(FaultPlan::new(), |plan, nth| plan.before(name, nth, fault.clone()))
}

fn two_requests() -> [ModelStep; 2] {
    [call("c").usage(10, 2), ModelStep::text("done").usage(20, 3)]
}

/// What the next process finds: everything is settled.
async fn after_a_crash(stage: &Stage) -> Vec<UsageReceipt> {
    let store = stage.store.reopen_after_crash().with_faults(&FaultPlan::new());
    router_over(Arc::new(FakeModel::new([])), &store).await;
    assert!(store.open_turns().is_empty(), "the next start settles what was left open");
    store.settled()
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_cannot_be_opened_sends_nothing() {
    let stage = Stage::with_faults([], &for_good("receipts.open", disk_full())).await;
    let refused = stage.router.start_agent_turn(start("hello")).await.err().unwrap();
    assert_eq!(refused.failure.code, "receipt_not_opened");
    assert_eq!(refused.failure.commit, CommitDisposition::NotCommitted);
    assert_eq!((refused.failure.retryable, refused.receipt), (true, None));
    assert!(stage.model.calls().is_empty() && stage.store.settled().is_empty());
    stage.router.settled().await;
}

#[tokio::test(start_paused = true)]
async fn one_failure_of_the_store_is_made_good() {
    for name in ["receipts.open", "receipts.note_request", "receipts.settle"] {
        for plan in [
            FaultPlan::new().before(name, 1, disk_full()),
            FaultPlan::new().after(name, 1, disk_lost()),
            FaultPlan::new().after(name, 1, Fault::Stall),
        ] {
            let stage = Stage::with_faults(two_requests(), &plan).await;
            assert_eq!(stage.play().await.answer(), "done", "{plan:?}");
            let receipt = stage.receipt();
            assert_eq!(receipt.metering, Metering::Tokens(usage(30, 5)), "{plan:?}");
            assert!(receipt.losses.is_empty(), "{plan:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_cannot_be_noted_ends_the_turn_before_its_calls_run() {
    let faults = for_good("receipts.note_request", disk_full());
    let stage = Stage::with_faults([call("c").usage(10, 2)], &faults).await;
    let course = stage.play().await;
    assert_eq!(course.failure().code, "request_not_noted");
    assert!(course.calls().is_empty());
    let receipt = stage.receipt();
    assert_eq!((receipt.end, receipt.metering), (TurnEnd::Failed, Metering::Tokens(usage(10, 2))));
    assert!(receipt.losses[0].contains("request 0 could not be noted"), "{:?}", receipt.losses);
}

#[tokio::test(start_paused = true)]
async fn a_receipt_that_cannot_be_stored_fails_the_turn_and_is_settled_at_the_next_start() {
    for fault in [Fault::from(disk_full()), Fault::from(disk_lost()), Fault::Stall] {
        let stage = Stage::with_faults(two_requests(), &for_good("receipts.settle", fault)).await;
        let mut turn = stage.begin(&start("hello")).await;
        let course = follow(turn.as_mut()).await;
        assert_eq!(course.failure().code, "receipt_not_stored");
        let lost = course.failed_receipt();
        assert_eq!(lost.end, TurnEnd::Completed);
        assert!(lost.losses[0].contains("could not be stored"), "{:?}", lost.losses);
        let again = turn.finish_unavailable().await.unwrap_err();
        assert_eq!(again.code, "receipt_not_stored");
        assert_eq!(turn.continuation(), None);
        let [receipt] = &after_a_crash(&stage).await[..] else { panic!("one receipt") };
        assert_eq!((receipt.end, receipt.is_lower_bound), (TurnEnd::Interrupted, true));
        assert_eq!(receipt.metering, Metering::Tokens(usage(30, 5)), "all was noted");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_receipt_is_in_the_failure_of_a_turn_that_failed_anyway() {
    let refused = PortFailure::rejected(PortFailureKind::Invalid, "BAD", "bad request");
    let faults = for_good("receipts.settle", disk_full());
    let stage = Stage::with_faults([ModelStep::fail(refused)], &faults).await;
    let course = stage.play().await;
    assert_eq!((course.failure().kind, &*course.failure().code), (PortFailureKind::Invalid, "BAD"));
    assert!(course.failure().message.contains("DISK_FULL"), "{}", course.failure());
    assert_eq!(after_a_crash(&stage).await.len(), 1);
}

/// Wherever the store fails for good, before or after its effect: the turn that started has one
/// receipt after the next start, and no failure that follows a model call says "not committed".
#[tokio::test(start_paused = true)]
async fn every_place_where_the_store_can_fail() {
    let store_calls = 5; // unsettled, open, note, note, settle
    let grid = (2..=store_calls).flat_map(|first| (1..=4).map(move |failures| (first, failures)));
    for (first, failures) in grid {
        let calls = first..first + failures;
        let before = |plan: FaultPlan, nth| plan.before("receipts", nth, disk_full());
        let after = |plan: FaultPlan, nth| plan.after("receipts", nth, disk_lost());
        check_one_receipt(&calls.clone().fold(FaultPlan::new(), before)).await;
        check_one_receipt(&calls.fold(FaultPlan::new(), after)).await;
    }
}

async fn check_one_receipt(plan: &FaultPlan) {
    plan.unchecked();
    let stage = Stage::with_faults(two_requests(), plan).await;
    stage.model.unchecked();
    let started = stage.router.start_agent_turn(start("hello")).await;
    let is_started = started.is_ok();
    if let Ok(mut turn) = started {
        let course = follow(turn.as_mut()).await;
        let sent = !stage.model.requests().is_empty();
        if let Some(failure) = &course.failure {
            assert!(!sent || failure.failure.commit != CommitDisposition::NotCommitted, "{plan:?}");
        }
    }
    stage.router.settled().await;
    let receipts = after_a_crash(&stage).await;
    assert!(receipts.len() <= 1, "{plan:?}");
    assert!(!is_started || receipts.len() == 1, "{plan:?}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_whose_process_died_is_settled_with_what_was_noted() {
    let stage = Stage::new([call("c").usage(10, 2), ModelStep::stall()]).await;
    let mut turn = stage.begin(&start("hello")).await;
    let id = follow_to_call(turn.as_mut()).await;
    turn.respond(&id, crate::stage::done(&id)).await.unwrap();
    let waiting = tokio::time::timeout(std::time::Duration::from_secs(1), turn.next_event());
    assert!(waiting.await.is_err(), "the second request is in flight");
    let [receipt] = &after_a_crash(&stage).await[..] else { panic!("one receipt") };
    assert_eq!((receipt.end, receipt.requests.len()), (TurnEnd::Interrupted, 1));
    assert_eq!(receipt.metering, Metering::Tokens(usage(10, 2)));
    assert!(receipt.is_lower_bound && receipt.losses.len() == 1, "{receipt:?}");
    // The ghost of the dead owner changes nothing, and says so.
    let ghost = turn.finish_unavailable().await.unwrap_err();
    assert_eq!(ghost.code, "receipt_not_stored");
    assert_eq!(stage.store.settled().first(), Some(receipt));
}

#[tokio::test(start_paused = true)]
async fn a_single_router_settles_what_was_left_open_before_its_first_turn() {
    let stage = Stage::new([]).await;
    let turn = stage.begin(&start("left open")).await;
    let store = stage.store.reopen_after_crash();
    let router = Router::single(Arc::new(FakeModel::new([])), FakeModel::MODEL)
        .with_receipts(Arc::new(store.clone()));
    let mut next = start("next");
    next.request.model = FakeModel::MODEL.into();
    let second = router.start_agent_turn(next).await.unwrap();
    assert_eq!(store.settled().len(), 1, "the old turn, before the new one ended");
    drop((turn, second));
    router.settled().await;
    assert_eq!(store.settled().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_another_process_settled_first_is_no_obstacle() {
    let stage = Stage::new([]).await;
    let _left_open = stage.begin(&start("left open")).await;
    let taken = PortFailure::rejected(PortFailureKind::Conflict, "SETTLED", "settled already");
    let faults = FaultPlan::new().before("receipts.settle", 1, taken);
    let store = stage.store.reopen_after_crash().with_faults(&faults);
    router_over(Arc::new(FakeModel::new([])), &store).await;
    faults.assert_all_happened();
}

#[tokio::test(start_paused = true)]
async fn a_living_owners_turn_is_left_alone() {
    let stage = Stage::new([ModelStep::text("done")]).await;
    let mut turn = stage.begin(&start("hello")).await;
    router_over(Arc::new(FakeModel::new([])), &stage.store.another_owner()).await;
    assert!(stage.store.settled().is_empty());
    assert_eq!(follow(turn.as_mut()).await.answer(), "done");
    assert_eq!(stage.receipt().end, TurnEnd::Completed);
}

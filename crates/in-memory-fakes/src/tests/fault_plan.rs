//! Decides whether planned faults happen where they were planned, once, and are missed otherwise.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use runtime_ports::{
    CommitDisposition, Interruption, OperationContext, PortFailure, PortFailureKind,
};

use super::{cancelled, late, operation, outage, panic_of, verdict};
use crate::{Fault, FaultPlan};

/// Calls `call` once; true when the effect took place, and what came back.
async fn once(plan: &FaultPlan, call: &str) -> (bool, Result<(), PortFailure>) {
    once_by(plan, &operation("op"), call).await
}

async fn once_by(
    plan: &FaultPlan,
    operation: &OperationContext,
    call: &str,
) -> (bool, Result<(), PortFailure>) {
    let effects = AtomicU32::new(0);
    let effect = async {
        effects.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    let outcome = plan.call(operation, call, effect).await;
    (effects.into_inner() == 1, outcome)
}

#[tokio::test]
async fn faults_hit_the_nth_call_before_or_after_its_effect() {
    let plan = FaultPlan::new()
        .before("store.put", 2, outage())
        .after("store.put", 3, outage())
        .before("store", 4, outage())
        .before("store.get", 1, outage());
    assert_eq!(once(&plan, "store.put").await, (true, Ok(())));
    assert_eq!(once(&plan, "store.put").await, (false, Err(outage())));
    assert_eq!(once(&plan, "store.put").await, (true, Err(outage())));
    assert_eq!(once(&plan, "store.put").await, (false, Err(outage())), "fourth call of the port");
    assert_eq!(once(&plan, "other.put").await, (true, Ok(())));
    assert_eq!(once(&plan, "store.get").await, (false, Err(outage())));
    assert_eq!(once(&plan, "store.put").await, (true, Ok(())));
    plan.assert_all_happened();
}

#[tokio::test]
async fn two_faults_of_one_call_do_not_both_happen() {
    let plan = FaultPlan::new().before("store.put", 1, outage()).after("store.put", 1, outage());
    assert_eq!(once(&plan, "store.put").await, (false, Err(outage())));
    let message = panic_of(|| plan.assert_all_happened());
    assert!(message.contains("after call 1 of store.put: OUTAGE (did not happen)"), "{message}");
    assert_eq!(once(&plan, "store.put").await, (true, Ok(())), "it does not wait for another call");
    plan.unchecked();
}

#[tokio::test]
async fn a_fault_that_never_happened_panics_with_plan_and_calls() {
    let plan =
        FaultPlan::new().before("store.put", 2, outage()).after("store.get", 1, Fault::Stall);
    let _ = once(&plan, "store.put").await;
    let message = panic_of(|| drop(plan));
    let expected = "a planned fault did not happen
  plan:
    before call 2 of store.put: OUTAGE (did not happen)
    after call 1 of store.get: stall (did not happen)
  calls:
    store: 1
    store.put: 1
";
    assert_eq!(message, expected);
}

#[tokio::test]
async fn an_effect_that_fails_by_itself_keeps_its_own_failure() {
    let plan = FaultPlan::new().after("store.put", 1, outage());
    let own = PortFailure::rejected(PortFailureKind::Conflict, "TAKEN", "the name is taken");
    let effect = async { Err::<(), _>(own.clone()) };
    assert_eq!(plan.call(&operation("op"), "store.put", effect).await, Err(own.clone()));
    let message = panic_of(|| drop(plan));
    assert!(message.contains("(the effect itself failed: TAKEN)"), "{message}");
}

#[tokio::test]
async fn an_operation_that_ended_has_no_effect_and_does_not_count() {
    let plan = FaultPlan::new().before("store.put", 1, outage());
    for ended in [cancelled(), late()] {
        let effect = async { unreachable!("the effect of an ended operation") };
        let (_, commit) = verdict(plan.call::<()>(&ended, "store.put", effect).await);
        assert_eq!(commit, CommitDisposition::NotCommitted);
    }
    assert_eq!(once(&plan, "store.put").await, (false, Err(outage())));
}

#[tokio::test(start_paused = true)]
async fn a_stall_ends_with_the_deadline_or_the_cancellation_and_is_unknown() {
    let plan = FaultPlan::new().before("store", 1, Fault::Stall).after("store", 2, Fault::Stall);
    let brief = operation("brief").within(Duration::from_secs(5));
    let began = tokio::time::Instant::now();
    let outcome = plan.call(&brief, "store.put", async { Ok(()) }).await;
    assert_eq!(outcome, Err(Interruption::DeadlineExceeded.in_flight()));
    assert_eq!(began.elapsed(), Duration::from_secs(5));

    let operation = operation("cancelled");
    let cancel = async { operation.cancellation.cancel() };
    let (outcome, ()) = tokio::join!(plan.call(&operation, "store.put", async { Ok(()) }), cancel);
    assert_eq!(outcome, Err(Interruption::Canceled.in_flight()));
}

#[tokio::test(start_paused = true)]
async fn a_delay_passes_and_the_call_goes_on() {
    let wait = Fault::Delay(Duration::from_secs(5));
    let plan = FaultPlan::new().before("store", 1, wait.clone()).after("store", 1, wait);
    let began = tokio::time::Instant::now();
    assert_eq!(once(&plan, "store.put").await, (true, Ok(())));
    assert_eq!(began.elapsed(), Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn a_delay_that_is_ended_knows_whether_the_effect_came() {
    let wait = || Fault::Delay(Duration::from_secs(5));
    let plan = FaultPlan::new().before("store", 1, wait()).after("store", 2, wait());
    let brief = || operation("brief").within(Duration::from_secs(1));
    let late = Interruption::DeadlineExceeded;
    let before = once_by(&plan, &brief(), "store.put").await;
    assert_eq!(before, (false, Err(late.before_sending())));
    let after = once_by(&plan, &brief(), "store.put").await;
    assert_eq!(after, (true, Err(late.in_flight())));
}

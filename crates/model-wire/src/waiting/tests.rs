//! What a wait comes to, in paused time.

use std::{
    future::{pending, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use runtime_ports::{Interruption, OperationContext};
use runtime_types::{ExecutionId, OperationId};
use tokio::{
    task::coop::{has_budget_remaining, poll_proceed},
    time::{Instant, sleep, timeout},
};

use super::{Waited, Waiting};

fn operation(seconds: u64) -> OperationContext {
    let (id, execution) = (OperationId::new("call"), ExecutionId::new("run"));
    let timeout = Duration::from_secs(seconds);
    OperationContext::root(id.expect("an id"), execution.expect("an id"), timeout)
}

/// What came of waiting `patience` seconds for work of `work` seconds, and how long it took.
async fn waited(
    waiting: &mut Waiting<'_>,
    patience: u64,
    work: Option<u64>,
) -> (&'static str, u64) {
    let began = Instant::now();
    let work = async {
        match work {
            Some(seconds) => sleep(Duration::from_secs(seconds)).await,
            None => pending().await,
        }
    };
    let outcome = waiting.until(began + Duration::from_secs(patience), pin!(work), || ()).await;
    let word = match outcome {
        Waited::Done(()) => "done",
        Waited::TooLong => "too long",
        Waited::Interrupted(Interruption::Canceled) => "canceled",
        Waited::Interrupted(Interruption::DeadlineExceeded) => "deadline",
    };
    (word, began.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn each_wait_has_the_patience_that_it_was_given() {
    let operation = operation(1_000);
    let mut waiting = Waiting::within(&operation);
    assert_eq!(waited(&mut waiting, 10, Some(3)).await, ("done", 3));
    assert_eq!(waited(&mut waiting, 10, Some(9)).await, ("done", 9), "prolonged");
    assert_eq!(waited(&mut waiting, 10, None).await, ("too long", 10));
    assert_eq!(waited(&mut waiting, 100, None).await, ("too long", 100), "prolonged again");
    assert_eq!(waited(&mut waiting, 2, None).await, ("too long", 2), "shortened");
    assert_eq!(waited(&mut waiting, 5_000, None).await, ("deadline", 1_000 - 124));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_operation_waits_no_more() {
    let operation = operation(1_000);
    let mut waiting = Waiting::within(&operation);
    let cancel = async {
        sleep(Duration::from_secs(4)).await;
        operation.cancellation.cancel();
    };
    let (outcome, ()) = tokio::join!(waited(&mut waiting, 10, None), cancel);
    assert_eq!(outcome, ("canceled", 4));
    let ready = waiting.if_ready(pin!(async {})).await;
    assert!(matches!(ready, Some(Waited::Interrupted(Interruption::Canceled))));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_ready_is_not_waited_for() {
    let operation = operation(1_000);
    let mut waiting = Waiting::within(&operation);
    assert!(waiting.if_ready(pin!(pending::<()>())).await.is_none());
    assert!(matches!(waiting.if_ready(pin!(async { 1 })).await, Some(Waited::Done(1))));
}

/// Work without an end whose first step uses up what the task may do at once.
async fn endless_after_much() {
    poll_fn(|context| {
        while let Poll::Ready(step) = poll_proceed(context) {
            step.made_progress();
        }
        Poll::Ready(())
    })
    .await;
    assert!(!has_budget_remaining(), "nothing is left of the budget");
    pending().await
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_begins_without_a_budget_ends() {
    let operation = operation(1_000);
    let mut waiting = Waiting::within(&operation);
    let began = Instant::now();
    let patience = began + Duration::from_secs(10);
    let work = pin!(endless_after_much());
    let wait = waiting.until(patience, work, || ());
    let outcome = timeout(Duration::from_secs(60), wait).await;
    assert!(matches!(outcome, Ok(Waited::TooLong)));
    assert_eq!(began.elapsed().as_secs(), 10);
}

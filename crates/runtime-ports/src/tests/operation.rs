//! Decides whether an operation ends when its deadline or its token says so, on tokio's clock.

use std::{future::pending, time::Duration};

use runtime_types::{ExecutionId, OperationId};
use tokio::time::{Instant, advance, sleep};

use crate::{Interruption, OperationContext, PortFailure};

const SECOND: Duration = Duration::from_secs(1);

fn id(name: &str) -> OperationId {
    OperationId::new(name).unwrap()
}

fn root(timeout: Duration) -> OperationContext {
    OperationContext::root(id("root"), ExecutionId::new("run").unwrap(), timeout)
}

#[tokio::test(start_paused = true)]
async fn the_time_left_shrinks_to_a_timeout() {
    let operation = root(2 * SECOND);
    assert_eq!(operation.remaining(), Ok(2 * SECOND));
    advance(2 * SECOND - Duration::from_nanos(1)).await;
    assert!(operation.remaining().is_ok());
    advance(SECOND).await;
    assert_eq!(operation.remaining(), Err(PortFailure::timeout()));
    assert_eq!(root(Duration::ZERO).remaining(), Err(PortFailure::timeout()));
}

#[tokio::test(start_paused = true)]
async fn cancelling_comes_before_the_deadline() {
    let operation = root(Duration::ZERO);
    operation.cancellation.cancel();
    assert_eq!(operation.remaining(), Err(PortFailure::canceled()));
    assert_eq!(operation.interrupted().await, Interruption::Canceled);
}

#[tokio::test(start_paused = true)]
async fn work_is_bounded_by_the_deadline() {
    let began = Instant::now();
    let outcome = root(3 * SECOND).bounded(pending::<()>()).await;
    assert_eq!((outcome, began.elapsed()), (Err(Interruption::DeadlineExceeded), 3 * SECOND));
    let operation = root(3 * SECOND);
    let work = async {
        sleep(SECOND).await;
        7
    };
    assert_eq!(operation.bounded(work).await, Ok(7));
}

#[tokio::test(start_paused = true)]
async fn work_is_bounded_by_the_token() {
    let operation = root(60 * SECOND);
    let began = Instant::now();
    let cancel = async {
        sleep(SECOND).await;
        operation.cancellation.cancel();
    };
    let (outcome, ()) = tokio::join!(operation.bounded(pending::<()>()), cancel);
    assert_eq!((outcome, began.elapsed()), (Err(Interruption::Canceled), SECOND));
}

#[tokio::test(start_paused = true)]
async fn work_of_an_ended_operation_is_never_polled() {
    for operation in [root(Duration::ZERO), {
        let cancelled = root(SECOND);
        cancelled.cancellation.cancel();
        cancelled
    }] {
        let outcome = operation.bounded(async { unreachable!("polled") }).await;
        assert_eq!(outcome.err(), Some(operation.interrupted().await));
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_ends_with_its_parent_and_never_ends_it() {
    let parent = root(5 * SECOND);
    let (first, second) = (parent.child(id("first")), parent.child(id("second")));
    assert_eq!((first.parent.as_ref(), first.deadline), (Some(&parent.id), parent.deadline));
    assert_eq!(first.execution_id, parent.execution_id);
    first.cancellation.cancel();
    assert!(parent.remaining().is_ok() && second.remaining().is_ok());
    parent.cancellation.cancel();
    assert_eq!(second.interrupted().await, Interruption::Canceled);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_moves_closer_only() {
    let operation = root(5 * SECOND);
    assert_eq!(operation.clone().within(2 * SECOND).remaining(), Ok(2 * SECOND));
    assert_eq!(operation.clone().within(9 * SECOND).remaining(), Ok(5 * SECOND));
    let child = operation.child(id("child")).within(SECOND);
    assert_eq!(child.parent, Some(id("root")));
    assert_eq!((child.remaining(), operation.remaining()), (Ok(SECOND), Ok(5 * SECOND)));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_beyond_the_clock_is_a_far_deadline() {
    let operation = root(Duration::MAX);
    assert!(operation.remaining().unwrap() > Duration::from_hours(24 * 365));
    assert_eq!(operation.bounded(sleep(SECOND)).await, Ok(()));
    assert!(operation.within(Duration::MAX).remaining().is_ok());
}

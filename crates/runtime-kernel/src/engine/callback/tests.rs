//! Callbacks that fail, panic and stop.

use std::time::Duration;

use runtime_ports::{OperationContext, PortFailure, PortFailureKind};

use super::{CallbackError, Unanswered, answered};

fn operation() -> OperationContext {
    let (id, execution) = ("call".parse().unwrap(), "run".parse().unwrap());
    OperationContext::root(id, execution, Duration::from_secs(60))
}

async fn check(cancelled: bool, work: Result<u8, CallbackError>, expected: Result<u8, Unanswered>) {
    let operation = operation();
    if cancelled {
        operation.cancellation.cancel();
    }
    assert_eq!(answered(&operation, async { work }).await, expected);
}

#[tokio::test]
async fn an_interruption_is_one_only_after_a_cancellation() {
    let failed = |text: &str| Err(Unanswered::Failed(text.to_owned()));
    check(false, Ok(1), Ok(1)).await;
    check(true, Ok(1), Ok(1)).await;
    check(false, Err(CallbackError::new("no")), failed("no")).await;
    check(true, Err(CallbackError::new("no")), failed("no")).await;
    check(true, Err(CallbackError::Interrupted), Err(Unanswered::Interrupted)).await;
    let stopped = "it stopped before it came to a result";
    check(false, Err(CallbackError::Interrupted), failed(stopped)).await;
}

#[tokio::test]
async fn a_panic_is_a_failure() {
    let ended: Result<(), _> = answered(&operation(), async { panic!("SECRET") }).await;
    assert_eq!(ended, Err(Unanswered::Failed("it panicked".to_owned())));
}

#[test]
fn only_a_port_that_did_nothing_interrupts() {
    let canceled = PortFailureKind::Canceled;
    let unknown = PortFailure::in_flight_unknown(canceled, "CANCELED", "operation canceled");
    let nothing = PortFailure::not_sent(canceled, "CANCELED", "operation canceled");
    let down = PortFailure::not_sent(PortFailureKind::Unavailable, "DOWN", "it is down");
    let cases = [
        (nothing, CallbackError::Interrupted),
        (unknown, CallbackError::Failed("CANCELED: operation canceled".into())),
        (down, CallbackError::Failed("DOWN: it is down".into())),
    ];
    for (failure, expected) in cases {
        assert_eq!(CallbackError::from(failure), expected);
    }
}

#[test]
fn long_words_are_cut_between_characters() {
    let CallbackError::Failed(kept) = CallbackError::new("ä".repeat(1_500) + "x") else {
        panic!("a failure")
    };
    assert_eq!(kept, "ä".repeat(1_000));
    let CallbackError::Failed(kept) = CallbackError::new("x".to_owned() + &"ä".repeat(1_500))
    else {
        panic!("a failure")
    };
    assert_eq!(kept.len(), 1_999);
}

//! Decides whether an interrupted caller is told the truth about work that goes on without it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use runtime_ports::{CommitDisposition, PortFailureKind};

use super::sample::{operation, operation_of};
use crate::{
    failure::FileError,
    gate::{Gate, run},
};

fn wait_for(is_so: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < patience, "it never came to pass");
        thread::sleep(Duration::from_millis(1));
    }
}

#[tokio::test]
async fn work_that_had_not_passed_the_gate_is_stopped_by_it() {
    let refused = Arc::new(AtomicBool::new(false));
    let saw = Arc::clone(&refused);
    let work = move |gate: &Gate| {
        wait_for(|| gate.is_over());
        saw.store(matches!(gate.pass(), Err(FileError::GivenUp)), SeqCst);
        Ok(())
    };
    let failure = run(&operation_of(Duration::from_millis(30)), work).await.unwrap_err();
    let expected = (PortFailureKind::Timeout, CommitDisposition::NotCommitted);
    assert_eq!((failure.kind, failure.commit), expected);
    wait_for(|| refused.load(SeqCst));
}

#[tokio::test]
async fn work_that_had_passed_the_gate_is_in_flight() {
    let operation = operation();
    let token = operation.cancellation.clone();
    let work = move |gate: &Gate| {
        gate.pass()?;
        token.cancel();
        thread::sleep(Duration::from_millis(50));
        Ok(())
    };
    let failure = run(&operation, work).await.unwrap_err();
    let expected = (PortFailureKind::Canceled, CommitDisposition::Unknown);
    assert_eq!((failure.kind, failure.commit), expected);
}

#[tokio::test]
async fn an_operation_that_is_over_starts_no_work() {
    let operation = operation();
    operation.cancellation.cancel();
    let failure = run(&operation, |_| -> Result<(), FileError> { unreachable!() }).await;
    let failure = failure.unwrap_err();
    let expected = (PortFailureKind::Canceled, CommitDisposition::NotCommitted);
    assert_eq!((failure.kind, failure.commit), expected);
}

#[tokio::test]
async fn a_panic_is_a_failure_with_the_disposition_of_the_gate() {
    for (passes, expected) in
        [(false, CommitDisposition::NotCommitted), (true, CommitDisposition::Unknown)]
    {
        let work = move |gate: &Gate| -> Result<(), FileError> {
            if passes {
                gate.pass()?;
            }
            panic!("a fault of the test");
        };
        let failure = run(&operation(), work).await.unwrap_err();
        assert_eq!((failure.kind, failure.commit), (PortFailureKind::Internal, expected));
    }
}

#[test]
fn patience_ends_by_itself_and_the_gate_stays_open() {
    let gate = Gate::lasting(Duration::ZERO);
    assert!(gate.is_over());
    assert!(gate.pass().is_ok());
    assert!(!Gate::lasting(Duration::MAX).is_over());
}

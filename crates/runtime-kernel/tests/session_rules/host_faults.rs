//! Every callback of the host, made to fail at every one of its calls.

use std::{panic::AssertUnwindSafe, time::Duration};

use in_memory_fakes::TurnScript;
use runtime_kernel::{SessionControl, SessionToolOutcome};
use runtime_ports::{PortFailure, PortFailureKind, TurnEnd};
use serde_json::json;
use tokio::time::timeout;

use crate::{
    scenario::{Scenario, recorded_receipts, scenario, usage},
    test_host::{Callback, Fault},
};

/// Two rounds, the first with a call and a capture, so that every callback is called. Together
/// with whether a turn is open when the call fails.
const CALLS: [(Callback, usize, bool); 14] = [
    (Callback::Prepare, 1, false),
    (Callback::Prepare, 2, false),
    (Callback::Record, 1, false), // submitted 1
    (Callback::Record, 2, true),  // input 1
    (Callback::Record, 3, true),  // usage 1
    (Callback::Record, 4, false), // receipt 1: settled
    (Callback::Record, 5, false), // submitted 2
    (Callback::Record, 6, true),  // input 2
    (Callback::Record, 7, false), // receipt 2: settled
    (Callback::Execute, 1, true),
    (Callback::Resume, 1, true),
    (Callback::Capture, 1, false),
    (Callback::Complete, 1, false),
    (Callback::Complete, 2, false), // never called
];

fn two_rounds() -> Scenario {
    let capture =
        SessionToolOutcome { capture: Some(json!(1)), ..SessionToolOutcome::success("t") };
    let first = TurnScript::new().usage(usage(1)).ktool("look", json!({}), "c1").complete("one");
    scenario()
        .turn(first.optional())
        .turn(TurnScript::new().complete("two").optional())
        .outcome(capture)
        .control(SessionControl::Continue)
}

/// Checks the ledger after a fault: one receipt for each turn, and the open one interrupted.
fn check_ledger(host: &crate::test_host::TestHost, was_open: bool, case: &str) {
    host.intelligence.assert_one_receipt_per_turn();
    let last = host.intelligence.receipts().last().map(|receipt| receipt.end);
    let interrupted = last == Some(TurnEnd::Interrupted);
    assert_eq!(interrupted, was_open, "{case}: {last:?}");
}

#[tokio::test]
async fn rule_10_an_error_of_any_callback_escapes_after_the_receipt_was_recorded() {
    for (callback, nth, was_open) in CALLS {
        let case = format!("{callback:?} {nth}");
        let outcome = two_rounds().fault(callback, nth, Fault::Error).run().await;
        if (callback, nth) == (Callback::Complete, 2) {
            assert_eq!(outcome.result.unwrap().as_deref(), Some("two"));
            continue;
        }
        assert_eq!(
            outcome.result.as_ref().unwrap_err().to_string(),
            format!("host failed at {case}")
        );
        check_ledger(&outcome.host, was_open, &case);
        assert_eq!(outcome.recorded_receipts(), outcome.intelligence.receipts(), "{case}");
        let last = outcome.host.log.last().unwrap();
        assert!(!was_open || last.ends_with("interrupted"), "{case}: {last}");
    }
}

#[tokio::test]
async fn rule_10_a_panic_of_any_callback_leaves_the_receipt_to_the_owner() {
    for (callback, nth, was_open) in &CALLS[..13] {
        let case = format!("{callback:?} {nth}");
        let (runtime, request, mut host) =
            two_rounds().fault(*callback, *nth, Fault::Panic).parts();
        let run = AssertUnwindSafe(runtime.run_session(request, &mut host));
        let panicked = catch_unwind(run).await;
        assert!(panicked, "{case}");
        check_ledger(&host, *was_open, &case);
    }
}

#[tokio::test(start_paused = true)]
async fn rule_10_a_callback_that_hangs_is_waited_for_and_may_be_dropped() {
    for (callback, nth, was_open) in &CALLS[..13] {
        let case = format!("{callback:?} {nth}");
        let (runtime, request, mut host) = two_rounds().fault(*callback, *nth, Fault::Hang).parts();
        let run = runtime.run_session(request, &mut host);
        assert!(timeout(Duration::from_secs(3600), run).await.is_err(), "{case}: raced or dropped");
        check_ledger(&host, *was_open, &case);
        let settled = host.intelligence.receipts().len();
        assert!(recorded_receipts(&host.events).len() <= settled, "{case}");
    }
}

#[tokio::test]
async fn rule_10_a_session_cancelled_in_any_callback_records_what_was_started() {
    for (callback, nth, was_open) in &CALLS[..13] {
        let case = format!("{callback:?} {nth}");
        let outcome = two_rounds().fault(*callback, *nth, Fault::Cancel).run().await;
        assert_eq!(outcome.recorded_receipts(), outcome.intelligence.receipts(), "{case}");
        let last = outcome.host.log.last().unwrap();
        assert!(!was_open || last.ends_with("cancelled"), "{case}: {last}");
        let too_late = matches!((callback, nth), (Callback::Record, 7) | (Callback::Complete, 1));
        let kind = outcome.result.map_err(|error| error.downcast::<PortFailure>().unwrap().kind);
        let expected = too_late.then(|| Some("two".into())).ok_or(PortFailureKind::Canceled);
        assert_eq!(kind, expected, "{case}");
    }
}

/// Whether polling the future panics before it is ready.
async fn catch_unwind<F: Future>(future: AssertUnwindSafe<F>) -> bool {
    let mut future = Box::pin(future.0);
    std::future::poll_fn(move |context| {
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        match polled {
            Ok(std::task::Poll::Ready(_)) => std::task::Poll::Ready(false),
            Ok(std::task::Poll::Pending) => std::task::Poll::Pending,
            Err(_) => std::task::Poll::Ready(true),
        }
    })
    .await
}

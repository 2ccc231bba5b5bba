//! Mistakes that other runtimes of this kind have made in their session loop.

use in_memory_fakes::TurnScript;
use runtime_kernel::SessionToolOutcome;
use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind, TurnEnd};
use serde_json::json;

use crate::{
    scenario::{provider_failure, scenario},
    test_host::{Callback, Fault},
};

#[tokio::test]
async fn a_stopped_session_does_not_return_without_its_receipt() {
    let stop = SessionToolOutcome { stop: true, ..SessionToolOutcome::success("bye") };
    let script = TurnScript::new().ktool("look", json!({}), "c1");
    let outcome = scenario().turn(script).outcome(stop).run().await;
    assert_eq!(outcome.result.as_ref().unwrap(), &None);
    assert_eq!(outcome.recorded_receipts(), outcome.intelligence.receipts());
    assert_eq!(outcome.recorded_receipts().len(), 1);
}

#[tokio::test]
async fn a_failing_record_does_not_let_the_receipt_escape() {
    // The second record is the provider's input, the third the receipt.
    let script = TurnScript::new().complete("x").optional();
    let outcome = scenario().turn(script).fault(Callback::Record, 2, Fault::Error).run().await;
    let log = ["prepare 1", "submitted 1", "input 1", "receipt 1 interrupted"];
    outcome.fails(&["host failed at Record 2"], &log);
    assert_eq!(outcome.recorded_receipts(), outcome.intelligence.receipts());
}

#[tokio::test]
async fn the_error_of_failed_accounting_is_not_swallowed() {
    let session = scenario().turn(TurnScript::new().complete("x"));
    let outcome = session.fault(Callback::Record, 3, Fault::Error).run().await;
    let log = ["prepare 1", "submitted 1", "input 1", "receipt 1 completed"];
    outcome.fails(&["host failed at Record 3"], &log);
}

#[tokio::test]
async fn accounting_is_not_done_in_drop() {
    // The receipt is recorded while the host can still be called, and settled before that.
    let script = TurnScript::new().ktool("look", json!({}), "c1");
    let session = scenario().turn(script).fault(Callback::Execute, 1, Fault::Error);
    let outcome = session.run().await;
    let recorded = outcome.recorded_receipts();
    assert_eq!(
        recorded.iter().map(|receipt| receipt.end).collect::<Vec<_>>(),
        [TurnEnd::Interrupted]
    );
}

#[tokio::test]
async fn a_disposition_survives_being_returned() {
    let dispositions =
        [CommitDisposition::NotCommitted, CommitDisposition::Committed, CommitDisposition::Unknown];
    for commit in dispositions {
        let failure = PortFailure { commit, ..provider_failure() };
        let scripts = [
            TurnScript::new().fail(failure.clone()),
            TurnScript::fail_start(failure.clone()),
            TurnScript::refuse_start(failure.clone()),
            TurnScript::new().ktool("look", json!({}), "c1").answer_refused(failure.clone()),
        ];
        for script in scripts {
            let outcome = scenario().turn(script).run().await;
            let returned = outcome.result.unwrap_err().downcast::<PortFailure>().unwrap();
            assert_eq!(returned.commit, commit);
        }
    }
}

#[tokio::test]
async fn failed_accounting_does_not_lend_its_disposition_to_a_paid_call() {
    let paid = PortFailure { kind: PortFailureKind::Protocol, ..provider_failure() };
    let session = scenario().turn(TurnScript::new().fail(paid.clone()));
    let outcome = session.fault(Callback::Record, 3, Fault::Error).run().await;
    assert_eq!(outcome.result.unwrap_err().downcast_ref(), Some(&paid));
}

#[tokio::test]
async fn unreported_tokens_are_not_recorded_as_zero() {
    let outcome = scenario().turn(TurnScript::new().complete_unmetered("x")).run().await;
    let text = format!("{:?}", outcome.host.events.last().unwrap());
    assert!(text.contains("usage: None") && text.contains("metering: Unavailable"), "{text}");
}

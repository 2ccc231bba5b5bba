//! Rule 10: whatever fails, the started turn leaves one receipt, and no error is swallowed.

use std::time::Duration;

use in_memory_fakes::TurnScript;
use runtime_kernel::{AccountingError, SessionToolOutcome, is_session_round_limit};
use runtime_ports::{Intelligence as _, PortFailure, PortFailureKind, TurnEnd};
use serde_json::json;

use crate::{
    scenario::{OPERATION, provider_failure, scenario, usage},
    test_host::{Callback, Fault},
};

const CUT: &str = "CUT: the provider went away";
const BEGUN: [&str; 3] = ["prepare 1", "submitted 1", "input 1"];

fn log(rest: &[&'static str]) -> Vec<&'static str> {
    [&BEGUN[..], rest].concat()
}

#[tokio::test]
async fn rule_10_a_provider_failure_escapes_after_its_receipt() {
    let kinds = [
        (PortFailureKind::Unavailable, "receipt 1 failed"),
        (PortFailureKind::Timeout, "receipt 1 timedout"),
        (PortFailureKind::ContextOverflow, "receipt 1 failed"),
    ];
    for (kind, receipt) in kinds {
        let failure = PortFailure { kind, ..provider_failure() };
        let outcome = scenario().turn(TurnScript::new().fail(failure.clone())).run().await;
        outcome.fails(&[CUT], &log(&[receipt]));
        assert_eq!(outcome.recorded_receipts(), outcome.intelligence.receipts());
        assert_eq!(outcome.result.unwrap_err().downcast_ref(), Some(&failure), "as it was given");
    }
}

#[tokio::test]
async fn rule_10_a_turn_without_a_terminal_event_is_an_error_and_interrupted() {
    let outcome = scenario().turn(TurnScript::new().text("half").usage(usage(1)).end()).run().await;
    let message = "the provider ended its turn without a terminal event; try again";
    outcome.fails(&[message], &log(&["usage 1", "receipt 1 interrupted"]));
}

#[tokio::test]
async fn rule_10_a_refused_answer_ends_the_turn_as_interrupted() {
    let refused =
        TurnScript::new().ktool("look", json!({}), "c1").answer_refused(provider_failure());
    let outcome = scenario().turn(refused).run().await;
    outcome.fails(&[CUT], &log(&["execute look", "resume, 0 sent", "receipt 1 interrupted"]));
    assert_eq!(outcome.sent(), []);
}

#[tokio::test(start_paused = true)]
async fn rule_10_a_cancelled_operation_fails_with_its_receipt() {
    let (runtime, request, mut host) = scenario().turn(TurnScript::new().stall()).parts();
    let intelligence = host.intelligence.clone();
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        intelligence.cancel(OPERATION).await
    };
    let (result, canceled) = tokio::join!(runtime.run_session(request, &mut host), cancel);
    assert_eq!(canceled, Ok(true));
    let failure = result.unwrap_err().downcast::<PortFailure>().unwrap();
    assert_eq!(failure.kind, PortFailureKind::Canceled);
    assert_eq!(host.log, log(&["receipt 1 cancelled"]));
    intelligence.assert_one_receipt_per_turn();
}

#[tokio::test]
async fn rule_10_an_operation_cancelled_while_a_tool_runs_fails_at_its_answer() {
    let script = TurnScript::new().ktool("look", json!({}), "c1");
    let outcome = scenario().turn(script).fault(Callback::Execute, 1, Fault::Cancel).run().await;
    let rest = ["execute look", "resume, 0 sent", "receipt 1 cancelled"];
    outcome.fails(&["CANCELED: operation canceled"], &log(&rest));
    assert_eq!(outcome.sent(), []);
}

#[tokio::test]
async fn rule_10_a_cancelled_operation_starts_no_further_turn() {
    let (runtime, request, mut host) = scenario().parts();
    host.intelligence.cancel(OPERATION).await.unwrap();
    let failure = runtime.run_session(request, &mut host).await.unwrap_err();
    assert_eq!(failure.downcast::<PortFailure>().unwrap().kind, PortFailureKind::Canceled);
    assert_eq!(host.log, ["prepare 1", "submitted 1"]);
}

#[tokio::test]
async fn rule_10_a_failing_record_is_returned_with_the_first_error_as_its_source() {
    let call = || TurnScript::new().ktool("look", json!({}), "c1");
    let record_fails = |nth| scenario().fault(Callback::Record, nth, Fault::Error);
    let no_end = "the provider ended its turn without a terminal event; try again";

    let provider = record_fails(3).turn(TurnScript::new().fail(provider_failure())).run().await;
    provider.fails(&["host failed at Record 3", CUT], &log(&["receipt 1 failed"]));

    let ended = record_fails(3).turn(TurnScript::new().end()).run().await;
    ended.fails(&["host failed at Record 3", no_end], &log(&["receipt 1 interrupted"]));

    let start = record_fails(2).turn(TurnScript::fail_start(provider_failure())).run().await;
    let started = ["prepare 1", "submitted 1", "receipt 1 failed"];
    start.fails(&["host failed at Record 2", CUT], &started);

    let host = record_fails(3).fault(Callback::Execute, 1, Fault::Error).turn(call()).run().await;
    let chain = ["host failed at Record 3", "host failed at Execute 1"];
    host.fails(&chain, &log(&["execute look", "receipt 1 interrupted"]));
    let error = host.result.unwrap_err();
    assert_eq!(error.source().unwrap().to_string(), "host failed at Execute 1");
    let accounting = error.downcast_ref::<AccountingError>().unwrap();
    assert_eq!(accounting.accounting().to_string(), "host failed at Record 3");
}

#[tokio::test]
async fn rule_10_without_a_first_error_the_failing_record_is_returned_as_it_is() {
    let call = || TurnScript::new().ktool("look", json!({}), "c1");
    let stop = SessionToolOutcome { stop: true, ..SessionToolOutcome::success("bye") };
    let cases = [
        (scenario().turn(TurnScript::new().complete("x")), vec!["receipt 1 completed"]),
        (
            scenario().turn(call()).outcome(stop),
            vec!["execute look", "resume, 0 sent", "receipt 1 interrupted"],
        ),
    ];
    for (session, rest) in cases {
        let outcome = session.fault(Callback::Record, 3, Fault::Error).run().await;
        outcome.fails(&["host failed at Record 3"], &log(&rest));
        let error = outcome.result.unwrap_err();
        assert!(error.downcast_ref::<AccountingError>().is_none());
        assert!(!is_session_round_limit(&error));
    }
}

#[tokio::test]
async fn rule_10_a_turn_that_cannot_be_settled_says_so_and_why_it_was_left() {
    let script = TurnScript::new().ktool("look", json!({}), "c1").fail_finish(provider_failure());
    let session = scenario().turn(script).fault(Callback::Resume, 1, Fault::Error);
    let (runtime, request, mut host) = session.parts();
    let error = runtime.run_session(request, &mut host).await.unwrap_err();
    let chain: Vec<_> = error.chain().map(ToString::to_string).collect();
    assert_eq!(chain, [CUT, "host failed at Resume 1"]);
    assert_eq!(host.log, log(&["execute look", "resume, 0 sent"]));
    let ends: Vec<_> = host.intelligence.receipts().iter().map(|receipt| receipt.end).collect();
    assert_eq!(ends, [TurnEnd::Interrupted], "its owner settled it when it was dropped");
}

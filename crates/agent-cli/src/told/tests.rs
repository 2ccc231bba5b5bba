//! Decides whether the lines of `--json` keep the form that `docs/json-events.md` promises.

use std::sync::Arc;

use runtime_kernel::engine::{
    CancelReport, EVENT_VERSION, Event, RunEvent, RunIdentity, RunStatus,
};
use runtime_ports::{PortFailure, PortFailureKind, UsageTotal};
use uuid::Uuid;

use super::{Closing, Setting, event_line, last_line};
use crate::{diagnosis::Diagnosis, exit::Exit, totals::RunTotals};

const HEAD: &str = r#"{"version":1,"run_id":"r","trace_id":"r","session_id":"s","task_id":"task","agent_name":"agent","sequence":7,"#;

fn event(event: Event) -> RunEvent {
    let identity =
        RunIdentity { session_id: Some("s".into()), ..RunIdentity::root("r", "task", "agent") };
    RunEvent {
        version: EVENT_VERSION,
        identity: Arc::new(identity),
        sequence: 7,
        delta: None,
        at_ms: 1_000,
        cycle: None,
        event,
    }
}

fn check(line: serde_json::Result<String>, event: &RunEvent, rest: &str) {
    let line = line.unwrap();
    assert_eq!(line, format!(r#"{HEAD}"at_ms":1000,{rest}"#));
    let read: RunEvent = serde_json::from_str(&line).unwrap();
    assert_eq!(read, *event, "each line is an event of the engine");
}

#[test]
fn the_first_line_says_where_the_model_is() {
    let started =
        event(Event::RunStarted { model: "m".into(), workspace: Some("/f".into()), max_cycles: 8 });
    let setting = Setting {
        model: "m".into(),
        provider: "p".into(),
        is_offline: false,
        folder: "/f".into(),
        fallbacks: vec!["n at q".into()],
    };
    check(
        event_line(&started, Some(&setting)),
        &started,
        r#""event":"run_started","model":"m","workspace":"/f","max_cycles":8,"provider":"p","offline":false}"#,
    );
}

#[test]
fn any_other_line_is_the_event_and_nothing_else() {
    let delta = event(Event::AssistantDelta { text: "a\u{1b}".into() });
    check(event_line(&delta, None), &delta, r#""event":"assistant_delta","text":"a\u001b"}"#);
}

fn totals() -> RunTotals {
    let mut totals = RunTotals { turns: 1, requests: 2, ..RunTotals::default() };
    totals.input_tokens = UsageTotal { at_least: 10, complete: false };
    totals
}

const TOTALS: &str = r#"{"turns":1,"requests":2,"input_tokens":{"atLeast":10,"complete":false},"output_tokens":{"atLeast":0,"complete":true},"cost_nano_usd":{"atLeast":0,"complete":true}}"#;

fn closing(exit: Exit) -> Closing {
    Closing {
        exit,
        diagnosis: None,
        failure: None,
        cancelled: None,
        answer: None,
        asked: None,
        returned: Vec::new(),
        totals: totals(),
        receipts: vec![Uuid::nil()],
        losses: vec!["l".into()],
        left: None,
    }
}

#[test]
fn the_last_line_carries_the_exit_code_and_the_totals() {
    let completed = event(Event::RunCompleted { final_answer: "a".into() });
    check(
        last_line(&completed, &closing(Exit::Done)),
        &completed,
        &format!(
            r#""event":"run_completed","final_answer":"a","exit_code":0,"hint":null,"failure":null,"cancel":null,"returned_steering":[],"receipts":["00000000-0000-0000-0000-000000000000"],"totals":{TOTALS},"losses":["l"],"left":null}}"#
        ),
    );
}

#[test]
fn a_failure_says_what_to_do_and_a_cancellation_what_it_found() {
    let failed = event(Event::RunFailed { error: "e".into(), error_code: "model_failed".into() });
    let failure = PortFailure::rejected(PortFailureKind::Forbidden, "KEY", "m");
    let diagnosis = Diagnosis::port(&failure);
    let hint = serde_json::to_string(&diagnosis.hint).unwrap();
    let closing_of_failure =
        Closing { diagnosis: Some(diagnosis), failure: Some(failure), ..closing(Exit::Refused) };
    check(
        last_line(&failed, &closing_of_failure),
        &failed,
        &format!(
            r#""event":"run_failed","error":"e","error_code":"model_failed","exit_code":4,"hint":{hint},"failure":{{"kind":"forbidden","code":"KEY","message":"m","retryable":false,"commit":"not_committed","retryAfterMs":null,"attempts":[]}},"cancel":null,"returned_steering":[],"receipts":["00000000-0000-0000-0000-000000000000"],"totals":{TOTALS},"losses":["l"],"left":null}}"#
        ),
    );
    let cancelled = event(Event::RunCancelled { error: "c".into() });
    let report = CancelReport {
        status: RunStatus::Cancelled,
        settled: vec!["a".into()],
        unknown: vec!["b".into()],
        still_running: Vec::new(),
    };
    let closing_of_cancel = Closing {
        cancelled: Some(report),
        asked: None,
        returned: vec!["hurry".into()],
        ..closing(Exit::Cancelled)
    };
    check(
        last_line(&cancelled, &closing_of_cancel),
        &cancelled,
        &format!(
            r#""event":"run_cancelled","error":"c","exit_code":130,"hint":null,"failure":null,"cancel":{{"settled":["a"],"unknown":["b"],"still_running":[]}},"returned_steering":["hurry"],"receipts":["00000000-0000-0000-0000-000000000000"],"totals":{TOTALS},"losses":["l"],"left":null}}"#
        ),
    );
}

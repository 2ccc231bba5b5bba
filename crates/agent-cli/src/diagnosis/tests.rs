//! Decides whether each kind of failure says what to do next.

use runtime_kernel::engine::RunError;
use runtime_ports::{PortFailure, PortFailureKind as Kind};

use super::Diagnosis;
use crate::exit::Exit;

fn failed(failure: PortFailure) -> RunError {
    let message = failure.to_string().into();
    RunError { code: "model_failed".into(), message, failure: Some(Box::new(failure)) }
}

fn check(failure: PortFailure, exit: Exit, hint_part: Option<&str>) {
    let diagnosis = Diagnosis::run(&failed(failure.clone()));
    assert_eq!(diagnosis.exit, exit, "{failure}");
    match (hint_part, &diagnosis.hint) {
        (None, None) => {}
        (Some(part), Some(hint)) => assert!(hint.contains(part), "{hint}"),
        (expected, found) => panic!("{failure}: {expected:?} but {found:?}"),
    }
}

fn rejected(kind: Kind) -> PortFailure {
    PortFailure::rejected(kind, "CODE", "message")
}

#[test]
fn failures_map_to_exit_codes_and_hints() {
    check(rejected(Kind::Forbidden), Exit::Refused, Some("OPENAI_API_KEY"));
    check(rejected(Kind::NotFound), Exit::Refused, Some("--model"));
    check(rejected(Kind::RateLimited), Exit::Refused, Some("wait"));
    check(rejected(Kind::Unavailable), Exit::Unreachable, Some("OPENAI_BASE_URL"));
    let cut = PortFailure::in_flight_unknown(Kind::Unavailable, "CUT", "broke off");
    check(cut, Exit::Unreachable, Some("try again"));
    check(rejected(Kind::ContextOverflow), Exit::Refused, Some("window"));
    check(rejected(Kind::Canceled), Exit::Cancelled, None);
    check(rejected(Kind::Internal), Exit::Failed, None);
}

#[test]
fn what_is_no_failure_of_a_port_is_told_as_it_is() {
    let error = RunError { code: "model_empty".into(), message: "no answer".into(), failure: None };
    let diagnosis = Diagnosis::run(&error);
    let told = (diagnosis.exit, diagnosis.code.as_str(), diagnosis.message.as_str());
    assert_eq!(told, (Exit::Failed, "model_empty", "no answer"));
}

#[test]
fn a_filtered_answer_is_not_blamed_on_the_key() {
    check(
        PortFailure::committed(Kind::Forbidden, "content_filtered", "filtered"),
        Exit::Failed,
        None,
    );
}

#[test]
fn the_code_of_a_port_failure_stands_apart_from_its_message() {
    let failure = PortFailure::rejected(Kind::NotFound, "FOLDER", "no such folder");
    let error = anyhow::Error::new(failure.clone()).context("the workspace cannot be opened");
    let diagnosis = Diagnosis::configuration(&error);
    assert_eq!(diagnosis.message, "the workspace cannot be opened: no such folder");
    let run = Diagnosis::run(&failed(failure));
    assert_eq!((run.message.as_str(), run.code.as_str()), ("no such folder", "FOLDER"));
}

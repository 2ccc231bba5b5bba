//! Decides whether each kind of failure says what to do next.

use anyhow::anyhow;
use runtime_ports::{PortFailure, PortFailureKind as Kind, TurnFailure};

use super::Diagnosis;
use crate::exit::Exit;

fn check(error: anyhow::Error, exit: Exit, hint_part: Option<&str>) {
    let diagnosis = Diagnosis::run(&error);
    assert_eq!(diagnosis.exit, exit, "{error:#}");
    match (hint_part, &diagnosis.hint) {
        (None, None) => {}
        (Some(part), Some(hint)) => assert!(hint.contains(part), "{hint}"),
        (expected, found) => panic!("{error:#}: {expected:?} but {found:?}"),
    }
}

fn rejected(kind: Kind) -> anyhow::Error {
    PortFailure::rejected(kind, "CODE", "message").into()
}

#[test]
fn failures_map_to_exit_codes_and_hints() {
    check(rejected(Kind::Forbidden), Exit::Refused, Some("OPENAI_API_KEY"));
    check(rejected(Kind::NotFound), Exit::Refused, Some("--model"));
    check(rejected(Kind::RateLimited), Exit::Refused, Some("wait"));
    check(rejected(Kind::Unavailable), Exit::Unreachable, Some("OPENAI_BASE_URL"));
    let cut = PortFailure::in_flight_unknown(Kind::Unavailable, "CUT", "broke off");
    check(cut.into(), Exit::Unreachable, Some("try again"));
    check(rejected(Kind::ContextOverflow), Exit::Refused, Some("window"));
    check(rejected(Kind::Canceled), Exit::Cancelled, None);
    check(rejected(Kind::Internal), Exit::Failed, None);
    check(anyhow!("the host failed"), Exit::Failed, None);
}

#[test]
fn the_failure_is_found_below_what_wraps_it() {
    let failure = PortFailure::rejected(Kind::Forbidden, "KEY", "the key is wrong");
    let turn = anyhow::Error::new(TurnFailure::refused(failure)).context("the receipt was lost");
    let diagnosis = Diagnosis::run(&turn);
    assert_eq!((diagnosis.exit, diagnosis.code.as_str()), (Exit::Refused, "KEY"));
    assert!(diagnosis.message.starts_with("the receipt was lost"), "{}", diagnosis.message);
}

#[test]
fn a_filtered_answer_is_not_blamed_on_the_key() {
    let filtered = PortFailure::committed(Kind::Forbidden, "content_filtered", "filtered");
    check(filtered.into(), Exit::Failed, None);
}

#[test]
fn the_code_of_a_port_failure_stands_apart_from_its_message() {
    let failure = PortFailure::rejected(Kind::NotFound, "FOLDER", "no such folder");
    let error = anyhow::Error::new(failure.clone()).context("the workspace cannot be opened");
    let diagnosis = Diagnosis::configuration(&error);
    assert_eq!(diagnosis.message, "the workspace cannot be opened: no such folder");
    let turn = Diagnosis::run(&anyhow::Error::new(TurnFailure::refused(failure)));
    assert_eq!((turn.message.as_str(), turn.code.as_str()), ("no such folder", "FOLDER"));
}

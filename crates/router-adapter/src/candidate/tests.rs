//! Holds endpoints to what calls say about them.

use std::time::Duration;

use runtime_ports::{
    CommitDisposition, PortFailure, PortFailureKind as Kind, RequestMeter, TurnEnd,
};

use super::{Gate, report_of};
use crate::{circuit::Report, policy::CircuitPolicy};

#[test]
fn silence_and_server_errors_speak_of_the_endpoint_and_refusals_do_not() {
    use CommitDisposition::{NotCommitted, Unknown};
    for (kind, commit, delta_delivered, expected) in [
        (Kind::Unavailable, NotCommitted, false, Report::Failed),
        (Kind::Unavailable, Unknown, false, Report::Failed),
        (Kind::Unavailable, Unknown, true, Report::Failed),
        (Kind::Timeout, Unknown, false, Report::Failed),
        (Kind::Timeout, Unknown, true, Report::Nothing),
        (Kind::Timeout, NotCommitted, false, Report::Nothing),
        (Kind::Protocol, Unknown, false, Report::Failed),
        (Kind::Protocol, Unknown, true, Report::Nothing),
        (Kind::Canceled, Unknown, false, Report::Nothing),
        (Kind::Internal, Unknown, false, Report::Nothing),
        (Kind::RateLimited, NotCommitted, false, Report::Alive),
        (Kind::Forbidden, NotCommitted, false, Report::Alive),
        (Kind::ContextOverflow, NotCommitted, false, Report::Alive),
    ] {
        let attempts = vec![RequestMeter::unreported(TurnEnd::Failed)];
        let failure = PortFailure::rejected(kind, "CODE", "message").with_attempts(attempts);
        let failure = PortFailure { commit, ..failure };
        assert_eq!(report_of(&failure, delta_delivered), expected, "{kind:?} {commit:?}");
    }
}

#[test]
fn what_never_left_says_nothing_about_the_endpoint() {
    for kind in [Kind::Invalid, Kind::NotFound, Kind::ContextOverflow, Kind::OutputLimit] {
        let local = PortFailure::not_sent(kind, "CODE", "message");
        assert_eq!(report_of(&local, false), Report::Nothing, "{kind:?}");
    }
    let unreachable = PortFailure::not_sent(Kind::Unavailable, "DOWN", "nobody there");
    assert_eq!(report_of(&unreachable, false), Report::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_pass_that_is_dropped_lets_the_next_call_find_out() {
    let policy = CircuitPolicy { failures: 1, cool_down: Duration::from_secs(30) };
    let gate = Gate::default();
    gate.pass(policy).unwrap().settle(Report::Failed);
    assert!(!gate.admits() && gate.pass(policy).is_none());
    let early = gate.early_pass(policy).unwrap();
    assert!(gate.early_pass(policy).is_none(), "one at a time");
    drop(early);
    let clone = gate.clone();
    clone.pass(policy).unwrap().settle(Report::Alive);
    assert!(gate.admits() && gate.early_pass(policy).is_some(), "clones share what is known");
}

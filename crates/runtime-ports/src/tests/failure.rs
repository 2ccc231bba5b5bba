//! Decides whether each way of failing says the truth about the commit.

use std::time::Duration;

use crate::{
    CommitDisposition::{self, Committed, NotCommitted, Unknown},
    Interruption, PortFailure,
    PortFailureKind::{self, Canceled, Internal, Timeout},
};

#[test]
fn constructors_name_their_commit_disposition() {
    type Make = fn(PortFailureKind, &'static str, &'static str) -> PortFailure;
    let cases: [(Make, CommitDisposition); 5] = [
        (PortFailure::new, NotCommitted),
        (PortFailure::not_sent, NotCommitted),
        (PortFailure::rejected, NotCommitted),
        (PortFailure::in_flight_unknown, Unknown),
        (PortFailure::committed, Committed),
    ];
    for (make, commit) in cases {
        let failure = make(Internal, "CODE", "what to do");
        assert_eq!((failure.commit, failure.retryable), (commit, false));
        assert_eq!((failure.retry_after, failure.attempts.len()), (None, 0));
        assert_eq!(failure.to_string(), "CODE: what to do");
    }
}

#[test]
fn an_interruption_is_uncommitted_before_sending_and_unknown_after() {
    for (interruption, kind) in
        [(Interruption::Canceled, Canceled), (Interruption::DeadlineExceeded, Timeout)]
    {
        let (before, after) = (interruption.before_sending(), interruption.in_flight());
        assert_eq!((before.kind, before.commit), (kind, NotCommitted));
        assert_eq!((after.kind, after.commit), (kind, Unknown));
        assert_eq!(before.code, after.code);
    }
}

#[test]
fn what_may_pass_is_marked_and_keeps_its_commit() {
    let failure = PortFailure::in_flight_unknown(Internal, "CODE", "wait");
    assert!(failure.clone().retryable().retryable);
    let waiting = failure.retry_after(Duration::from_secs(2));
    assert_eq!((waiting.retryable, waiting.commit), (true, Unknown));
    assert_eq!(waiting.retry_after, Some(Duration::from_secs(2)));
}

#[test]
fn a_wait_is_written_in_whole_milliseconds_never_shorter() {
    for (wait, expected) in [
        (Duration::ZERO, 0),
        (Duration::from_nanos(1), 1),
        (Duration::from_micros(1_500), 2),
        (Duration::from_millis(1_500), 1_500),
        (Duration::MAX, u64::MAX),
    ] {
        let failure = PortFailure::timeout().retry_after(wait);
        let written = serde_json::to_value(&failure).unwrap();
        assert_eq!(written["retryAfterMs"], expected, "{wait:?}");
        let read: PortFailure = serde_json::from_value(written).unwrap();
        assert_eq!(read.retry_after, Some(Duration::from_millis(expected)));
    }
}

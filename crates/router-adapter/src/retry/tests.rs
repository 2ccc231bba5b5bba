//! Holds the policy to its table: which failure is repeated, how often, and after what wait.

use std::time::Duration;

use runtime_ports::{Metering, PortFailure, PortFailureKind as Kind, RequestMeter, TurnEnd};

use super::{Circumstances, Retries, Verdict};

const HOUR: Duration = Duration::from_secs(3600);
const CALM: Circumstances = Circumstances { delta_delivered: false, left: HOUR, jitter: 0.0 };

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn refused() -> PortFailure {
    PortFailure::rejected(Kind::RateLimited, "SLOW", "too many").retryable()
}

fn overloaded() -> PortFailure {
    PortFailure::in_flight_unknown(Kind::Unavailable, "OVERLOADED", "later").retryable()
}

fn again(wait: Duration) -> Verdict {
    Verdict::SendAgain { wait }
}

/// What the policy says to each of these failures, one after the other.
fn check(failures: &[PortFailure], expected: &[Verdict]) {
    let mut retries = Retries::default();
    let verdicts: Vec<_> = failures.iter().map(|failure| retries.judge(failure, &CALM)).collect();
    assert_eq!(verdicts, expected, "{failures:?}");
}

#[test]
fn uncommitted_failures_are_repeated_up_to_three_attempts() {
    let once = again(Duration::ZERO);
    check(&[refused(), refused(), refused()], &[once, once, Verdict::GiveUp]);
    let unreachable = PortFailure::not_sent(Kind::Unavailable, "DOWN", "refused").retryable();
    check(&[unreachable.clone(), unreachable], &[once, once]);
}

#[test]
fn after_an_unknown_outcome_one_more_is_sent_at_most() {
    let once = again(Duration::ZERO);
    check(&[overloaded(), overloaded()], &[once, Verdict::GiveUp]);
    check(&[overloaded(), refused()], &[once, Verdict::GiveUp]);
    check(&[refused(), overloaded(), refused()], &[once, once, Verdict::GiveUp]);
    check(&[refused(), refused(), overloaded()], &[once, once, Verdict::GiveUp]);
}

#[test]
fn what_may_have_been_paid_for_is_not_repeated() {
    let timeout = PortFailure::in_flight_unknown(Kind::Timeout, "LATE", "late").retryable();
    let reset = PortFailure::in_flight_unknown(Kind::Protocol, "CUT", "cut").retryable();
    let paid = PortFailure::committed(Kind::Unavailable, "LOST", "lost").retryable();
    let final_refusal = PortFailure::rejected(Kind::Invalid, "BAD", "bad");
    let unmarked = PortFailure::in_flight_unknown(Kind::Unavailable, "RESET", "reset");
    for failure in [timeout, reset, paid, final_refusal, unmarked] {
        check(&[failure], &[Verdict::GiveUp]);
    }
}

#[test]
fn nothing_is_repeated_after_a_delta() {
    let seen = Circumstances { delta_delivered: true, ..CALM };
    for failure in [refused(), overloaded()] {
        assert_eq!(Retries::default().judge(&failure, &seen), Verdict::GiveUp);
    }
}

#[test]
fn requests_that_an_adapter_repeated_itself_count() {
    let meter = RequestMeter {
        provider_request_id: None,
        metering: Metering::Unavailable,
        end: TurnEnd::Failed,
        cost_nano_usd: None,
    };
    let twice = refused().with_attempts(vec![meter.clone(), meter]);
    check(&[twice, refused()], &[again(Duration::ZERO), Verdict::GiveUp]);
}

#[test]
fn the_wait_is_what_was_asked_up_to_a_minute_and_a_random_part_of_the_backoff() {
    let millis = Duration::from_millis;
    let cases = [
        (None, 0.0, millis(0)),
        (None, 0.5, millis(250)),
        (Some(seconds(5)), 0.0, seconds(5)),
        (Some(seconds(5)), 0.5, millis(5_250)),
        (Some(seconds(60)), 1.0, millis(60_500)),
        (Some(seconds(1_000_000_000_000)), 0.0, seconds(60)),
        (Some(Duration::ZERO), 0.0, Duration::ZERO),
    ];
    for (asked, jitter, wait) in cases {
        let failure = PortFailure { retry_after: asked, ..refused() };
        let verdict = Retries::default().judge(&failure, &Circumstances { jitter, ..CALM });
        assert_eq!(verdict, again(wait), "{asked:?} with {jitter}");
    }
}

#[test]
fn the_backoff_doubles() {
    let (mut retries, at) = (Retries::default(), Circumstances { jitter: 1.0, ..CALM });
    let waits = [Duration::from_millis(500), seconds(1)];
    for wait in waits {
        assert_eq!(retries.judge(&refused(), &at), again(wait));
    }
}

#[test]
fn a_wait_that_passes_the_deadline_fails_now() {
    let failure = refused().retry_after(seconds(5));
    let left = |left| Circumstances { left, ..CALM };
    assert_eq!(Retries::default().judge(&failure, &left(seconds(5))), Verdict::GiveUp);
    assert_eq!(Retries::default().judge(&failure, &left(seconds(6))), again(seconds(5)));
    assert_eq!(Retries::default().judge(&refused(), &left(Duration::ZERO)), Verdict::GiveUp);
}

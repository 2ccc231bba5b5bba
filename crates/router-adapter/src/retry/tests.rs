//! Holds the policy to its table: which failure is repeated, where, how often, and after what wait.

use std::time::Duration;

use proptest::prelude::*;
use runtime_ports::{
    CommitDisposition, Metering, PortFailure, PortFailureKind as Kind, RequestMeter, TurnEnd,
};

use super::{Circumstances, Next, Retries, Verdict};
use crate::policy::{RetryPolicy, UnknownOutcomes};

const HOUR: Duration = Duration::from_secs(3600);
const CALM: Circumstances = Circumstances {
    delta_delivered: false,
    circuit_open: false,
    next: Next::Nobody,
    left: HOUR,
    jitter: 0.0,
};
/// The same with a fallback.
const BACKED: Circumstances = Circumstances { next: Next::Somebody, ..CALM };

const KINDS: [Kind; 12] = [
    Kind::Invalid,
    Kind::NotFound,
    Kind::Forbidden,
    Kind::Conflict,
    Kind::RateLimited,
    Kind::Timeout,
    Kind::Canceled,
    Kind::Unavailable,
    Kind::Protocol,
    Kind::Internal,
    Kind::ContextOverflow,
    Kind::OutputLimit,
];

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

/// As an adapter gives it when the provider was reached.
fn failure(kind: Kind, commit: CommitDisposition, retryable: bool) -> PortFailure {
    let attempts = vec![RequestMeter::unreported(TurnEnd::Failed)];
    let failure = PortFailure::rejected(kind, "CODE", "message").with_attempts(attempts);
    PortFailure { commit, retryable, ..failure }
}

fn first(policy: &RetryPolicy, failure: &PortFailure, at: &Circumstances) -> Verdict {
    Retries::default().judge(policy, failure, at)
}

/// What the default policy says to each of these failures, one after the other.
fn check(at: Circumstances, failures: &[PortFailure], expected: &[Verdict]) {
    let (mut retries, policy) = (Retries::default(), RetryPolicy::default());
    let judged = failures.iter().map(|failure| retries.judge(&policy, failure, &at));
    assert_eq!(judged.collect::<Vec<_>>(), expected, "{failures:?}");
}

#[test]
fn uncommitted_failures_are_repeated_up_to_three_attempts() {
    let once = again(Duration::ZERO);
    check(CALM, &[refused(), refused(), refused()], &[once, once, Verdict::GiveUp]);
    let unreachable = PortFailure::not_sent(Kind::Unavailable, "DOWN", "refused").retryable();
    check(CALM, &[unreachable.clone(), unreachable], &[once, once]);
}

#[test]
fn with_a_fallback_two_attempts_are_enough_at_one_place() {
    let once = again(Duration::ZERO);
    check(BACKED, &[refused(), refused(), refused()], &[once, Verdict::Move, Verdict::GiveUp]);
}

#[test]
fn after_an_unknown_outcome_one_more_is_sent_at_most() {
    let once = again(Duration::ZERO);
    check(CALM, &[overloaded(), overloaded()], &[once, Verdict::GiveUp]);
    check(CALM, &[overloaded(), refused()], &[once, Verdict::GiveUp]);
    check(CALM, &[refused(), overloaded(), refused()], &[once, once, Verdict::GiveUp]);
    check(CALM, &[refused(), refused(), overloaded()], &[once, once, Verdict::GiveUp]);
    check(BACKED, &[overloaded(), refused()], &[once, Verdict::GiveUp]);
}

/// Every kind, first attempt, default policy: without and with a fallback.
#[test]
fn each_kind_of_failure_goes_where_the_table_says() {
    use CommitDisposition::{Committed, NotCommitted, Unknown};
    use Verdict::{GiveUp, Move};
    let once = again(Duration::ZERO);
    for kind in KINDS {
        let moves = match kind {
            // Of this provider: key, model, quota, a feature, a fault of its adapter.
            Kind::Forbidden
            | Kind::NotFound
            | Kind::RateLimited
            | Kind::Unavailable
            | Kind::Protocol
            | Kind::Internal => Move,
            // Of the request, or of the caller.
            _ => GiveUp,
        };
        let passing = if kind == Kind::Canceled { GiveUp } else { once };
        let unknown = if kind == Kind::Unavailable { once } else { GiveUp };
        for (commit, retryable, alone, backed) in [
            (NotCommitted, true, passing, passing),
            (NotCommitted, false, GiveUp, moves),
            (Unknown, true, unknown, unknown),
            (Unknown, false, GiveUp, GiveUp),
            (Committed, true, GiveUp, GiveUp),
            (Committed, false, GiveUp, GiveUp),
        ] {
            let (policy, failure) = (RetryPolicy::default(), failure(kind, commit, retryable));
            let judged = [first(&policy, &failure, &CALM), first(&policy, &failure, &BACKED)];
            assert_eq!(judged, [alone, backed], "{kind:?} {commit:?} retryable {retryable}");
        }
    }
}

#[test]
fn circuit_wait_and_deadline_decide_between_here_and_elsewhere() {
    let asked = |wait: u64| refused().retry_after(seconds(wait));
    let open = |at: Circumstances| Circumstances { circuit_open: true, ..at };
    let left = |left: u64, at: Circumstances| Circumstances { left: seconds(left), ..at };
    for (name, failure, at, expected) in [
        ("a short wait stays", asked(1), BACKED, again(seconds(1))),
        ("a long wait does not", asked(30), BACKED, Verdict::Move),
        ("alone it is sat out", asked(30), CALM, again(seconds(30))),
        ("alone past the deadline it is not", asked(30), left(30, CALM), Verdict::GiveUp),
        ("a wait past the deadline moves", asked(1), left(1, BACKED), Verdict::Move),
        ("without time nothing moves", asked(1), left(0, BACKED), Verdict::GiveUp),
        ("an open circuit moves", refused(), open(BACKED), Verdict::Move),
        ("alone it ends the call", refused(), open(CALM), Verdict::GiveUp),
        ("a 5xx moves as well", overloaded(), open(BACKED), Verdict::Move),
    ] {
        assert_eq!(first(&RetryPolicy::default(), &failure, &at), expected, "{name}");
    }
}

#[test]
fn what_an_adapter_refuses_by_itself_another_may_take() {
    let unsupported = PortFailure::not_sent(Kind::Invalid, "UNSUPPORTED", "no such option");
    check(BACKED, std::slice::from_ref(&unsupported), &[Verdict::Move]);
    check(CALM, &[unsupported], &[Verdict::GiveUp]);
}

#[test]
fn what_this_side_cannot_do_moves_to_nobody() {
    let anything = RetryPolicy { refused_requests: true, ..RetryPolicy::default() };
    for (kind, code) in [(Kind::Invalid, "REPLAY_MISMATCH"), (Kind::Internal, "TAPE_FAILED")] {
        let own = PortFailure::not_sent(kind, code, "message");
        check(BACKED, std::slice::from_ref(&own), &[Verdict::GiveUp]);
        assert_eq!(first(&anything, &own, &BACKED), Verdict::GiveUp, "{code}");
    }
}

#[test]
fn an_attempt_may_make_as_many_requests_as_are_left() {
    let meters = |count| vec![RequestMeter::unreported(TurnEnd::Failed); count];
    let twice = refused().with_attempts(meters(2));
    for (max_attempts, failed, expected) in [
        (3, vec![], 3),
        (2, vec![], 2),
        (0, vec![], 1),
        (3, vec![refused()], 2),
        (3, vec![twice.clone()], 1),
        (3, vec![refused(), refused()], 1),
        (3, vec![overloaded()], 1),
    ] {
        let policy = RetryPolicy { max_attempts, ..RetryPolicy::default() };
        let mut retries = Retries::default();
        for failure in &failed {
            retries.judge(&policy, failure, &CALM);
        }
        assert_eq!(retries.requests_left(&policy), expected, "{max_attempts} {failed:?}");
        assert_eq!(retries.may_hedge(&policy), expected > 1, "{max_attempts} {failed:?}");
    }
}

#[test]
fn a_request_that_is_refused_moves_only_where_the_policy_says_so() {
    let of = |kind| failure(kind, CommitDisposition::NotCommitted, false);
    let larger = Circumstances { next: Next::Larger, ..CALM };
    let plain = RetryPolicy::default();
    let grows = RetryPolicy { overflow_to_larger: true, ..plain };
    let anything = RetryPolicy { refused_requests: true, ..plain };
    for (policy, kind, at, expected) in [
        (plain, Kind::ContextOverflow, larger, Verdict::GiveUp),
        (grows, Kind::ContextOverflow, larger, Verdict::MoveToLarger),
        (grows, Kind::ContextOverflow, BACKED, Verdict::GiveUp),
        (grows, Kind::OutputLimit, larger, Verdict::GiveUp),
        (grows, Kind::Invalid, larger, Verdict::GiveUp),
        (plain, Kind::Invalid, larger, Verdict::GiveUp),
        (anything, Kind::Invalid, BACKED, Verdict::Move),
        (anything, Kind::ContextOverflow, BACKED, Verdict::Move),
    ] {
        assert_eq!(first(&policy, &of(kind), &at), expected, "{kind:?} {policy:?}");
    }
    let mut retries = Retries::default();
    let verdicts = [of(Kind::Forbidden), of(Kind::ContextOverflow)]
        .map(|failure| retries.judge(&plain, &failure, &BACKED));
    assert_eq!(verdicts, [Verdict::Move; 2], "a fallback that is too small is passed over");
}

#[test]
fn what_may_have_been_paid_for_is_repeated_only_where_the_policy_says_so() {
    let timeout = PortFailure::in_flight_unknown(Kind::Timeout, "LATE", "late").retryable();
    let reset = PortFailure::in_flight_unknown(Kind::Protocol, "CUT", "cut").retryable();
    let once = again(Duration::ZERO);
    use UnknownOutcomes::{Any, Never, ServerErrors};
    for (failure, unknown_outcomes, expected) in [
        (&timeout, ServerErrors, Verdict::GiveUp),
        (&reset, ServerErrors, Verdict::GiveUp),
        (&timeout, Any, once),
        (&reset, Any, once),
        (&overloaded(), ServerErrors, once),
        (&overloaded(), Never, Verdict::GiveUp),
    ] {
        let policy = RetryPolicy { unknown_outcomes, ..RetryPolicy::default() };
        assert_eq!(first(&policy, failure, &CALM), expected, "{failure:?} {unknown_outcomes:?}");
    }
}

#[test]
fn nothing_is_repeated_after_a_delta_unless_the_policy_says_so() {
    let seen = Circumstances { delta_delivered: true, ..CALM };
    let cut = PortFailure::in_flight_unknown(Kind::Protocol, "CUT", "cut").retryable();
    let plain = RetryPolicy::default();
    let shown = RetryPolicy { after_deltas: true, ..plain };
    let bold = RetryPolicy { unknown_outcomes: UnknownOutcomes::Any, ..shown };
    let once = again(Duration::ZERO);
    for (policy, failure, expected) in [
        (plain, refused(), Verdict::GiveUp),
        (plain, overloaded(), Verdict::GiveUp),
        (shown, refused(), once),
        (shown, overloaded(), once),
        (shown, cut.clone(), Verdict::GiveUp),
        (bold, cut, once),
    ] {
        assert_eq!(first(&policy, &failure, &seen), expected, "{failure:?} {policy:?}");
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
    check(CALM, &[twice, refused()], &[again(Duration::ZERO), Verdict::GiveUp]);
}

#[test]
fn a_policy_may_allow_fewer_attempts_and_never_more() {
    for (max_attempts, expected) in [(0, 1), (1, 1), (2, 2), (3, 3), (99, 3)] {
        let policy = RetryPolicy { max_attempts, ..RetryPolicy::default() };
        let mut retries = Retries::default();
        let mut sent = 1;
        while retries.judge(&policy, &refused(), &CALM) != Verdict::GiveUp {
            sent += 1;
        }
        assert_eq!(sent, expected, "{max_attempts}");
    }
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
        let at = Circumstances { jitter, ..CALM };
        let verdict = first(&RetryPolicy::default(), &failure, &at);
        assert_eq!(verdict, again(wait), "{asked:?} with {jitter}");
    }
    let short = RetryPolicy { longest_wait: seconds(3), ..RetryPolicy::default() };
    assert_eq!(first(&short, &refused().retry_after(seconds(9)), &CALM), again(seconds(3)));
}

#[test]
fn the_backoff_doubles() {
    let (mut retries, at) = (Retries::default(), Circumstances { jitter: 1.0, ..CALM });
    let waits = [Duration::from_millis(500), seconds(1)];
    for wait in waits {
        assert_eq!(retries.judge(&RetryPolicy::default(), &refused(), &at), again(wait));
    }
}

#[test]
fn a_wait_that_passes_the_deadline_fails_now() {
    let failure = refused().retry_after(seconds(5));
    let at = |left| Circumstances { left, ..CALM };
    let judged = |failure, left| first(&RetryPolicy::default(), failure, &at(left));
    assert_eq!(judged(&failure, seconds(5)), Verdict::GiveUp);
    assert_eq!(judged(&failure, seconds(6)), again(seconds(5)));
    assert_eq!(judged(&refused(), Duration::ZERO), Verdict::GiveUp);
}

fn any_failure() -> impl Strategy<Value = PortFailure> {
    let commit = prop_oneof![
        Just(CommitDisposition::NotCommitted),
        Just(CommitDisposition::Unknown),
        Just(CommitDisposition::Committed),
    ];
    (prop::sample::select(&KINDS[..]), commit, any::<bool>(), prop::option::of(0u64..90)).prop_map(
        |(kind, commit, retryable, wait)| {
            let retry_after = wait.map(seconds);
            PortFailure { retry_after, ..failure(kind, commit, retryable) }
        },
    )
}

fn any_circumstances() -> impl Strategy<Value = Circumstances> {
    let next = prop_oneof![Just(Next::Nobody), Just(Next::Somebody), Just(Next::Larger)];
    (any::<bool>(), any::<bool>(), next, 0u64..100, 0.0..1.0).prop_map(
        |(delta_delivered, circuit_open, next, left, jitter)| Circumstances {
            delta_delivered,
            circuit_open,
            next,
            left: seconds(left),
            jitter,
        },
    )
}

fn any_policy() -> impl Strategy<Value = RetryPolicy> {
    use UnknownOutcomes::{Any, Never, ServerErrors};
    let unknown = prop_oneof![Just(Never), Just(ServerErrors), Just(Any)];
    (0u32..6, unknown, any::<[bool; 3]>()).prop_map(
        |(max_attempts, unknown_outcomes, [a, b, c])| {
            let plain = RetryPolicy { max_attempts, unknown_outcomes, ..RetryPolicy::default() };
            RetryPolicy { after_deltas: a, overflow_to_larger: b, refused_requests: c, ..plain }
        },
    )
}

proptest! {
    #[test]
    fn whatever_happens_the_promises_hold(
        policy in any_policy(),
        course in prop::collection::vec((any_failure(), any_circumstances()), 1..8),
    ) {
        let (mut retries, mut sent, mut unknown) = (Retries::default(), 1, 0);
        for (failure, at) in course {
            let verdict = retries.judge(&policy, &failure, &at);
            unknown += u32::from(failure.commit == CommitDisposition::Unknown);
            if verdict == Verdict::GiveUp {
                break;
            }
            sent += 1;
            prop_assert!(sent <= 3, "never a fourth attempt");
            prop_assert!(failure.commit != CommitDisposition::Committed);
            prop_assert!(unknown <= 1, "once after an unknown outcome");
            prop_assert!(failure.kind != Kind::Canceled);
            prop_assert!(policy.after_deltas || !at.delta_delivered);
            match verdict {
                Verdict::SendAgain { wait } => {
                    prop_assert!(wait < at.left && failure.retryable && !at.circuit_open);
                }
                Verdict::MoveToLarger => prop_assert_eq!(at.next, Next::Larger),
                _ => prop_assert!(at.next != Next::Nobody && !at.left.is_zero()),
            }
        }
    }
}

//! What a failure and a receipt claim of a turn, held against what was really sent.

use std::time::Duration;

use in_memory_fakes::ModelStep;
use router_adapter::{RetryPolicy, UnknownOutcomes};
use runtime_ports::{
    CommitDisposition::{self, Committed, NotCommitted, Unknown},
    Intelligence as _, PortFailure, PortFailureKind as Kind, TurnEnd,
};
use tokio::time::Instant;

use crate::{
    failover::Troupe,
    stage::{Stage, call, follow, overloaded, rate_limited, start, within},
};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn fails(failure: PortFailure) -> ModelStep {
    ModelStep::fail(failure)
}

fn late() -> PortFailure {
    PortFailure::in_flight_unknown(Kind::Timeout, "LATE", "late").retryable()
}

fn cut() -> PortFailure {
    PortFailure::in_flight_unknown(Kind::Protocol, "CUT", "cut").retryable()
}

fn refused() -> PortFailure {
    PortFailure::rejected(Kind::Invalid, "BAD", "bad")
}

fn down() -> ModelStep {
    let down = PortFailure::not_sent(Kind::Unavailable, "DOWN", "nobody there");
    ModelStep::fail_before_sending(down.retryable())
}

/// Whoever repeats a turn repeats all of it: what was certain of a part is certain of the whole.
#[tokio::test(start_paused = true)]
async fn a_turn_is_as_committed_as_its_surest_request() {
    let again = || ModelStep::fail(overloaded());
    let cases: Vec<(&str, Vec<ModelStep>, Kind, CommitDisposition, usize)> = vec![
        ("a refusal", vec![fails(refused())], Kind::Invalid, NotCommitted, 1),
        ("silence", vec![fails(late())], Kind::Timeout, Unknown, 1),
        ("a call, then silence", vec![call("c"), fails(late())], Kind::Timeout, Committed, 2),
        ("a call, then a cut", vec![call("c"), fails(cut())], Kind::Protocol, Committed, 2),
        ("a call, then 5xx", vec![call("c"), again(), again()], Kind::Unavailable, Committed, 3),
        ("a call, then a refusal", vec![call("c"), fails(refused())], Kind::Invalid, Committed, 2),
        (
            "a call, then nobody",
            vec![call("c"), down(), down(), down()],
            Kind::Unavailable,
            Committed,
            1,
        ),
        ("5xx, then a refusal", vec![again(), fails(refused())], Kind::Invalid, Unknown, 2),
        (
            "5xx, then a throttle",
            vec![again(), fails(rate_limited())],
            Kind::RateLimited,
            Unknown,
            2,
        ),
        (
            "throttles",
            vec![fails(rate_limited()), fails(rate_limited()), fails(refused())],
            Kind::Invalid,
            NotCommitted,
            3,
        ),
    ];
    for (name, steps, kind, commit, requests) in cases {
        let stage = Stage::new(steps).await;
        let course = stage.play().await;
        assert_eq!((course.failure().kind, course.failure().commit), (kind, commit), "{name}");
        let receipt = stage.receipt();
        assert_eq!(receipt.requests.len(), requests, "{name}");
        assert_eq!(course.failure().attempts, receipt.requests, "{name}");
    }
}

/// A wait that is broken off sends nothing, and the receipt does not say that it did.
#[tokio::test(start_paused = true)]
async fn only_what_was_sent_again_is_said_to_be() {
    let slow = || overloaded().retry_after(seconds(30));
    for (cancelled_after, requests, is_repeated) in [(5, 1, false), (40, 2, true)] {
        let stage = Stage::new([fails(slow())]).await;
        if is_repeated {
            stage.model.then(ModelStep::stall());
        }
        let start = start("hello");
        let mut turn = stage.begin(&start).await;
        let cancelling = async {
            tokio::time::sleep(seconds(cancelled_after)).await;
            stage.router.cancel(start.operation_id).await.unwrap()
        };
        let (course, _) = tokio::join!(follow(turn.as_mut()), cancelling);
        assert_eq!(course.failure().kind, Kind::Canceled);
        assert_eq!(course.failure().commit, Unknown);
        drop(turn);
        stage.router.settled().await;
        let receipt = stage.receipt();
        assert_eq!((receipt.end, receipt.requests.len()), (TurnEnd::Cancelled, requests));
        let is_said = receipt.losses.iter().any(|loss| loss.contains("was sent once more"));
        assert_eq!(is_said, is_repeated, "{:?}", receipt.losses);
    }
}

/// What happens, the policy, the script of each provider, the requests that each gets, and the
/// failure.
type Case = (&'static str, RetryPolicy, [Vec<ModelStep>; 3], [usize; 3], &'static str);

async fn play_all(cases: Vec<Case>) {
    for (name, policy, scripts, requests, code) in cases {
        let troupe = Troupe::playing(scripts, policy).await;
        let course = troupe.play().await;
        assert_eq!((course.failure().code.as_str(), troupe.requests()), (code, requests), "{name}");
        let sent = requests.iter().sum::<usize>();
        assert_eq!(troupe.receipt().requests.len(), sent, "{name}");
    }
}

fn with(unknown_outcomes: UnknownOutcomes) -> RetryPolicy {
    RetryPolicy { unknown_outcomes, ..RetryPolicy::default() }
}

fn steps(failures: &[PortFailure]) -> Vec<ModelStep> {
    failures.iter().cloned().map(ModelStep::fail).collect()
}

#[tokio::test(start_paused = true)]
async fn a_request_that_may_have_been_accepted_goes_out_once_more_at_most() {
    let plain = RetryPolicy::default;
    let far = || overloaded().retry_after(seconds(30));
    let no_key = || PortFailure::rejected(Kind::Forbidden, "NO_KEY", "the key is wrong");
    let scripts =
        |first: &[PortFailure], second: &[PortFailure]| [steps(first), steps(second), vec![]];
    let keyless = [steps(&[no_key()]), steps(&[no_key()]), steps(&[no_key()])];
    let throttled = scripts(&[rate_limited(), overloaded()], &[rate_limited()]);
    play_all(vec![
        ("a long wait moves", plain(), scripts(&[far()], &[far()]), [1, 1, 0], "OVERLOADED"),
        ("a refusal is the last", plain(), scripts(&[far()], &[no_key()]), [1, 1, 0], "NO_KEY"),
        ("a throttle before", plain(), throttled, [2, 1, 0], "RATE_LIMITED"),
        ("three refusals over three", plain(), keyless, [1, 1, 1], "NO_KEY"),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_a_policy_allows_after_an_unknown_outcome_it_allows_once() {
    use UnknownOutcomes::{Any, BrokenAnswers, Never, ServerErrors};
    let alone = |failures: &[PortFailure]| [steps(failures), vec![], vec![]];
    play_all(vec![
        ("never", with(Never), alone(&[overloaded()]), [1, 0, 0], "OVERLOADED"),
        ("a cut stays", with(ServerErrors), alone(&[cut()]), [1, 0, 0], "CUT"),
        ("a cut goes on", with(BrokenAnswers), alone(&[cut(), cut()]), [2, 0, 0], "CUT"),
        ("silence stays", with(BrokenAnswers), alone(&[late()]), [1, 0, 0], "LATE"),
        ("silence goes on", with(Any), alone(&[late(), late()]), [2, 0, 0], "LATE"),
    ])
    .await;
}

/// What the provider asks for, the time that is left, and how long the call takes; `None` where it
/// fails at once.
#[tokio::test(start_paused = true)]
async fn a_wait_is_bounded_and_begun_only_when_it_can_end() {
    let asked = |wait: Duration| rate_limited().retry_after(wait);
    let year = seconds(365 * 24 * 60 * 60);
    let cases = [
        ("a year is a minute", year, 120, Some(60)),
        ("endless is a minute", Duration::MAX, 120, Some(60)),
        ("a minute with less left", year, 60, None),
        ("a wait as long as the time", seconds(30), 30, None),
        ("a wait that leaves a second", seconds(28), 30, Some(28)),
        ("no wait", Duration::ZERO, 30, Some(0)),
    ];
    for (name, wait, left, expected) in cases {
        let stage = Stage::new([fails(asked(wait))]).await;
        if expected.is_some() {
            stage.model.then(ModelStep::text("done"));
        }
        let began = Instant::now();
        let mut turn = stage.begin(&within(left, start("hello"))).await;
        let course = follow(turn.as_mut()).await;
        let took = began.elapsed();
        match expected {
            None => {
                assert_eq!(course.failure().kind, Kind::RateLimited, "{name}");
                assert_eq!(took, Duration::ZERO, "{name}");
            }
            Some(wait) => {
                assert_eq!(course.answer(), "done", "{name}");
                assert!(seconds(wait) <= took && took < seconds(wait + 1), "{name}: {took:?}");
            }
        }
    }
}

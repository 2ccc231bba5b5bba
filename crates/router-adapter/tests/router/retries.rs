//! What is sent again, and what the receipt says of it.

use std::time::Duration;

use in_memory_fakes::ModelStep;
use runtime_ports::{
    CommitDisposition, Intelligence as _, Metering, PortFailure, PortFailureKind, TurnEnd,
};
use tokio::time::Instant;

use crate::stage::{Stage, call, follow, overloaded, rate_limited, start, within};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn a_refused_request_is_sent_again_after_the_wait_that_was_asked_for() {
    let refused = ModelStep::fail(rate_limited().retry_after(seconds(5)));
    let stage = Stage::new([refused, ModelStep::text("done").usage(3, 1)]).await;
    let began = Instant::now();
    assert_eq!(stage.play().await.answer(), "done");
    let waited = began.elapsed();
    assert!(seconds(5) <= waited && waited < seconds(6), "{waited:?}");
    let [first, second] = &stage.model.requests()[..] else { panic!("two requests") };
    assert_eq!(first, second, "the same bytes under the same invocation id");
    let receipt = stage.receipt();
    let ends: Vec<_> = receipt.requests.iter().map(|request| request.end).collect();
    assert_eq!(ends, [TurnEnd::Failed, TurnEnd::Completed]);
    assert_eq!(receipt.requests[0].metering, Metering::Unavailable);
    assert!(receipt.is_lower_bound && receipt.losses.is_empty());
}

#[tokio::test(start_paused = true)]
async fn three_refusals_are_the_end() {
    let stage = Stage::new((0..3).map(|_| ModelStep::fail(rate_limited()))).await;
    let course = stage.play().await;
    assert_eq!(course.failure().kind, PortFailureKind::RateLimited);
    assert_eq!(course.failure().commit, CommitDisposition::NotCommitted);
    assert_eq!(stage.receipt().requests.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_never_left_is_tried_again_and_is_no_request() {
    let down = PortFailure::not_sent(PortFailureKind::Unavailable, "REFUSED", "nobody there");
    let unreached = || ModelStep::fail_before_sending(down.clone().retryable());
    let stage = Stage::new([unreached(), unreached(), ModelStep::text("done").usage(3, 1)]).await;
    assert_eq!(stage.play().await.answer(), "done");
    let receipt = stage.receipt();
    assert_eq!((receipt.requests.len(), receipt.is_lower_bound), (1, false));
}

#[tokio::test(start_paused = true)]
async fn after_an_unknown_outcome_one_more_is_sent_and_listed() {
    let stage = Stage::new([ModelStep::fail(overloaded()), ModelStep::text("done")]).await;
    assert_eq!(stage.play().await.answer(), "done");
    let receipt = stage.receipt();
    assert_eq!(receipt.requests.len(), 2);
    assert!(receipt.losses[0].contains("request 0"), "{:?}", receipt.losses);
    let stage = Stage::new((0..2).map(|_| ModelStep::fail(overloaded()))).await;
    let course = stage.play().await;
    assert_eq!(course.failure().commit, CommitDisposition::Unknown);
    assert_eq!(stage.receipt().requests.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_cut_answer_or_one_with_deltas_is_not_repeated() {
    let cut = PortFailure::in_flight_unknown(PortFailureKind::Protocol, "CUT", "cut").retryable();
    let timeout =
        PortFailure::in_flight_unknown(PortFailureKind::Timeout, "LATE", "late").retryable();
    let steps = [
        ModelStep::fail(cut),
        ModelStep::fail(timeout),
        ModelStep::text("half").then_fail(overloaded()),
        ModelStep::text("half").then_fail(rate_limited()),
    ];
    for step in steps {
        let stage = Stage::new([step]).await;
        stage.play().await.failure();
        assert_eq!(stage.receipt().requests.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_passes_the_timeout_fails_now() {
    let stage = Stage::new([ModelStep::fail(rate_limited().retry_after(seconds(50)))]).await;
    let began = Instant::now();
    let course = follow(stage.begin(&within(40, start("hello"))).await.as_mut()).await;
    assert_eq!(course.failure().kind, PortFailureKind::RateLimited);
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_pause_between_attempts_ends_with_the_turn() {
    let refused = || ModelStep::fail(rate_limited().retry_after(seconds(50)));
    let stage = Stage::new([refused()]).await;
    let start_one = start("hello");
    let mut turn = stage.begin(&start_one).await;
    let following = async { follow(turn.as_mut()).await };
    let cancelling = async {
        tokio::time::sleep(seconds(1)).await;
        stage.router.cancel(start_one.operation_id).await
    };
    let (course, running) = tokio::join!(following, cancelling);
    assert_eq!((running, course.failure().kind), (Ok(true), PortFailureKind::Canceled));
    assert_eq!((stage.receipt().end, stage.receipt().requests.len()), (TurnEnd::Cancelled, 1));

    let stage = Stage::new([refused()]).await;
    let mut turn = stage.begin(&start("hello")).await;
    let gone = tokio::time::timeout(seconds(1), follow(turn.as_mut())).await;
    assert!(gone.is_err());
    drop(turn);
    let dropped = Instant::now();
    stage.router.settled().await;
    assert_eq!(dropped.elapsed(), Duration::ZERO, "the pause is not sat out");
    assert_eq!((stage.receipt().end, stage.receipt().requests.len()), (TurnEnd::Interrupted, 1));
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_which_a_part_was_committed_says_so() {
    let refused = PortFailure::rejected(PortFailureKind::Invalid, "BAD", "bad");
    let stage = Stage::new([call("c"), ModelStep::fail(refused)]).await;
    let course = stage.play().await;
    assert_eq!(course.failure().kind, PortFailureKind::Invalid);
    assert_eq!(course.failure().commit, CommitDisposition::Committed);
    assert_eq!(course.failure().attempts, stage.receipt().requests);
}

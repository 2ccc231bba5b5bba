//! Answers that break off: nothing repeats them, unless the policy says so.

use in_memory_fakes::ModelStep;
use router_adapter::{RetryPolicy, UnknownOutcomes};
use runtime_ports::{AgentTurnEvent, CommitDisposition, PortFailure, PortFailureKind};

use crate::failover::Troupe;

fn cut() -> PortFailure {
    let kind = PortFailureKind::Protocol;
    PortFailure::in_flight_unknown(kind, "STREAM_TRUNCATED", "the answer ended early").retryable()
}

fn late() -> PortFailure {
    let kind = PortFailureKind::Timeout;
    PortFailure::in_flight_unknown(kind, "STREAM_IDLE", "nothing came").retryable()
}

fn half(failure: PortFailure) -> ModelStep {
    ModelStep::text("half of it").in_pieces(2).then_fail(failure)
}

fn done() -> ModelStep {
    ModelStep::text("all of it").usage(3, 1)
}

/// How many requests an answer takes that ends like this at first: 1 when it is not repeated.
async fn check(policy: RetryPolicy, first: ModelStep, requests: usize) {
    let troupe = Troupe::playing([vec![first, done()], vec![], vec![]], policy).await;
    troupe.models.iter().for_each(|model| model.unchecked());
    let course = troupe.play().await;
    assert_eq!(troupe.requests(), [requests, 0, 0], "{policy:?} {course:?}");
    let receipt = troupe.receipt();
    assert_eq!(receipt.requests.len(), requests);
    let billed = receipt.losses.iter().filter(|loss| loss.contains("may have been billed")).count();
    assert_eq!(billed, requests - 1, "{receipt:?}");
    if requests == 1 {
        assert_eq!(course.failure().commit, CommitDisposition::Unknown);
        return;
    }
    assert_eq!(course.answer(), "all of it");
    // Whatever was shown of the first is taken back before anything of the second.
    let restarted = |event: &AgentTurnEvent| matches!(event, AgentTurnEvent::TransportInput(_));
    let last = course.events.iter().rposition(restarted).map_or(0, |place| place + 1);
    let text = |event: &AgentTurnEvent| match event {
        AgentTurnEvent::TextDelta(text) => text.clone(),
        _ => String::new(),
    };
    let shown: String = course.events[last..].iter().map(text).collect();
    assert_eq!(shown, "all of it", "{course:?}");
}

fn allowing(unknown_outcomes: UnknownOutcomes, after_deltas: bool) -> RetryPolicy {
    RetryPolicy { unknown_outcomes, after_deltas, ..RetryPolicy::default() }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_is_asked_for_again_only_where_the_policy_says_so() {
    use UnknownOutcomes::{Any, BrokenAnswers, Never, ServerErrors};
    check(RetryPolicy::default(), half(cut()), 1).await;
    check(RetryPolicy::default(), ModelStep::fail(cut()), 1).await;
    for (outcomes, after_deltas) in [(Never, true), (ServerErrors, true), (BrokenAnswers, false)] {
        check(allowing(outcomes, after_deltas), half(cut()), 1).await;
    }
    check(allowing(BrokenAnswers, true), half(cut()), 2).await;
    check(allowing(BrokenAnswers, false), ModelStep::fail(cut()), 2).await;
    check(allowing(BrokenAnswers, true), ModelStep::fail(late()), 1).await;
    check(allowing(Any, true), half(late()), 2).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_twice_is_not_asked_for_a_third_time() {
    let policy = allowing(UnknownOutcomes::Any, true);
    let script = vec![half(cut()), half(cut()), done()];
    let troupe = Troupe::playing([script, vec![done()], vec![]], policy).await;
    troupe.models.iter().for_each(|model| model.unchecked());
    assert_eq!(troupe.play().await.failure().code, "STREAM_TRUNCATED");
    assert_eq!(troupe.requests(), [2, 0, 0]);
}

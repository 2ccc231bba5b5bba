//! Who is heard when two end, or begin to answer, in the same moment.

use runtime_ports::{
    DeltaSink, DiscardDeltas, ModelContent, ModelDelta, ModelFinish, ModelResponse, TokenUsage,
};
use tokio::task::yield_now;

use super::{Claim, Lane, LaneSink, race};
use crate::attempt::Attempt;

fn answered(text: &str) -> Attempt {
    Attempt::Answered(ModelResponse {
        output: vec![ModelContent::text(text)],
        finish: ModelFinish::Stop,
        usage: TokenUsage::default(),
        cost_nano_usd: None,
        attempts: Vec::new(),
    })
}

fn says(attempt: &Attempt, text: &str) -> bool {
    matches!(attempt, Attempt::Answered(response) if response.output == [ModelContent::text(text)])
}

fn show(lane: Lane, claim: &Claim) {
    LaneSink { lane, claim, sink: &DiscardDeltas }.delta(ModelDelta::Text("shown"));
}

#[tokio::test]
async fn whose_deltas_were_shown_gives_the_answer_although_the_other_is_done_at_once() {
    let claim = Claim::default();
    let first = Box::pin(async {
        yield_now().await;
        show(Lane::First, &claim);
        yield_now().await;
        answered("first")
    });
    let second = Box::pin(async {
        yield_now().await;
        answered("second")
    });
    let raced = race(first, second, &claim).await;
    assert_eq!(raced.heard, Lane::First);
    assert!(says(&raced.attempt, "first"));
    assert!(raced.other.is_some_and(|other| says(&other, "second")), "it was paid for");
}

#[tokio::test]
async fn an_answer_without_deltas_is_heard() {
    let claim = Claim::default();
    let second = Box::pin(async { answered("second") });
    let raced = race(Box::pin(std::future::pending()), second, &claim).await;
    assert_eq!(raced.heard, Lane::Second);
    assert!(says(&raced.attempt, "second") && raced.other.is_none());
}

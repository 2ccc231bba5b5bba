//! What a timeout counts, and how a call ends whose adapter does not end it.

use std::{future::pending, sync::Arc, time::Duration};

use async_trait::async_trait;
use in_memory_fakes::{FakeModel, FakeReceiptStore, Fault, FaultPlan, ModelStep};
use router_adapter::Router;
use runtime_ports::{
    CommitDisposition, Intelligence as _, Metering, ModelFinish, ModelProfile, ModelRequest,
    ModelResponse, ModelSession, OperationContext, PortFailure, PortFailureKind, TurnEnd,
};
use tokio::time::Instant;

use crate::stage::{
    Course, Stage, call, done, follow, follow_to_call, router_over, start, usage, within,
};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn the_timeout_is_for_the_provider_over_all_requests() {
    let stage = Stage::new([call("c").delay(seconds(40)).usage(9, 1), ModelStep::stall()]).await;
    let mut turn = stage.begin(&within(60, start("hello"))).await;
    let id = follow_to_call(turn.as_mut()).await;
    tokio::time::sleep(seconds(3600)).await;
    turn.respond(&id, done(&id)).await.unwrap();
    let resumed = Instant::now();
    let course = follow(turn.as_mut()).await;
    assert_eq!(resumed.elapsed(), seconds(20));
    assert_eq!(course.failure().kind, PortFailureKind::Timeout);
    // Of the last request nothing is known; of the first, that it was answered.
    assert_eq!(course.failure().commit, CommitDisposition::Committed);
    let receipt = stage.receipt();
    let ends: Vec<_> = receipt.requests.iter().map(|request| request.end).collect();
    assert_eq!(
        (receipt.end, ends),
        (TurnEnd::TimedOut, vec![TurnEnd::Completed, TurnEnd::TimedOut])
    );
    assert_eq!((receipt.metering, receipt.is_lower_bound), (Metering::Tokens(usage(9, 1)), true));
}

#[tokio::test(start_paused = true)]
async fn without_a_timeout_each_request_has_half_an_hour() {
    let slow = seconds(29 * 60);
    let stage = Stage::new([call("c").delay(slow), ModelStep::stall()]).await;
    let began = Instant::now();
    let course = stage.play().await;
    assert_eq!(course.failure().kind, PortFailureKind::Timeout);
    assert_eq!(began.elapsed(), seconds((29 + 30) * 60));
}

#[tokio::test(start_paused = true)]
async fn a_turn_without_time_sends_nothing() {
    let stage = Stage::new([]).await;
    let course = follow(stage.begin(&within(0, start("hello"))).await.as_mut()).await;
    assert_eq!(course.failure().kind, PortFailureKind::Timeout);
    assert_eq!(course.failure().commit, CommitDisposition::NotCommitted);
    let receipt = stage.receipt();
    assert_eq!((receipt.end, receipt.requests.len()), (TurnEnd::TimedOut, 0));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_beyond_the_clock_is_a_long_one() {
    let stage = Stage::new([ModelStep::text("done")]).await;
    let course = follow(stage.begin(&within(u64::MAX, start("hello"))).await.as_mut()).await;
    assert_eq!(course.answer(), "done");
}

#[tokio::test(start_paused = true)]
async fn a_slow_store_is_no_provider() {
    let steps = [call("a").delay(seconds(5)), call("b").delay(seconds(5)), ModelStep::text("done")];
    let stall = || FaultPlan::new().before("receipts.note_request", 1, Fault::Stall);
    let stage =
        Stage::with_faults(steps, &stall().before("receipts.note_request", 3, Fault::Stall)).await;
    let course = follow(stage.begin(&within(11, start("hello"))).await.as_mut()).await;
    assert_eq!(course.answer(), "done", "twice ten seconds of the store are not counted");
}

/// A session that breaks its contract, or keeps it at the last moment.
enum Odd {
    Deaf,
    Panicking,
    /// Answers when it is cancelled, with what it had counted.
    AnswersWhenCancelled,
}

#[async_trait]
impl ModelSession for Odd {
    async fn invoke(
        &self,
        operation: &OperationContext,
        _: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        match self {
            Self::Deaf => pending().await,
            Self::Panicking => panic!("a fault of the adapter"),
            Self::AnswersWhenCancelled => {
                operation.interrupted().await;
                Ok(ModelResponse {
                    output: Vec::new(),
                    finish: ModelFinish::Stop,
                    usage: usage(4, 1),
                    cost_nano_usd: None,
                    attempts: Vec::new(),
                })
            }
        }
    }

    async fn profile(&self, _: &OperationContext, _: &str) -> Result<ModelProfile, PortFailure> {
        Ok(FakeModel::default_profile())
    }
}

struct OddStage {
    store: FakeReceiptStore,
    router: Router,
}

impl OddStage {
    async fn new(odd: Odd) -> Self {
        let store = FakeReceiptStore::new();
        let router = router_over(Arc::new(odd), &store).await;
        Self { store, router }
    }

    /// Plays a turn of ten seconds that is cancelled after `cancelled_after` of them.
    async fn play(&self, cancelled_after: Duration) -> Course {
        let start = within(10, start("hello"));
        let id = start.operation_id;
        let mut turn = self.router.start_agent_turn(start).await.unwrap();
        let cancelling = async {
            tokio::time::sleep(cancelled_after).await;
            self.router.cancel(id).await
        };
        tokio::join!(follow(turn.as_mut()), cancelling).0
    }
}

#[tokio::test(start_paused = true)]
async fn a_deaf_adapter_is_dropped_after_a_grace() {
    for (cancelled_after, end) in [(3, TurnEnd::Cancelled), (60, TurnEnd::TimedOut)] {
        let stage = OddStage::new(Odd::Deaf).await;
        let course = stage.play(seconds(cancelled_after)).await;
        let receipt = course.failed_receipt();
        assert_eq!((receipt.end, receipt.requests.len()), (end, 1));
        assert_eq!(course.failure().commit, CommitDisposition::Unknown);
        assert_eq!(receipt.requests[0].metering, Metering::Unavailable);
        assert_eq!(stage.store.settled().first(), Some(receipt));
    }
}

#[tokio::test(start_paused = true)]
async fn an_adapter_that_panics_fails_its_turn_and_no_other() {
    let stage = OddStage::new(Odd::Panicking).await;
    for turn in 1..=2 {
        let course = stage.play(seconds(60)).await;
        assert_eq!(course.failure().code, "model_session_panicked");
        assert_eq!(course.failure().commit, CommitDisposition::Unknown);
        assert_eq!(stage.store.settled().len(), turn);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_a_cancellation_overtook_is_counted_but_not_given() {
    let stage = OddStage::new(Odd::AnswersWhenCancelled).await;
    let course = stage.play(seconds(3)).await;
    assert_eq!(course.failure().kind, PortFailureKind::Canceled);
    assert_eq!(course.failure().commit, CommitDisposition::Committed);
    let receipt = course.failed_receipt();
    assert_eq!(
        (receipt.end, receipt.metering),
        (TurnEnd::Cancelled, Metering::Tokens(usage(4, 1)))
    );
    assert!(!receipt.is_lower_bound);
}

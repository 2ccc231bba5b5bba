//! Hosts that go away at any moment, and cancellations at any moment.
//!
//! One property: every turn that was opened leaves exactly one receipt, nothing stays in the tree.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use async_trait::async_trait;
use in_memory_fakes::{FakeReceiptStore, ModelStep};
use proptest::prelude::*;
use runtime_ports::{
    AgentTurnEvent, Intelligence as _, OperationContext, PortFailure, ReceiptStore, ReceiptTotals,
    RequestMeter, TurnEnd, TurnStart, UsageReceipt, UtcDay,
};
use serde_json::json;
use uuid::Uuid;

use crate::stage::{
    Stage, call, done, follow, follow_to_call, overloaded, rate_limited, start, within,
};

type Outcome<T> = Result<T, PortFailure>;

/// Polls a future at most so many times.
struct DropAfter<F> {
    future: Pin<Box<F>>,
    polls: usize,
}

impl<F: Future> Future for DropAfter<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.polls == 0 {
            return Poll::Ready(None);
        }
        self.polls -= 1;
        self.future.as_mut().poll(context).map(Some)
    }
}

fn drop_after<F: Future>(polls: usize, future: F) -> DropAfter<F> {
    DropAfter { future: Box::pin(future), polls }
}

/// What disturbs a turn.
#[derive(Debug, Clone, Copy)]
enum Disturbance {
    DropAfterPolls(usize),
    CancelAfter(Duration),
    AbortAfter(Duration),
    FinishAfterEvents(usize),
}

/// A store that takes its time before and after each write, so that a host can go away meanwhile.
struct SlowStore(FakeReceiptStore);

impl SlowStore {
    async fn slowly<T>(call: impl Future<Output = T>) -> T {
        tokio::time::sleep(Duration::from_millis(2)).await;
        let outcome = call.await;
        tokio::time::sleep(Duration::from_millis(2)).await;
        outcome
    }
}

#[async_trait]
impl ReceiptStore for SlowStore {
    async fn open(&self, frame: &OperationContext, opened: UsageReceipt) -> Outcome<()> {
        Self::slowly(self.0.open(frame, opened)).await
    }

    async fn note_request(
        &self,
        frame: &OperationContext,
        turn: Uuid,
        ordinal: u32,
        meter: RequestMeter,
    ) -> Outcome<()> {
        Self::slowly(self.0.note_request(frame, turn, ordinal, meter)).await
    }

    async fn settle(&self, frame: &OperationContext, receipt: UsageReceipt) -> Outcome<()> {
        Self::slowly(self.0.settle(frame, receipt)).await
    }

    async fn unsettled(&self, frame: &OperationContext) -> Outcome<Vec<UsageReceipt>> {
        Self::slowly(self.0.unsettled(frame)).await
    }

    async fn list(
        &self,
        frame: &OperationContext,
        after: Option<Uuid>,
        limit: usize,
    ) -> Outcome<Vec<UsageReceipt>> {
        self.0.list(frame, after, limit).await
    }

    async fn totals(&self, frame: &OperationContext, day: UtcDay) -> Outcome<Vec<ReceiptTotals>> {
        self.0.totals(frame, day).await
    }
}

/// Plays a turn under a disturbance and holds it to its one receipt.
async fn check(steps: Vec<ModelStep>, timeout: u64, disturbance: Disturbance) {
    let mut stage = Stage::new(steps).await;
    stage.model.unchecked();
    let slow = SlowStore(stage.store.clone());
    stage.router = stage.router.with_receipts(Arc::new(slow));
    let start = within(timeout, start("hello"));
    disturb(&stage, start.clone(), disturbance).await;
    stage.router.settled().await;
    let opened = stage.store.calls().iter().any(|call| format!("{call:?}").starts_with("Open"));
    let settled = stage.store.settled();
    assert!(stage.store.open_turns().is_empty(), "{disturbance:?}");
    assert_eq!(settled.len(), usize::from(opened), "{disturbance:?}");
    assert_eq!(stage.router.cancel(start.operation_id).await, Ok(false), "{disturbance:?}");
    let sent = stage.model.requests().len();
    for receipt in &settled {
        assert_eq!(receipt.requests.len(), sent, "every request is listed: {disturbance:?}");
    }
}

async fn disturb(stage: &Stage, start: TurnStart, disturbance: Disturbance) {
    let (router, id) = (stage.router.clone(), start.operation_id);
    let host = async move {
        if let Ok(mut turn) = router.start_agent_turn(start).await {
            follow(turn.as_mut()).await;
        }
    };
    match disturbance {
        Disturbance::DropAfterPolls(polls) => drop(drop_after(polls, host).await),
        Disturbance::CancelAfter(wait) => {
            let cancelling = async {
                tokio::time::sleep(wait).await;
                stage.router.cancel(id).await
            };
            let (cancelled, ()) = tokio::join!(cancelling, host);
            let end = stage.store.settled().first().map(|receipt| receipt.end);
            assert_eq!(cancelled == Ok(true), end == Some(TurnEnd::Cancelled), "{end:?}");
        }
        Disturbance::AbortAfter(wait) => {
            let task = tokio::spawn(host);
            tokio::time::sleep(wait).await;
            task.abort();
        }
        Disturbance::FinishAfterEvents(events) => host_that_finishes(stage, id, events).await,
    }
}

async fn host_that_finishes(stage: &Stage, id: Uuid, events: usize) {
    let start = TurnStart { operation_id: id, ..start("hello") };
    let Ok(mut turn) = stage.router.start_agent_turn(start).await else { return };
    for _ in 0..events {
        let Ok(Some(event)) = turn.next_event().await else { break };
        if let AgentTurnEvent::ToolCall { call_id, .. } = event {
            let _ = turn.respond(&call_id, done(&call_id)).await;
        }
    }
    let receipt = turn.finish_unavailable().await.unwrap();
    assert_eq!(turn.finish_unavailable().await.unwrap(), receipt);
    assert_eq!(turn.receipt(), Some(&receipt));
    assert!(turn.next_event().await.unwrap().is_none());
}

fn whole_script() -> Vec<ModelStep> {
    vec![
        ModelStep::fail(rate_limited()),
        ModelStep::text("I look")
            .in_pieces(2)
            .and_call("a", "read", json!({}))
            .delay(Duration::from_millis(3)),
        ModelStep::text("done").in_pieces(1).delay(Duration::from_millis(3)),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_dropped_after_any_number_of_polls_leaves_one_receipt() {
    for polls in 0..40 {
        check(whole_script(), 60, Disturbance::DropAfterPolls(polls)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_finishes_after_any_number_of_events_gets_the_one_receipt() {
    for events in 0..12 {
        check(whole_script(), 60, Disturbance::FinishAfterEvents(events)).await;
    }
}

fn any_step() -> impl Strategy<Value = ModelStep> {
    let step = prop_oneof![
        4 => (0..4u32).prop_map(|id| call(&format!("c{id}")).usage(5, 1)),
        2 => Just(call("x").and_call("x", "write", json!({}))),
        2 => Just(ModelStep::text("some text").in_pieces(2).usage(7, 2)),
        1 => Just(ModelStep::text("half").cut()),
        1 => Just(ModelStep::fail(rate_limited())),
        1 => Just(ModelStep::fail(overloaded())),
        1 => Just(ModelStep::text("half").then_fail(overloaded())),
        1 => Just(ModelStep::stall()),
        1 => Just(ModelStep::text("half").then_stall()),
    ];
    (step, 0..30u64).prop_map(|(step, wait)| step.delay(Duration::from_millis(wait)))
}

fn any_disturbance() -> impl Strategy<Value = Disturbance> {
    let millis = (0..120u64).prop_map(Duration::from_millis);
    prop_oneof![
        (0..60usize).prop_map(Disturbance::DropAfterPolls),
        millis.clone().prop_map(Disturbance::CancelAfter),
        millis.prop_map(Disturbance::AbortAfter),
        (0..20usize).prop_map(Disturbance::FinishAfterEvents),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_script_under_any_disturbance_leaves_one_receipt(
        steps in proptest::collection::vec(any_step(), 1..6),
        timeout in 1..3u64,
        disturbance in any_disturbance(),
    ) {
        // The last step ends the turn, so that no script is asked for more than it has.
        let steps = steps.into_iter().chain((0..3).map(|_| ModelStep::stall())).collect();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(check(steps, timeout, disturbance));
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_goes_away_after_its_last_answer_sends_no_further_request() {
    let stage = Stage::new([call("a")]).await;
    let mut turn = stage.begin(&start("hello")).await;
    let id = follow_to_call(turn.as_mut()).await;
    turn.respond(&id, done(&id)).await.unwrap();
    drop(turn);
    stage.router.settled().await;
    assert_eq!((stage.receipt().end, stage.receipt().requests.len()), (TurnEnd::Interrupted, 1));
    assert_eq!(stage.model.calls().len(), 1);
}

/// In real time and on real threads: hosts that run, are aborted and are cancelled at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_hosts_at_once_leave_one_receipt_each() {
    const HOSTS: usize = 200;
    let steps = (0..HOSTS * 2).map(|number| match number % 3 {
        0 => call("a").usage(1, 1),
        1 => ModelStep::text("done").in_pieces(1),
        _ => ModelStep::stall(),
    });
    let stage = Stage::new(steps).await;
    stage.model.unchecked();
    let hosts: Vec<_> = (0..HOSTS)
        .map(|_| {
            let (router, start) = (stage.router.clone(), start("hello"));
            let id = start.operation_id;
            let task = tokio::spawn(async move {
                if let Ok(mut turn) = router.start_agent_turn(start).await {
                    follow(turn.as_mut()).await;
                }
            });
            (id, task)
        })
        .collect();
    for (number, (id, task)) in hosts.into_iter().enumerate() {
        if number % 2 == 0 {
            tokio::task::yield_now().await;
            task.abort();
        } else {
            // Sticky: it ends the turn whether or not it has started.
            stage.router.cancel(id).await.unwrap();
        }
    }
    tokio::time::timeout(Duration::from_secs(20), stage.router.settled()).await.unwrap();
    let opened =
        stage.store.calls().iter().filter(|call| format!("{call:?}").starts_with("Open")).count();
    assert_eq!((stage.store.open_turns().len(), stage.store.settled().len()), (0, opened));
}

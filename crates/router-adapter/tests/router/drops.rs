//! Hosts that go away at any moment, and cancellations at any moment.
//!
//! One property: every turn that was opened leaves exactly one receipt, nothing stays in the tree.

use std::{
    future::Future,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use in_memory_fakes::ModelStep;
use proptest::prelude::*;
use runtime_ports::{Intelligence as _, TurnEnd, TurnStart};
use serde_json::json;

use crate::stage::{Stage, call, done, follow, overloaded, rate_limited, start, within};

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

/// Plays a turn under a disturbance and holds it to its one receipt.
async fn check(steps: Vec<ModelStep>, timeout: u64, disturbance: Disturbance) {
    let stage = Stage::new(steps).await;
    stage.model.unchecked();
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

async fn host_that_finishes(stage: &Stage, id: uuid::Uuid, events: usize) {
    let start = TurnStart { operation_id: id, ..start("hello") };
    let Ok(mut turn) = stage.router.start_agent_turn(start).await else { return };
    for _ in 0..events {
        let Ok(Some(event)) = turn.next_event().await else { break };
        if let runtime_ports::AgentTurnEvent::ToolCall { call_id, .. } = event {
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
        let playing = check(steps, timeout, disturbance);
        runtime.block_on(async { pin!(playing).await });
    }
}

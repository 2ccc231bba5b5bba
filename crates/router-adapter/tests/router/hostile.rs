//! Model sessions that break their contract, and hosts that do not read.
//!
//! One property beside the particular ones: the turn ends, and its receipt is settled.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use in_memory_fakes::{FakeReceiptStore, FaultPlan};
use runtime_ports::{
    Intelligence as _, Metering, ModelDelta, ModelResponse, ModelSession, RequestMeter, TurnEnd,
};
use serde_json::{Value, json};

use crate::{
    rogue::{Answering, answering, calling, rogue, saying},
    stage::{Course, disk_lost, follow, router_over, start, within},
};

struct Scene {
    store: FakeReceiptStore,
    router: router_adapter::Router,
}

impl Scene {
    async fn over(session: Arc<dyn ModelSession>) -> Self {
        Self::with_faults(session, &FaultPlan::new()).await
    }

    async fn with_faults(session: Arc<dyn ModelSession>, faults: &FaultPlan) -> Self {
        let store = FakeReceiptStore::new().with_faults(faults);
        let router = router_over(session, &store).await;
        Self { store, router }
    }

    async fn play(&self) -> Course {
        self.play_within(60).await
    }

    async fn play_within(&self, seconds: u64) -> Course {
        let mut turn = self.router.start_agent_turn(within(seconds, start("hello"))).await.unwrap();
        follow(turn.as_mut()).await
    }

    #[track_caller]
    fn settled_once(&self, end: TurnEnd, requests: usize) {
        assert!(self.store.open_turns().is_empty(), "a turn is open");
        let settled = self.store.settled();
        assert_eq!(settled.len(), 1, "{settled:?}");
        assert_eq!((settled[0].end, settled[0].requests.len()), (end, requests), "{settled:?}");
    }
}

/// Panics when it is dropped.
struct Trap;

impl Drop for Trap {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a trap was dropped");
        }
    }
}

fn trapped<'a>() -> Answering<'a> {
    let trap = Trap;
    Box::pin(async move {
        std::future::pending::<()>().await;
        drop(trap);
        Ok(saying("never"))
    })
}

#[tokio::test(start_paused = true)]
async fn a_timeout_beyond_the_clock_is_no_timeout() {
    let scene = Scene::over(rogue(|_, _, _| Box::pin(async { Ok(saying("done")) }))).await;
    let mut start = start("hello");
    start.request.timeout = Some(Duration::MAX);
    let mut turn = scene.router.start_agent_turn(start).await.unwrap();
    assert_eq!(follow(turn.as_mut()).await.answer(), "done");
    scene.settled_once(TurnEnd::Completed, 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_panics_when_it_is_dropped_is_accounted_for() {
    let scene = Scene::over(rogue(|_, _, _| trapped())).await;
    let course = scene.play_within(5).await;
    assert!(course.failure.is_some());
    scene.settled_once(TurnEnd::TimedOut, 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_panics_when_it_is_given_up_is_accounted_for() {
    let scene = Scene::over(rogue(|_, _, _| trapped())).await;
    let mut turn = scene.router.start_agent_turn(start("hello")).await.unwrap();
    let _ = turn.next_event().await;
    assert!(tokio::time::timeout(Duration::from_secs(1), turn.next_event()).await.is_err());
    drop(turn);
    scene.router.settled().await;
    scene.settled_once(TurnEnd::Interrupted, 1);
}

#[tokio::test(start_paused = true)]
async fn a_panic_whose_payload_panics_is_a_failure() {
    let scene = Scene::over(rogue(|_, _, _| Box::pin(async { std::panic::panic_any(Trap) }))).await;
    assert_eq!(scene.play().await.failure().code, "model_session_panicked");
    scene.settled_once(TurnEnd::Failed, 1);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_calls_of_one_answer_cost_no_more_than_their_number() {
    for id in ["same", "", "c-2"] {
        let session = rogue(move |nth, _, _| {
            Box::pin(async move {
                let call = || calling(id, json!({}));
                let calls = std::iter::repeat_with(call).take(10_000).collect();
                Ok(if nth == 1 { answering(calls) } else { saying("done") })
            })
        });
        let scene = Scene::over(session).await;
        let began = Instant::now();
        let course = scene.play().await;
        assert_eq!(course.answer(), "done");
        assert!(began.elapsed() < Duration::from_secs(5), "{id:?}: {:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_restarts_waits_in_bounded_room() {
    let session = rogue(|_, _, sink| {
        Box::pin(async move {
            for _ in 0..100_000 {
                sink.delta(ModelDelta::Text("a"));
                sink.delta(ModelDelta::Reasoning("b"));
                sink.delta(ModelDelta::Restarted);
            }
            sink.delta(ModelDelta::Text("done"));
            Ok(saying("done"))
        })
    });
    let scene = Scene::over(session).await;
    let course = scene.play().await;
    assert_eq!(course.text(), "done");
    assert!(course.events.len() < 100, "{} events", course.events.len());
}

#[tokio::test(start_paused = true)]
async fn a_million_unread_deltas_are_merged_and_none_is_lost() {
    let session = rogue(|_, _, sink| {
        Box::pin(async move {
            for number in 0..1_000_000 {
                match number % 2 {
                    0 => sink.delta(ModelDelta::Text("x")),
                    _ => sink.delta(ModelDelta::Reasoning("y")),
                }
            }
            Ok(saying("done"))
        })
    });
    let scene = Scene::over(session).await;
    let course = scene.play().await;
    assert_eq!(course.text().len(), 500_000);
    assert!(course.events.len() < 100, "{} events", course.events.len());
}

fn metered(metering: Metering) -> ModelResponse {
    let meter = RequestMeter {
        provider_request_id: None,
        metering,
        end: TurnEnd::Completed,
        cost_nano_usd: None,
    };
    ModelResponse { attempts: vec![meter], ..saying("done") }
}

#[tokio::test(start_paused = true)]
async fn a_duration_that_is_no_number_is_unknown() {
    for seconds in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
        let faults = FaultPlan::new().after("receipts.settle", 1, disk_lost());
        let conduct = move |_: u32| async move { Ok(metered(Metering::DurationSeconds(seconds))) };
        let session = rogue(move |nth, _, _| Box::pin(conduct(nth)));
        let scene = Scene::with_faults(session, &faults).await;
        assert_eq!(scene.play().await.answer(), "done", "{seconds}");
        let receipt = scene.store.settled().remove(0);
        assert_eq!(receipt.metering, Metering::Unavailable, "{seconds}");
        assert!(receipt.is_lower_bound);
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_name_of_a_request_is_cut() {
    let session = rogue(|_, _, _| {
        Box::pin(async {
            let mut response = metered(Metering::Unavailable);
            response.attempts[0].provider_request_id = Some("ä".repeat(10 << 20));
            Ok(response)
        })
    });
    let scene = Scene::over(session).await;
    assert_eq!(scene.play().await.answer(), "done");
    let receipt = scene.store.settled().remove(0);
    assert_eq!(receipt.requests[0].provider_request_id, Some("ä".repeat(512)));
}

#[tokio::test(start_paused = true)]
async fn a_sum_of_durations_stays_a_number() {
    let session = rogue(|_, _, _| {
        Box::pin(async {
            let mut response = metered(Metering::DurationSeconds(f64::MAX));
            response.attempts = vec![response.attempts[0].clone(); 3];
            Ok(response)
        })
    });
    let scene = Scene::over(session).await;
    assert_eq!(scene.play().await.answer(), "done");
    let receipt = scene.store.settled().remove(0);
    let text = serde_json::to_string(&receipt).unwrap();
    assert_eq!(serde_json::from_str::<runtime_ports::UsageReceipt>(&text).unwrap(), receipt);
}

/// Nests an array in an array, and so on.
fn nested(depth: usize) -> Value {
    (0..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
}

#[test]
fn arguments_of_any_depth_come_to_an_answer() {
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let session = rogue(|nth, _, _| {
                Box::pin(async move {
                    let calls = vec![calling("c", nested(10_000))];
                    Ok(if nth == 1 { answering(calls) } else { saying("done") })
                })
            });
            let scene = Scene::over(session).await;
            assert_eq!(scene.play().await.answer(), "done");
        });
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[tokio::test(start_paused = true)]
async fn no_call_is_surfaced_once_the_cancellation_was_confirmed() {
    let session = rogue(|_, operation, _| {
        Box::pin(async move {
            operation.cancellation.cancelled().await;
            Ok(answering(vec![calling("c", json!({}))]))
        })
    });
    let scene = Scene::over(session).await;
    let start = start("hello");
    let id = start.operation_id;
    let mut turn = scene.router.start_agent_turn(start).await.unwrap();
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(scene.router.cancel(id).await.unwrap());
    };
    let (course, ()) = tokio::join!(follow(turn.as_mut()), cancel);
    assert!(course.calls().is_empty(), "{course:?}");
    scene.settled_once(TurnEnd::Cancelled, 1);
}

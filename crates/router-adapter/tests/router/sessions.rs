//! Model calls without a turn: billed, repeated, cancelled and dropped like one.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use in_memory_fakes::{DeltaLog, FakeModel, FaultPlan, ModelStep, RecordedDelta};
use router_adapter::Router;
use runtime_ports::{
    CommitDisposition, DeltaSink, Intelligence as _, Metering, ModelDelta, ModelMessage,
    ModelRequest, ModelRole, ModelSession, OperationContext, PortFailureKind, ToolSet, Transcript,
    TurnEnd,
};
use runtime_types::{ExecutionId, OperationId};
use uuid::Uuid;

use crate::rogue::{rogue, saying};
use crate::stage::{Stage, disk_full, overloaded, rate_limited, usage};

const PARENT: Uuid = Uuid::from_u128(42);

fn operation() -> OperationContext {
    let id = Uuid::new_v4();
    OperationContext::root(OperationId::from(id), ExecutionId::from(id), Duration::from_secs(60))
}

fn request(model: &str) -> ModelRequest {
    ModelRequest {
        invocation_id: "run-1".into(),
        model: model.into(),
        messages: Transcript::from(vec![ModelMessage::text(ModelRole::User, "hello")]),
        tools: ToolSet::default(),
        max_output_tokens: Some(100),
        options: Arc::default(),
    }
}

fn session(stage: &Stage) -> Arc<dyn ModelSession> {
    stage.router.session("ada", Some(PARENT))
}

#[tokio::test(start_paused = true)]
async fn each_call_is_billed() {
    let stage = Stage::new([ModelStep::text("one").usage(10, 2)]).await;
    let answer = session(&stage).invoke(&operation(), request("best")).await.unwrap();
    assert_eq!(answer.output[0], runtime_ports::ModelContent::text("one"));
    let receipt = stage.receipt();
    assert_eq!((&*receipt.user_id, receipt.parent_operation_id), ("ada", Some(PARENT)));
    assert_eq!((&*receipt.requested_model, &*receipt.provider_model), ("best", "fake-model"));
    assert_eq!((receipt.end, receipt.cost_nano_usd), (TurnEnd::Completed, Some(14_000)));
    let sent = &stage.model.requests()[0];
    assert_eq!((&*sent.model, &*sent.invocation_id), ("fake-model", "run-1"));
    assert_eq!(sent.max_output_tokens, Some(100));
}

#[tokio::test(start_paused = true)]
async fn deltas_reach_the_caller_in_order() {
    let deltas = vec![
        RecordedDelta::Reasoning("hm".into()),
        RecordedDelta::Text("a".into()),
        RecordedDelta::ToolCall { index: 0, id: "c".into(), name: "read".into() },
        RecordedDelta::ToolArguments { index: 0, fragment: "{}".into() },
    ];
    let stage = Stage::new([ModelStep::text("a").deltas(deltas.clone())]).await;
    let log = DeltaLog::new();
    session(&stage).invoke_streaming(&operation(), request("best"), &log).await.unwrap();
    assert_eq!(log.all(), deltas);
}

#[tokio::test(start_paused = true)]
async fn a_call_is_repeated_as_a_turns_request_is() {
    let steps =
        [ModelStep::fail(rate_limited()), ModelStep::fail(overloaded()), ModelStep::text("a")];
    let stage = Stage::new(steps).await;
    let answer = session(&stage).invoke(&operation(), request("best")).await.unwrap();
    assert_eq!(answer.attempts.len(), 3);
    assert_eq!(stage.receipt().requests, answer.attempts);
    let stage = Stage::new((0..3).map(|_| ModelStep::fail(rate_limited()))).await;
    let failure = session(&stage).invoke(&operation(), request("best")).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts.len()), (PortFailureKind::RateLimited, 3));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_leaves_its_receipt() {
    let stage = Stage::new([ModelStep::stall()]).await;
    let session = session(&stage);
    let (frame, wait) = (operation(), Duration::from_secs(1));
    let dropped = tokio::time::timeout(wait, session.invoke(&frame, request("best"))).await;
    assert!(dropped.is_err());
    stage.router.settled().await;
    let receipt = stage.receipt();
    assert_eq!((receipt.end, receipt.requests.len()), (TurnEnd::Interrupted, 1));
    assert_eq!((receipt.metering, receipt.is_lower_bound), (Metering::Unavailable, true));
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_with_its_operation_and_with_its_parent() {
    for by_parent in [false, true] {
        let stage = Stage::new([ModelStep::stall()]).await;
        let (frame, session) = (operation(), session(&stage));
        let cancelling = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if by_parent {
                assert_eq!(stage.router.cancel(PARENT).await, Ok(true));
            } else {
                frame.cancellation.cancel();
            }
        };
        let (outcome, ()) = tokio::join!(session.invoke(&frame, request("best")), cancelling);
        let failure = outcome.unwrap_err();
        assert_eq!(failure.kind, PortFailureKind::Canceled);
        assert_eq!(failure.commit, CommitDisposition::Unknown);
        assert_eq!(stage.receipt().end, TurnEnd::Cancelled);
        assert_eq!(frame.cancellation.is_cancelled(), !by_parent, "a child spares its cause");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_at_its_deadline() {
    let stage = Stage::new([ModelStep::stall()]).await;
    let failure = session(&stage).invoke(&operation(), request("best")).await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::Timeout);
    assert_eq!(stage.receipt().end, TurnEnd::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_leaves_no_receipt() {
    let stage = Stage::new([]).await;
    let session = session(&stage);
    let unknown = session.invoke(&operation(), request("bes")).await.unwrap_err();
    assert_eq!(unknown.kind, PortFailureKind::NotFound);
    let unknown = session.profile(&operation(), "bes").await.unwrap_err();
    assert_eq!(unknown.kind, PortFailureKind::NotFound);
    let cancelled = operation();
    cancelled.cancellation.cancel();
    let refused = session.invoke(&cancelled, request("best")).await.unwrap_err();
    assert_eq!(refused.kind, PortFailureKind::Canceled);
    stage.router.cancel(PARENT).await.unwrap();
    let sticky = session.invoke(&operation(), request("best")).await.unwrap_err();
    assert_eq!(
        (sticky.kind, sticky.commit),
        (PortFailureKind::Canceled, CommitDisposition::NotCommitted)
    );
    assert!(stage.store.settled().is_empty() && stage.store.open_turns().is_empty());
    assert_eq!(session.profile(&operation(), "best").await.unwrap().max_input_tokens, 120_000);
}

#[tokio::test(start_paused = true)]
async fn an_answer_whose_receipt_is_lost_is_a_committed_failure() {
    let faults = (1..=3)
        .fold(FaultPlan::new(), |plan, nth| plan.before("receipts.settle", nth, disk_full()));
    let stage = Stage::with_faults([ModelStep::text("paid").usage(3, 1)], &faults).await;
    let failure = session(&stage).invoke(&operation(), request("best")).await.unwrap_err();
    assert_eq!(
        (&*failure.code, failure.commit),
        ("receipt_not_stored", CommitDisposition::Committed)
    );
    assert_eq!(failure.attempts[0].metering, Metering::Tokens(usage(3, 1)));
}

#[tokio::test(start_paused = true)]
async fn a_routers_session_behind_another_router_is_refused() {
    let stage = Stage::new([]).await;
    let inner = stage.router.session("ada", None);
    let outer = Router::single(inner, "writer");
    let failure =
        outer.session("ada", None).invoke(&operation(), request("writer")).await.unwrap_err();
    assert_eq!(failure.code, "router_within_a_router");
    assert!(stage.store.settled().is_empty(), "nothing was billed twice");
}

#[tokio::test(start_paused = true)]
async fn calls_without_a_store_are_made_without_receipts() {
    let model = FakeModel::new([ModelStep::text("free")]);
    let router = Router::single(Arc::new(model), FakeModel::MODEL);
    let answer = router.session("ada", None).invoke(&operation(), request("fake-model")).await;
    assert!(answer.is_ok());
}

struct Counting(AtomicU32);

impl DeltaSink for Counting {
    fn delta(&self, _: ModelDelta<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_call_deltas_costs_no_more_than_their_number() {
    let session = rogue(|_, _, sink| {
        Box::pin(async move {
            for index in 0..20_000 {
                sink.delta(ModelDelta::ToolCall { index, id: "c", name: "n" });
                sink.delta(ModelDelta::ToolArguments { index, fragment: "{" });
                sink.delta(ModelDelta::ToolArguments { index, fragment: "}" });
            }
            Ok(saying("done"))
        })
    });
    let router = Router::single(session, "writer");
    let sink = Counting(AtomicU32::new(0));
    let began = Instant::now();
    let session = router.session("ada", None);
    session.invoke_streaming(&operation(), request("writer"), &sink).await.unwrap();
    assert!(sink.0.into_inner() >= 40_000, "no call is merged with another");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

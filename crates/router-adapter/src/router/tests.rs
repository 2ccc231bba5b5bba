//! Holds a turn to costing what is new in it, however long its thread is.

use std::sync::{Arc, atomic::Ordering};

use in_memory_fakes::{FakeModel, ModelStep};
use runtime_ports::{
    AgentContinuation, AgentTurnEvent, AgentTurnRequest, Intelligence as _, ModelSession, TurnStart,
};
use uuid::Uuid;

use crate::Router;

fn start(continuation: Option<AgentContinuation>) -> TurnStart {
    TurnStart {
        user_id: "ada".into(),
        operation_id: Uuid::new_v4(),
        parent_operation_id: None,
        continuation,
        request: AgentTurnRequest {
            model: FakeModel::MODEL.into(),
            reasoning_effort: String::new(),
            input: "go on".into(),
            tools: Vec::new(),
            timeout: None,
            ephemeral: false,
            max_requests: 10,
        },
    }
}

/// Messages of a thread that are looked at in each of so many turns.
async fn looked_at(router: &Router, turns: usize) -> Vec<usize> {
    let (mut counts, mut continuation) = (Vec::new(), None);
    for _ in 0..turns {
        let before = router.projections().looked_at.load(Ordering::Relaxed);
        let mut turn = router.start_agent_turn(start(continuation)).await.unwrap();
        while let Some(event) = turn.next_event().await.unwrap() {
            assert!(!matches!(event, AgentTurnEvent::ToolCall { .. }));
        }
        continuation = turn.continuation().cloned();
        counts.push(router.projections().looked_at.load(Ordering::Relaxed) - before);
    }
    counts
}

#[tokio::test(start_paused = true)]
async fn a_turn_costs_what_is_new_in_it_however_long_its_thread_is() {
    let answers = (0..60).map(|it| ModelStep::text(format!("answer {it}")).usage(1, 1));
    let session: Arc<dyn ModelSession> = Arc::new(FakeModel::new(answers).with_issuer("house"));
    let router = Router::single(session, FakeModel::MODEL);
    let counts = looked_at(&router, 60).await;
    assert_eq!(counts[0], 1);
    assert!(counts[1..].iter().all(|count| *count == 2), "{counts:?}");
}

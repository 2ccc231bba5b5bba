//! What the loop tells a tracing subscriber: ids and counts, and nothing that anybody wrote.
//!
//! A binary of its own: a subscriber of one thread misses what another thread, which has none,
//! came upon first.

use std::{
    fmt::{Debug, Write as _},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use in_memory_fakes::{FakeIntelligence, TurnScript};
use runtime_kernel::{
    AgentRuntime, HostFuture, PreparedRound, RoundCompletion, RoundPreparation, SessionControl,
    SessionEvent, SessionHost, SessionRunRequest, SessionToolOutcome, ToolCall,
};
use serde_json::{Value, json};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::set_default,
};
use uuid::Uuid;

const CANARY: &str = "canary-7f3a";

/// Writes down the names and fields of every span and event of the kernel.
#[derive(Clone, Default)]
struct Notebook {
    text: Arc<Mutex<String>>,
    spans: Arc<AtomicU64>,
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Notebook {
    fn write(&self, metadata: &Metadata<'_>, fields: impl FnOnce(&mut Line<'_>)) {
        let mut text = self.text.lock().unwrap();
        text.push_str(if metadata.is_span() { metadata.name() } else { "event" });
        fields(&mut Line(&mut text));
        text.push('\n');
    }
}

impl Subscriber for Notebook {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("runtime_kernel")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.write(span.metadata(), |line| span.record(line));
        Id::from_u64(self.spans.fetch_add(1, Relaxed) + 1)
    }

    fn event(&self, event: &Event<'_>) {
        self.write(event.metadata(), |line| event.record(line));
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

/// A host that says and hears nothing but the canary.
struct Canary;

impl SessionHost for Canary {
    fn prepare_round<'a>(&'a mut self, _round: u64) -> HostFuture<'a, RoundPreparation> {
        let prepared = PreparedRound {
            input: CANARY.into(),
            provider_input: CANARY.into(),
            continuation: None,
            model: "fake".into(),
            reasoning_effort: CANARY.into(),
            tool_description: CANARY.into(),
            timeout: None,
        };
        Box::pin(async { Ok(RoundPreparation::Run(prepared)) })
    }

    fn record<'a>(&'a mut self, _event: SessionEvent) -> HostFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn execute_tool<'a>(
        &'a mut self,
        _call: anyhow::Result<ToolCall>,
        _provider_operation_id: Uuid,
    ) -> HostFuture<'a, SessionToolOutcome> {
        Box::pin(async { Ok(SessionToolOutcome::success(CANARY)) })
    }

    fn complete_capture<'a>(
        &'a mut self,
        _capture: Value,
        contents: String,
    ) -> HostFuture<'a, SessionControl> {
        Box::pin(async { Ok(SessionControl::Complete(Some(contents))) })
    }

    fn complete_round<'a>(&'a mut self, round: RoundCompletion) -> HostFuture<'a, SessionControl> {
        Box::pin(async { Ok(SessionControl::Complete(Some(round.answer))) })
    }
}

#[tokio::test]
async fn spans_carry_ids_and_counts_and_no_content() {
    let notebook = Notebook::default();
    let watching = set_default(notebook.clone());
    let script = TurnScript::new()
        .text(CANARY)
        .ktool(CANARY, json!({ CANARY: CANARY }), CANARY)
        .call(CANARY, json!(CANARY), "c2")
        .complete(CANARY);
    let intelligence = FakeIntelligence::new([script]);
    let runtime = AgentRuntime::new(Arc::new(intelligence.clone()));
    let operation_id = Uuid::from_u128(7);
    let (user_id, rounds_used, round_limit) = (CANARY.into(), 3, 5);
    let request = SessionRunRequest { user_id, operation_id, rounds_used, round_limit };
    runtime.run_session(request, &mut Canary).await.unwrap();
    drop(watching);
    let turn = intelligence.started()[0].operation_id;
    let text = notebook.text.lock().unwrap().clone();
    let expected = [
        format!("session operation={operation_id} rounds_used=3 round_limit=5"),
        format!("round round=4 turn={turn}"),
        "event message=turn settled tool_calls=2 end=Completed".to_owned(),
        "event message=session completed round=4".to_owned(),
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    assert!(!text.contains(CANARY));
}

//! What the router tells a tracing subscriber: turns, invocations and repetitions by their ids, and
//! nothing that anybody wrote.
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

use in_memory_fakes::{FakeModel, ModelStep};
use router_adapter::Router;
use runtime_ports::{AgentTurnRequest, Intelligence as _, PortFailure, PortFailureKind, TurnStart};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::set_default,
};
use uuid::Uuid;

const CANARY: &str = "canary-7f3a";

/// Writes down the names and fields of every span and event of the router.
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
        metadata.target().starts_with("router_adapter")
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

fn start() -> TurnStart {
    TurnStart {
        user_id: CANARY.into(),
        operation_id: Uuid::from_u128(7),
        parent_operation_id: None,
        continuation: None,
        request: AgentTurnRequest {
            model: FakeModel::MODEL.into(),
            reasoning_effort: CANARY.into(),
            input: CANARY.into(),
            tools: Vec::new(),
            timeout: None,
            ephemeral: true,
            max_requests: 1,
        },
    }
}

#[tokio::test(start_paused = true)]
async fn every_attempt_and_every_repetition_is_told_by_its_id() {
    let notebook = Notebook::default();
    let watching = set_default(notebook.clone());
    let overloaded =
        PortFailure::in_flight_unknown(PortFailureKind::Unavailable, "BUSY", CANARY).retryable();
    let model = FakeModel::new([ModelStep::fail(overloaded), ModelStep::text(CANARY)]);
    let router = Router::single(Arc::new(model), FakeModel::MODEL);
    let mut turn = router.start_agent_turn(start()).await.unwrap();
    while turn.next_event().await.unwrap().is_some() {}
    drop(watching);
    let id = Uuid::from_u128(7);
    let text = notebook.text.lock().unwrap().clone();
    let expected = [
        format!("turn operation={id}"),
        format!("request operation={id}-1"),
        "event message=sent again after an unknown outcome request=0 code=\"BUSY\"".to_owned(),
        format!("request operation={id}-1"),
        "event message=turn settled end=Completed requests=2 stored=true".to_owned(),
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    assert!(!text.contains(CANARY));
}

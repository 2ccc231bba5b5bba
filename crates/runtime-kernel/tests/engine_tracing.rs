//! What a run of the engine tells a tracing subscriber: ids and counts, each span within that of
//! the run, and nothing that anybody wrote.
//!
//! A binary of its own: a subscriber of one thread misses what another thread, which has none,
//! came upon first.

use std::{
    fmt::{Debug, Write as _},
    sync::{Arc, Mutex},
};

use in_memory_fakes::{FakeModel, FakeTool, ModelStep, ToolStep};
use runtime_kernel::engine::{Agent, RunOptions, Task};
use serde_json::json;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::set_default,
};

const CANARY: &str = "canary-7f3a";

/// Writes down each span of the kernel, behind those that it is within.
#[derive(Clone, Default)]
struct Notebook(Arc<Mutex<Notes>>);

#[derive(Default)]
struct Notes {
    /// Path, name and fields of each span.
    spans: Vec<String>,
    /// The spans that are entered, outermost first.
    entered: Vec<Id>,
    events: Vec<String>,
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Notes {
    fn path(&self, span: Option<&Id>) -> String {
        let place = span.and_then(|id| usize::try_from(id.into_u64()).ok());
        place.map_or_else(String::new, |place| format!("{} > ", self.spans[place - 1]))
    }
}

impl Subscriber for Notebook {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("runtime_kernel")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut notes = self.0.lock().unwrap();
        let parent = match span.is_contextual() {
            true => notes.entered.last().cloned(),
            false => span.parent().cloned(),
        };
        let mut line = notes.path(parent.as_ref()) + span.metadata().name();
        span.record(&mut Line(&mut line));
        notes.spans.push(line);
        Id::from_u64(notes.spans.len() as u64)
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = String::new();
        event.record(&mut Line(&mut line));
        self.0.lock().unwrap().events.push(line);
    }

    fn enter(&self, span: &Id) {
        self.0.lock().unwrap().entered.push(span.clone());
    }

    fn exit(&self, span: &Id) {
        let mut notes = self.0.lock().unwrap();
        let place = notes.entered.iter().rposition(|entered| entered == span).unwrap();
        notes.entered.remove(place);
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
}

#[tokio::test]
async fn spans_stand_within_their_run_and_cycle_and_carry_no_content() {
    let notebook = Notebook::default();
    let watching = set_default(notebook.clone());
    let called = ModelStep::tool_call("c1", CANARY, json!({ CANARY: CANARY }));
    let model = FakeModel::new([called, ModelStep::text(CANARY)]);
    let agent = Agent::builder(CANARY, Arc::new(model), FakeModel::MODEL)
        .instructions(CANARY)
        .tool(FakeTool::new(CANARY, [ToolStep::text(CANARY)]))
        .build()
        .unwrap();
    let run = agent.start_with(Task::new(CANARY), RunOptions::default().run_id("run"));
    run.result().await.unwrap();
    drop(watching);
    let notes = notebook.0.lock().unwrap();
    let expected = [
        "run run_id=run",
        "run run_id=run > cycle cycle=1",
        "run run_id=run > cycle cycle=1 > invocation invocation_id=run-2",
        "run run_id=run > cycle cycle=1 > tool call_id=c1",
        "run run_id=run > cycle cycle=2",
        "run run_id=run > cycle cycle=2 > invocation invocation_id=run-6",
    ];
    assert_eq!(notes.spans, expected);
    assert!(notes.events.iter().all(|event| !event.contains(CANARY)), "{:?}", notes.events);
}

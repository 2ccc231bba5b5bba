//! Decides how these tests ask: an API of four kinds of events, and what came of a request in one
//! line.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use model_wire::{
    Answer, Decoder, Ending, Endpoint, Exchange, HttpClient, Meter, Progress, Recorder, Replay,
    Tape, Timeouts, failure,
};
use runtime_ports::{
    DeltaSink, ModelContent, ModelDelta, ModelFinish, OperationContext, PortFailure,
};
use runtime_types::{ExecutionId, OperationId};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Short patience: real sockets, real time.
pub(crate) const SHORT: Duration = Duration::from_millis(500);

/// Texts until `{"done":true}`; `{"error":…}` is one.
#[derive(Default)]
struct Echo {
    text: String,
    done: bool,
    meter: Meter,
}

impl Decoder for Echo {
    fn take(
        &mut self,
        _name: &str,
        frame: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<Progress, PortFailure> {
        if let Some(error) = model_wire::answer::error_of(frame) {
            let refusal = model_wire::Refusal::of_value(error);
            return Err(failure::of_event(&refusal, !self.text.is_empty()));
        }
        if let Some(text) = model_wire::answer::text(frame, "text") {
            self.text.push_str(text);
            sink.delta(ModelDelta::Text(text));
        }
        self.done |= frame["done"] == true;
        Ok(match (self.done, frame["done"] == "soon") {
            (true, _) => Progress::Over,
            (false, true) => Progress::Settled,
            (false, false) => Progress::Open,
        })
    }

    fn finish(&mut self, ending: Ending, _sink: &dyn DeltaSink) -> Result<Answer, PortFailure> {
        if !self.done && ending == Ending::Eof {
            return Err(failure::truncated());
        }
        let output = vec![ModelContent::Text { text: std::mem::take(&mut self.text) }];
        Ok(Answer { output, finish: ModelFinish::Stop })
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }

    fn response_id(&self) -> Option<&str> {
        None
    }
}

/// Writes deltas down, and cancels when one of them says so.
struct Watcher<'a> {
    seen: Mutex<Vec<String>>,
    cancellation: &'a CancellationToken,
}

impl DeltaSink for Watcher<'_> {
    fn delta(&self, delta: ModelDelta<'_>) {
        if let ModelDelta::Text(text) = delta {
            self.seen.lock().expect("the lines").push(text.to_owned());
            if text.contains("STOP") {
                self.cancellation.cancel();
            }
        }
    }
}

pub(crate) fn operation() -> OperationContext {
    let (id, execution) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
    let limit = Duration::from_secs(20);
    OperationContext::root(OperationId::from(id), ExecutionId::from(execution), limit)
}

/// A server with short patience, recorded or replayed.
pub(crate) fn endpoint(base_url: &str, tape: Tape) -> Endpoint {
    let timeouts = Timeouts { connect: SHORT, head: SHORT, idle: SHORT, tail: SHORT };
    Endpoint { timeouts, tape, event_limit: 64 * 1024, ..Endpoint::new(base_url) }
}

/// What came of asking `body`: deltas run together, answer or failure, and meter.
pub(crate) async fn ask(client: &HttpClient, body: &str) -> String {
    let operation = operation();
    let seen = Mutex::default();
    let watcher = Watcher { seen, cancellation: &operation.cancellation };
    let exchange = Exchange { client, operation: &operation, sink: &watcher };
    let body = body.to_owned().into_bytes().into();
    let outcome = exchange.run("echo", body, Box::<Echo>::default()).await;
    let outcome = match outcome {
        Ok(answered) => format!("{:?} {:?}", answered.answer, answered.meter),
        Err(failed) => format!("{:?} {:?}", failed.failure, failed.meter),
    };
    format!("{:?} {outcome}", watcher.seen.lock().expect("the lines").concat())
}

/// What came of asking for a document.
pub(crate) async fn get(client: &HttpClient, path: &str) -> String {
    let operation = operation();
    let sink = runtime_ports::DiscardDeltas;
    let exchange = Exchange { client, operation: &operation, sink: &sink };
    format!("{:?}", exchange.get(path).await)
}

/// A folder with a tape that is being recorded.
pub(crate) struct Studio {
    _folder: TempDir,
    pub(crate) path: PathBuf,
    pub(crate) recorder: Arc<Recorder>,
}

impl Studio {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tape.jsonl");
        let recorder = Recorder::create(&path).expect("a tape");
        Self { _folder: folder, path, recorder }
    }

    pub(crate) fn tape(&self) -> Tape {
        Tape::Record(Arc::clone(&self.recorder))
    }

    /// What is in the file once everything is written.
    pub(crate) async fn text(&self) -> String {
        self.recorder.settled().await.expect("everything is written");
        std::fs::read_to_string(&self.path).expect("a tape in UTF-8")
    }

    pub(crate) async fn replay(&self) -> Arc<Replay> {
        Replay::of_bytes(self.text().await.as_bytes()).expect("a good tape")
    }
}

//! Decides what is common to the two ways of decoding an answer: what goes in and what comes out.
//!
//! Knows nothing about either API. Invariant: an answer comes only from a stream that said that it
//! is finished; whatever else ends a stream is a failure.

use runtime_ports::{DeltaSink, ModelContent, ModelFinish, PortFailure};
use serde_json::Value;

use crate::{metering::Meter, verbatim::Place};

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// The frame carried nothing; it only shows that the connection lives.
    Idle,
    /// More is to come.
    Open,
    /// It is finished, but counts may follow.
    Settled,
    /// Nothing that matters can follow.
    Over,
}

/// How the stream of an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The server said that this was all: `[DONE]`.
    Announced,
    /// It was one JSON document, and that is whole.
    Document,
    /// The bytes ended.
    Eof,
}

/// A finished answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What the model said, in order.
    pub output: Vec<ModelContent>,
    /// Why it stopped.
    pub finish: ModelFinish,
}

/// Takes the frames of one answer.
pub trait Decoder: Send {
    /// Takes a frame of a stream, or the one JSON document that came instead, and says how far the
    /// answer has come with it.
    fn take(
        &mut self,
        name: &str,
        frame: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<Progress, PortFailure>;

    /// Whether a document that is a list has a frame in each of its elements. Otherwise its first
    /// element is the document: some servers wrap errors so.
    fn takes_lists(&self) -> bool {
        false
    }

    /// Places of a frame whose values are taken as the text that they were sent in, such as the
    /// arguments of a call: nothing in them changes.
    fn verbatim(&self) -> &'static [Place] {
        &[]
    }

    /// Makes the answer, or the failure of an answer that is none.
    fn finish(&mut self, ending: Ending, sink: &dyn DeltaSink) -> Result<Answer, PortFailure>;

    /// What was reported about size and cost so far.
    fn meter(&self) -> &Meter;

    /// The provider's name for the response, when it told one.
    fn response_id(&self) -> Option<&str>;
}

/// The text of a field; absent, `null` and other types are `None`.
pub fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// The text of a field, unless it is empty.
pub fn filled<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    text(value, name).filter(|text| !text.is_empty())
}

/// The elements of a field that is an array; none otherwise.
pub fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The error of a frame. `null`, `false`, zero and whatever is empty are no errors, and neither is
/// an object of nothing else: some gateways write one into every frame.
pub fn error_of(frame: &Value) -> Option<&Value> {
    frame.get("error").filter(|error| says_something(error))
}

/// Whether there is anything in a value.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_so) => *is_so,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => values.iter().any(says_something),
        Value::Object(fields) => fields.values().any(says_something),
    }
}

/// The state of a gateway that answers whatever happens with HTTP 200, when it is no success.
pub fn failed_state(frame: &Value) -> Option<&Value> {
    let state = frame.get("base_resp")?;
    state.get("status_code").is_some_and(is_code_of_failure).then_some(state)
}

/// Whether a code is one of a failure, in the usage of servers whose answers have one too.
pub fn is_code_of_failure(code: &Value) -> bool {
    match code {
        Value::String(code) => !matches!(code.as_str(), "" | "0" | "200" | "ok" | "success"),
        Value::Number(code) => !matches!(code.as_u64(), Some(0 | 200)),
        _ => false,
    }
}

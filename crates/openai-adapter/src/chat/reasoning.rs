//! Decides which reasoning of a chat answer is shown, and what of it goes back to its issuer.
//!
//! Knows nothing about text and tool calls. Invariant: what goes back is what came, under the field
//! it came in, and in its order.

use model_wire::answer::{filled, list, text};
use runtime_ports::{DeltaSink, ModelContent, ModelDelta};
use serde_json::{Map, Value};

/// The fields that servers put reasoning text in; the first one that a frame has counts.
const TEXT_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

/// Key under which a signature of the following tool call is kept.
pub(super) const CALL_EXTRA: &str = "tool_call_extra_content";

/// Reasoning while it arrives.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    text: String,
    field: Option<&'static str>,
    details: Vec<Value>,
    extra: Option<Value>,
}

impl Reasoning {
    /// Takes what a delta, or a whole message, has of it.
    pub(super) fn take(&mut self, delta: &Value, sink: &dyn DeltaSink) {
        let filled_field = TEXT_FIELDS.into_iter().find(|field| filled(delta, field).is_some());
        let field = filled_field
            .or_else(|| TEXT_FIELDS.into_iter().find(|field| text(delta, field).is_some()));
        let details = list(delta, "reasoning_details");
        self.details.extend_from_slice(details);
        self.extra = delta.get("extra_content").and_then(kept).or_else(|| self.extra.take());
        if let Some(field) = field {
            self.field = filled_field.or(self.field).or(Some(field));
            self.show(text(delta, field).unwrap_or_default(), sink);
            return;
        }
        for detail in details {
            let shown = filled(detail, "text").or_else(|| filled(detail, "summary"));
            self.show(shown.unwrap_or_default(), sink);
        }
    }

    /// Takes text that is reasoning, from wherever it came.
    pub(super) fn show(&mut self, text: &str, sink: &dyn DeltaSink) {
        if !text.is_empty() {
            sink.delta(ModelDelta::Reasoning(text));
            self.text.push_str(text);
        }
    }

    /// Takes back what was shown last, because it was no reasoning.
    pub(super) fn take_back(&mut self, shown: &str) {
        if let Some(kept) = self.text.strip_suffix(shown) {
            self.text.truncate(kept.len());
        }
    }

    /// Whether there is something to show.
    pub(super) fn is_visible(&self) -> bool {
        !self.text.is_empty()
    }

    /// The reasoning as content. An empty text counts only when the answer calls tools: then some
    /// servers insist on having their empty field back.
    pub(super) fn into_content(self, issuer: &str, calls_tools: bool) -> Option<ModelContent> {
        let mut opaque = Map::new();
        if let Some(field) = self.field {
            opaque.insert(field.to_owned(), Value::String(self.text.clone()));
        }
        if !self.details.is_empty() {
            opaque.insert("reasoning_details".to_owned(), Value::Array(self.details));
        }
        if let Some(extra) = self.extra {
            opaque.insert("extra_content".to_owned(), extra);
        }
        let only_empty_field =
            self.text.is_empty() && opaque.len() == usize::from(self.field.is_some());
        if only_empty_field && !(calls_tools && self.field.is_some()) {
            return None;
        }
        let opaque = if opaque.is_empty() { Value::Null } else { Value::Object(opaque) };
        Some(ModelContent::Reasoning { issuer: issuer.to_owned(), text: self.text, opaque })
    }
}

/// Whether the text of a delta, or of a whole message, is said to be a thought, or to hold one.
pub(super) fn is_thought(delta: &Value) -> bool {
    delta.get("extra_content").is_some_and(says_thought)
}

fn says_thought(extra: &Value) -> bool {
    let thought = extra.get("google").and_then(|google| google.get("thought"));
    thought == Some(&Value::Bool(true))
}

/// What goes back of the extra content of a message: the text that goes back is no thought.
fn kept(extra: &Value) -> Option<Value> {
    if !says_thought(extra) {
        return Some(extra).filter(|extra| !extra.is_null()).cloned();
    }
    let mut fields = extra.as_object()?.clone();
    if let Some(Value::Object(mut google)) = fields.remove("google") {
        google.remove("thought");
        if !google.is_empty() {
            fields.insert("google".to_owned(), Value::Object(google));
        }
    }
    (!fields.is_empty()).then_some(Value::Object(fields))
}

/// What the issuer of a tool call needs back beside it, as content that stands before the call.
pub(super) fn call_extra(issuer: &str, extra: Value) -> ModelContent {
    let opaque = Value::Object(Map::from_iter([(CALL_EXTRA.to_owned(), extra)]));
    ModelContent::Reasoning { issuer: issuer.to_owned(), text: String::new(), opaque }
}

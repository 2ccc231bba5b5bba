//! Decides in what form values from elsewhere are kept, so that a stored run can be read again.
//!
//! Knows the depth that readers of JSON take. Invariant: whatever enters a run from a host, a hook,
//! a tool or a model passes here; what is nested too deep is kept whole, as its text.

use runtime_ports::{ModelContent, ModelMessage};
use serde_json::{Map, Value};

use crate::Edit;

/// Deepest nesting of what others give us. A reader of JSON gives up at 128, and a run that was
/// stored must be read again.
pub(crate) const MAX_DEPTH: usize = 64;

/// The value, or its text when it is nested deeper than can be stored and read.
pub(crate) fn storable(mut value: Value) -> Value {
    make_storable(&mut value);
    value
}

/// The values of a map, as far as they can be stored and read.
pub(crate) fn storable_map(mut map: Map<String, Value>) -> Map<String, Value> {
    map.iter_mut().for_each(|(_, value)| make_storable(value));
    map
}

/// The messages, with what they hold as far as it can be stored and read.
pub(crate) fn storable_messages(mut messages: Vec<ModelMessage>) -> Vec<ModelMessage> {
    messages.iter_mut().for_each(|message| make_content_storable(&mut message.content));
    messages
}

/// The edits, with what they bring as far as it can be stored and read.
pub(crate) fn storable_edits(mut edits: Vec<Edit<ModelMessage>>) -> Vec<Edit<ModelMessage>> {
    for edit in &mut edits {
        if let Edit::Insert { item, .. } | Edit::Replace { item, .. } = edit {
            make_content_storable(&mut item.content);
        }
    }
    edits
}

/// Puts its text in the place of what cannot be stored and read.
pub(crate) fn make_content_storable(content: &mut [ModelContent]) {
    for item in content {
        match item {
            ModelContent::ToolUse { arguments: value, .. }
            | ModelContent::Reasoning { opaque: value, .. } => make_storable(value),
            ModelContent::Text { .. }
            | ModelContent::ToolResult { .. }
            | ModelContent::Image { .. } => {}
        }
    }
}

fn make_storable(value: &mut Value) {
    if is_deeper_than(value, MAX_DEPTH) {
        *value = Value::String(value.to_string());
    }
}

fn is_deeper_than(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth == 0 || items.iter().any(|it| is_deeper_than(it, depth - 1)),
        Value::Object(items) => {
            depth == 0 || items.values().any(|it| is_deeper_than(it, depth - 1))
        }
        _ => false,
    }
}

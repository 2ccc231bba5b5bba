//! Decides what one fragment of a tool call says, in whatever shape it is written.
//!
//! Knows nothing about other fragments.

use model_wire::{Place, answer::filled};
use serde_json::Value;

use crate::frames::position;

/// Where the arguments of calls stand, and ids that may be numbers.
pub(super) const VERBATIM: &[Place] = &[
    Place::at(&["choices", "*", "delta", "tool_calls", "*", "function", "arguments"]),
    Place::at(&["choices", "*", "delta", "tool_calls", "*", "arguments"]),
    Place::at(&["choices", "*", "delta", "tool_calls", "*", "id"]),
    Place::at(&["choices", "*", "delta", "tool_calls", "function", "arguments"]),
    Place::at(&["choices", "*", "delta", "function_call", "arguments"]),
    Place::at(&["choices", "*", "message", "tool_calls", "*", "function", "arguments"]),
    Place::at(&["choices", "*", "message", "tool_calls", "*", "arguments"]),
    Place::at(&["choices", "*", "message", "tool_calls", "*", "id"]),
    Place::at(&["choices", "*", "message", "tool_calls", "function", "arguments"]),
    Place::at(&["choices", "*", "message", "function_call", "arguments"]),
];

/// One fragment of a call, as it stands in a delta, or a whole call of a message.
#[derive(Debug, Clone, Default)]
pub(super) struct Fragment {
    pub(super) index: Option<u64>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) arguments: String,
    pub(super) extra: Option<Value>,
}

impl Fragment {
    /// Reads an element of `tool_calls`, or a whole legacy `function_call`.
    pub(super) fn of(value: &Value) -> Self {
        let function = value.get("function").filter(|function| function.is_object());
        let function = function.unwrap_or(value);
        Self {
            index: value.get("index").and_then(position),
            id: value.get("id").and_then(usable_id),
            name: filled(function, "name")
                .filter(|name| !name.trim().is_empty())
                .map(str::to_owned),
            arguments: function.get("arguments").map(arguments_text).unwrap_or_default(),
            extra: value.get("extra_content").filter(|extra| !extra.is_null()).cloned(),
        }
    }

    /// Whether it says nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.id.is_none()
            && self.name.is_none()
            && self.arguments.is_empty()
            && self.extra.is_none()
    }

    /// Whether it has arguments, beyond white space.
    pub(super) fn has_arguments(&self) -> bool {
        !self.arguments.trim().is_empty()
    }

    /// Whether its arguments can only be the rest of others: none begin like that.
    pub(super) fn is_rest(&self) -> bool {
        self.has_arguments() && !self.arguments.trim_start().starts_with('{')
    }
}

/// The fragments of a delta or a message. Some servers send one call without a list around it.
pub(super) fn fragments(delta: &Value) -> Vec<Fragment> {
    match delta.get("tool_calls") {
        Some(Value::Array(calls)) => calls.iter().map(Fragment::of).collect(),
        Some(call @ Value::Object(_)) => vec![Fragment::of(call)],
        _ => Vec::new(),
    }
}

/// Servers write a missing id as `""`, `"null"` or a number.
fn usable_id(id: &Value) -> Option<String> {
    match id {
        // What is no text and no number came as its own text.
        Value::String(id) if id.starts_with(['{', '[']) => None,
        Value::String(id) if !id.trim().is_empty() && id != "null" && id != "None" => {
            Some(id.clone())
        }
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

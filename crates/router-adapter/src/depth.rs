//! Decides how deeply the JSON in an answer may be nested.
//!
//! Knows nothing about what it says. Invariant: what passes can be written, read back and dropped
//! within any thread's stack, also as a part of a transcript that is stored.

use std::mem;

use runtime_ports::{ModelContent, ModelResponse};
use serde_json::Value;

/// Deepest nesting that passes. A reader of JSON gives up at 128 levels, those that a record adds
/// around a message included.
const DEEPEST: usize = 100;

/// What stands in place of arguments that are nested too deeply: text, as for all arguments that
/// cannot be used.
const TOO_DEEP: &str = "[the arguments were nested too deeply and were left out]";

/// The answer with what is nested too deeply replaced. Reasoning loses what its issuer would need
/// back.
pub(crate) fn bounded(mut response: ModelResponse) -> ModelResponse {
    for content in &mut response.output {
        match content {
            ModelContent::ToolUse { arguments, .. } if is_too_deep(arguments) => {
                dismantle(mem::replace(arguments, TOO_DEEP.into()));
            }
            ModelContent::Reasoning { opaque, .. } if is_too_deep(opaque) => {
                dismantle(mem::take(opaque));
            }
            _ => {}
        }
    }
    response
}

fn is_too_deep(value: &Value) -> bool {
    let mut pending = vec![(value, 0)];
    while let Some((value, depth)) = pending.pop() {
        if depth > DEEPEST {
            return true;
        }
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                pending.extend(members.values().map(|member| (member, depth + 1)));
            }
            _ => {}
        }
    }
    false
}

/// Drops a value piece by piece, since the ordinary drop needs stack for each level.
fn dismantle(value: Value) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => pending.extend(members.into_iter().map(|(_, member)| member)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;

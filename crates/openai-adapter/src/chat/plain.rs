//! Decides whether a frame carries a piece of text and nothing else, as nearly all frames do.
//!
//! Knows nothing about what follows from it. Such a frame is walked over once; any other is asked
//! for everything that a frame may hold.

use serde_json::{Map, Value};

/// The text of a frame without anything else.
pub(super) fn text_of(frame: &Value) -> Option<&str> {
    let fields = frame.as_object()?;
    if !fields.iter().all(|(name, value)| is_inert(name, value)) {
        return None;
    }
    let [choice] = fields.get("choices")?.as_array()?.as_slice() else { return None };
    let choice = choice.as_object()?;
    if !choice.iter().all(|(name, value)| is_first_and_open(name, value)) {
        return None;
    }
    content_of(choice.get("delta")?.as_object()?)
}

fn is_inert(name: &str, value: &Value) -> bool {
    match name {
        "choices" | "created" | "id" | "model" | "service_tier" | "system_fingerprint" => true,
        "object" => value.as_str() == Some("chat.completion.chunk"),
        "usage" => value.is_null(),
        _ => false,
    }
}

fn is_first_and_open(name: &str, value: &Value) -> bool {
    match name {
        "delta" => true,
        "index" => value.as_u64() == Some(0),
        "finish_reason" | "logprobs" => value.is_null(),
        _ => false,
    }
}

fn content_of(delta: &Map<String, Value>) -> Option<&str> {
    let content = delta.get("content")?.as_str()?;
    let has_role = delta.contains_key("role");
    (delta.len() == 1 + usize::from(has_role)).then_some(content)
}

#[cfg(test)]
mod tests;

//! Decides whether a frame of either API is an error without anything around it, and what a
//! position in it is.
//!
//! Knows nothing about answers.

use model_wire::answer::{filled, is_code_of_failure, text};
use serde_json::Value;

/// Some servers put the fields of an error into the frame itself.
pub(crate) fn is_flat_error(frame: &Value) -> bool {
    let says = |names: &[&str]| names.iter().any(|name| filled(frame, name).is_some());
    let codes = ["code", "error_code"].map(|name| frame.get(name));
    let is_coded = codes.into_iter().flatten().any(is_code_of_failure);
    let is_good = !is_coded && frame.get("success") == Some(&Value::Bool(true));
    let is_named = text(frame, "type").is_some_and(|kind| {
        let kind = kind.to_ascii_lowercase();
        kind.contains("error") || kind.contains("exception")
    });
    let is_failed = frame.get("status").and_then(Value::as_u64).is_some_and(|code| code >= 400);
    let is_bare = ["type", "object", "id"].iter().all(|name| frame.get(*name).is_none());
    let is_bad = is_coded || is_named || is_failed || is_bare;
    let is_detailed = |name: &str| frame.get(name).is_some_and(says_something);
    (says(&["message", "msg", "error_msg"]) && is_bad && !is_good)
        || frame.get("success") == Some(&Value::Bool(false))
        || ["errors", "detail"].into_iter().any(is_detailed)
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => !values.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    }
}

/// A position as a number, also when it is written as a text or with a fraction of zero.
pub(crate) fn position(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_u64().or_else(|| {
            let float = number.as_f64().filter(|n| n.fract() == 0.0 && (0.0..1e9).contains(n))?;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            Some(float as u64)
        }),
        _ => None,
    }
}

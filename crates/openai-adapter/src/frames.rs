//! Decides whether a frame of either API is an error without anything around it, and what a
//! position in it is.
//!
//! Knows nothing about answers.

use model_wire::answer::{filled, list, text};
use serde_json::Value;

/// Some servers put the fields of an error into the frame itself.
pub(crate) fn is_flat_error(frame: &Value) -> bool {
    let says = |names: &[&str]| names.iter().any(|name| filled(frame, name).is_some());
    let is_coded = ["code", "error_code"].iter().any(|name| match frame.get(*name) {
        Some(Value::String(code)) => !matches!(code.as_str(), "" | "0" | "200" | "ok" | "success"),
        Some(Value::Number(code)) => !matches!(code.as_u64(), Some(0 | 200)),
        _ => false,
    });
    let is_named = text(frame, "type").is_some_and(|kind| {
        let kind = kind.to_ascii_lowercase();
        kind.contains("error") || kind.contains("exception")
    });
    let is_failed = frame.get("status").and_then(Value::as_u64).is_some_and(|code| code >= 400);
    let is_bare = ["type", "object", "id"].iter().all(|name| frame.get(*name).is_none());
    let is_bad = is_coded || is_named || is_failed || is_bare;
    (says(&["message", "msg", "error_msg"]) && is_bad)
        || ["errors", "detail"].iter().any(|name| !list(frame, name).is_empty())
        || says(&["detail"])
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

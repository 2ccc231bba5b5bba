//! What the saboteur does wrong with a payload.
//!
//! Knows nothing about where it is kept.

use serde_json::{Value, json};

use super::TraceFault as Fault;

const LARGE: usize = 64 << 10;
const DEEP: usize = 32;

/// The payload as this saboteur keeps it.
pub(super) fn spoiled(fault: Fault, payload: Value) -> Value {
    match fault {
        Fault::WritesPayloads => json!(payload.to_string()),
        Fault::ReadsTexts => match payload {
            Value::String(text) => serde_json::from_str(&text).unwrap_or(json!(text)),
            other => other,
        },
        _ => walked(fault, payload, 0),
    }
}

fn walked(fault: Fault, value: Value, depth: usize) -> Value {
    match value {
        _ if fault == Fault::FlattensDeepPayloads && depth > DEEP => Value::Null,
        Value::String(mut text) if fault == Fault::CutsLargePayloads => {
            text.truncate(text.floor_char_boundary(LARGE));
            json!(text)
        }
        Value::Number(number) if fault == Fault::RoundsNumbers => json!(number.as_f64()),
        Value::Array(values) => {
            values.into_iter().map(|value| walked(fault, value, depth + 1)).collect()
        }
        Value::Object(fields) => {
            let kept = |field: &(String, Value)| fault != Fault::DropsNulls || !field.1.is_null();
            let fields = fields.into_iter().filter(kept);
            fields.map(|(name, value)| (name, walked(fault, value, depth + 1))).collect()
        }
        other => other,
    }
}

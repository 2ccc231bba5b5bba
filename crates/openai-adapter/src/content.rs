//! Decides how pieces of a message are written that both APIs write alike.
//!
//! Knows nothing about where they stand in a body.

use runtime_ports::{ModelContent, ModelMessage};
use serde_json::{Value, json};

/// The texts of a message, joined by `separator`; empty ones are left out.
pub(crate) fn joined(message: &ModelMessage, separator: &str) -> String {
    let texts = message.content.iter().filter_map(|content| match content {
        ModelContent::Text { text } if !text.is_empty() => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join(separator)
}

/// Arguments as JSON text of an object. Servers parse the arguments of old calls again, and refuse
/// the whole history when they are anything else: what the model wrote instead is wrapped.
pub(crate) fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::Object(_) => arguments.to_string(),
        other => json!({"unparsed_arguments": other}).to_string(),
    }
}

/// An image as an address that holds it.
pub(crate) fn data_url(media_type: &str, base64: &str) -> String {
    format!("data:{media_type};base64,{base64}")
}

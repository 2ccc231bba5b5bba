//! Decides under which names the fields of an answer stand.
//!
//! Proxies that write protocol buffers out by themselves keep the names of those: `finish_reason`.
//! Knows nothing about what a field says. Invariant: what a model wrote is not looked into, and of a
//! field that stands there twice the usual name counts.

use std::borrow::Cow;

use serde_json::Value;

/// Names at one place, as they may stand there and as they are usual.
struct Names {
    /// The usual names of the fields that lead there; `*` is every element of a list.
    path: &'static [&'static str],
    names: &'static [(&'static str, &'static str)],
}

/// From the outside to the inside.
const NAMES: &[Names] = &[
    Names {
        path: &[],
        names: &[
            ("usage_metadata", "usageMetadata"),
            ("prompt_feedback", "promptFeedback"),
            ("response_id", "responseId"),
        ],
    },
    Names { path: &["candidates", "*"], names: &[("finish_reason", "finishReason")] },
    Names {
        path: &["candidates", "*", "content", "parts", "*"],
        names: &[
            ("function_call", "functionCall"),
            ("thought_signature", "thoughtSignature"),
            ("inline_data", "inlineData"),
            ("file_data", "fileData"),
            ("executable_code", "executableCode"),
            ("code_execution_result", "codeExecutionResult"),
            ("function_response", "functionResponse"),
            ("tool_call", "toolCall"),
            ("tool_response", "toolResponse"),
        ],
    },
    Names {
        path: &["candidates", "*", "content", "parts", "*", "functionCall"],
        names: &[("partial_args", "partialArgs"), ("will_continue", "willContinue")],
    },
    Names { path: &["promptFeedback"], names: &[("block_reason", "blockReason")] },
    Names {
        path: &["usageMetadata"],
        names: &[
            ("prompt_token_count", "promptTokenCount"),
            ("candidates_token_count", "candidatesTokenCount"),
            ("thoughts_token_count", "thoughtsTokenCount"),
            ("cached_content_token_count", "cachedContentTokenCount"),
            ("tool_use_prompt_token_count", "toolUsePromptTokenCount"),
            ("total_token_count", "totalTokenCount"),
        ],
    },
];

/// The frame with the usual names. Nearly all have them, and are not copied.
pub(crate) fn usual(frame: &Value) -> Cow<'_, Value> {
    if !NAMES.iter().any(|names| stand_in(frame, names.path, names.names)) {
        return Cow::Borrowed(frame);
    }
    let mut frame = frame.clone();
    NAMES.iter().for_each(|names| rename(&mut frame, names.path, names.names));
    Cow::Owned(frame)
}

fn stand_in(value: &Value, path: &[&str], names: &[(&str, &str)]) -> bool {
    match path.split_first() {
        None => names.iter().any(|(name, _)| value.get(name).is_some()),
        Some((&"*", path)) => {
            value.as_array().is_some_and(|all| all.iter().any(|one| stand_in(one, path, names)))
        }
        Some((name, path)) => value.get(name).is_some_and(|inner| stand_in(inner, path, names)),
    }
}

fn rename(value: &mut Value, path: &[&str], names: &[(&str, &str)]) {
    match (path.split_first(), value) {
        (None, Value::Object(fields)) => {
            for (name, usual) in names {
                let Some(found) = fields.remove(*name) else { continue };
                let held = fields.entry(*usual).or_insert(Value::Null);
                if held.is_null() {
                    *held = found;
                }
            }
        }
        (Some((&"*", path)), Value::Array(all)) => {
            all.iter_mut().for_each(|one| rename(one, path, names));
        }
        (Some((name, path)), Value::Object(fields)) => {
            if let Some(inner) = fields.get_mut(*name) {
                rename(inner, path, names);
            }
        }
        _ => {}
    }
}

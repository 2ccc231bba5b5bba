//! Decides how the one provider tool, `call_ktool`, is described, and which of its calls are valid.
//!
//! Knows nothing about the application's tools: a valid call may well name one that does not
//! exist. Invariant: no message holds anything that the model wrote.

use runtime_ports::ModelToolDefinition;
use serde_json::{Map, Value, json};
use thiserror::Error;

pub(crate) use runtime_decision::{BRIDGE_TOOL, TOOL_NAME_MAX_BYTES as NAME_MAX_BYTES};

/// A valid call of an application tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Name of the application tool, 1 to 256 bytes of UTF-8. Nobody checked that it exists.
    pub name: String,
    /// Its arguments: always a JSON object.
    pub arguments: Value,
}

/// Why a call of the model is invalid, in the order in which it is checked. The text is for the
/// model: bounded, and without anything that the model wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum InvalidCall {
    /// Another provider tool than the bridge.
    #[error("unknown provider tool; call {BRIDGE_TOOL}")]
    UnknownProviderTool,
    /// Text that did not parse, a list, a number.
    #[error("the arguments of {BRIDGE_TOOL} are not an object; give it name and arguments")]
    ArgumentsNotAnObject,
    /// Something beside name and arguments.
    #[error("unknown argument of {BRIDGE_TOOL}; it takes name and arguments, nothing else")]
    UnknownArgument,
    /// A name that is missing, no string, empty or too long.
    #[error("invalid name; give the tool's name, a string of 1 to {NAME_MAX_BYTES} bytes")]
    InvalidName,
    /// The inner arguments are missing or no object.
    #[error("invalid arguments; give the tool's arguments as an object, empty if it takes none")]
    InvalidArguments,
}

/// The bridge as a provider is told about it.
pub(crate) fn definition(description: String) -> ModelToolDefinition {
    // JSON Schema counts characters, the bridge bytes: what passes here may still be too long.
    let input_schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "minLength": 1, "maxLength": NAME_MAX_BYTES },
            "arguments": { "type": "object" },
        },
        "required": ["name", "arguments"],
        "additionalProperties": false,
    });
    ModelToolDefinition { name: BRIDGE_TOOL.to_owned(), description, input_schema }
}

/// Reads a call that the provider surfaced.
pub(crate) fn parse(provider_tool: &str, arguments: Value) -> Result<ToolCall, InvalidCall> {
    if provider_tool != BRIDGE_TOOL {
        return Err(InvalidCall::UnknownProviderTool);
    }
    let Value::Object(mut fields) = arguments else {
        return Err(InvalidCall::ArgumentsNotAnObject);
    };
    let (name, arguments) = (fields.remove("name"), fields.remove("arguments"));
    if !fields.is_empty() {
        return Err(InvalidCall::UnknownArgument);
    }
    let name = name.and_then(into_name).ok_or(InvalidCall::InvalidName)?;
    let arguments = arguments.and_then(into_object).ok_or(InvalidCall::InvalidArguments)?;
    Ok(ToolCall { name, arguments: Value::Object(arguments) })
}

fn into_name(value: Value) -> Option<String> {
    let Value::String(name) = value else { return None };
    (1..=NAME_MAX_BYTES).contains(&name.len()).then_some(name)
}

fn into_object(value: Value) -> Option<Map<String, Value>> {
    let Value::Object(object) = value else { return None };
    Some(object)
}

#[cfg(test)]
mod tests;

//! Decides how a tool is asked for: by its own name, or through the one bridge.
//!
//! Knows the two ways in which loops offer tools. Refuses to know what the tools do.

use runtime_ports::{ModelContent, ModelToolDefinition};
use serde_json::{Value, json};

const BRIDGE: &str = "call_ktool";

/// The tools that a request offers.
#[derive(Debug, Default)]
pub(crate) struct Toolbox {
    native: Vec<String>,
    bridged: Vec<String>,
}

impl Toolbox {
    /// Reads the tools of a request. A bridge lists its tools in its description, one JSON object
    /// a line.
    pub(crate) fn of(tools: &[ModelToolDefinition]) -> Self {
        let mut toolbox = Self::default();
        for tool in tools {
            if tool.name == BRIDGE {
                toolbox.bridged.extend(tool.description.lines().filter_map(bridged_name));
            } else {
                toolbox.native.push(tool.name.clone());
            }
        }
        toolbox
    }

    pub(crate) fn offers(&self, tool: &str) -> bool {
        self.native.iter().chain(&self.bridged).any(|name| name == tool)
    }

    /// A call of `tool`, in the form in which the request offers it.
    pub(crate) fn call(&self, id: String, tool: &str, arguments: Value) -> ModelContent {
        let is_native = self.native.iter().any(|name| name == tool);
        let (name, arguments) = if is_native {
            (tool.to_owned(), arguments)
        } else {
            (BRIDGE.to_owned(), json!({ "name": tool, "arguments": arguments }))
        };
        ModelContent::ToolUse { id, name, arguments }
    }
}

/// The tool and the arguments of a call, whichever way it was asked for.
pub(crate) fn unwrap_call<'a>(name: &'a str, arguments: &'a Value) -> (&'a str, &'a Value) {
    if name != BRIDGE {
        return (name, arguments);
    }
    let inner = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
    (inner, arguments.get("arguments").unwrap_or(&Value::Null))
}

fn bridged_name(line: &str) -> Option<String> {
    let line = line.trim();
    let descriptor: Value = line.starts_with('{').then(|| serde_json::from_str(line).ok())??;
    descriptor.get("name").and_then(Value::as_str).map(str::to_owned)
}

//! Decides how the arguments of a call read in one line of progress.
//!
//! Knows the tools that ship with the command. Refuses to be complete: questions show every byte,
//! this line says what is going on.

use serde_json::{Map, Value};

use crate::{
    amounts::counted,
    safe_text::{safe_line, safe_text},
};

const LINE_SHOWN: usize = 160;
const TEXT_SHOWN: usize = 60;

/// `ideas.md`, `"milk" in recipes`, `cargo test in web`, or the arguments as JSON.
pub(crate) fn arguments_line(tool: &str, arguments: &Value) -> String {
    let line = match (tool, arguments) {
        (
            "list_files" | "read_file" | "search_files" | "write_file" | "run_command"
            | "read_artifact",
            Value::Object(map),
        ) => of_our_tool(tool, map),
        // It is asked right below, with its choices.
        ("ask_user", Value::Object(_)) => String::new(),
        _ => arguments.to_string(),
    };
    safe_line(&line, LINE_SHOWN)
}

fn of_our_tool(tool: &str, arguments: &Map<String, Value>) -> String {
    let subject = match tool {
        "search_files" => "query",
        "run_command" => "command",
        "read_artifact" => "digest",
        _ => "path",
    };
    let place = match tool {
        "search_files" => "path",
        _ => "cwd",
    };
    let mut parts = vec![match arguments.get(subject).and_then(Value::as_str) {
        Some(query) if tool == "search_files" => format!("{query:?}"),
        Some("") | None => ".".to_owned(),
        Some(text) => text.to_owned(),
    }];
    if let Some(folder) = arguments.get(place).and_then(Value::as_str).filter(|at| !at.is_empty()) {
        parts.push(format!("in {folder}"));
    }
    let rest = arguments.iter().filter(|(name, _)| *name != subject && *name != place);
    parts.extend(rest.filter_map(|(name, value)| aside(name, value)));
    parts.join(" ")
}

/// What else an argument says: a switch that is on, the size of a text, a plain value.
fn aside(name: &str, value: &Value) -> Option<String> {
    match value {
        Value::Bool(false) | Value::Null => None,
        Value::Bool(true) => Some(name.to_owned()),
        Value::String(text) if text.contains('\n') || text.len() > TEXT_SHOWN => {
            Some(format!("({})", counted(text.len() as u64, "byte", "bytes")))
        }
        Value::String(text) => Some(format!("{name} {:?}", safe_text(text))),
        other => Some(format!("{name} {other}")),
    }
}

#[cfg(test)]
mod tests;

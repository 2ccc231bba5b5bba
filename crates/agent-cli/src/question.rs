//! Decides how a call is put before the person who approves it.
//!
//! Knows arguments. Refuses to leave anything out: what is approved is shown whole. Invariants:
//! every line of a text stands behind a bar, so that no text can pass for part of the question, and
//! what would steer the terminal is spelt out.

use runtime_kernel::engine::ApprovalRequest;
use runtime_ports::EffectClass;
use serde_json::Value;

use crate::{
    amounts::counted,
    safe_text::{safe_line, spelt_out},
};

const SUBJECT_SHOWN: usize = 80;

/// The whole question, the choices at its end.
pub(crate) fn question(request: &ApprovalRequest) -> String {
    let (tool, effect) = (spelt_out(&request.tool_name), request.effect);
    let mut text = format!("{tool} {}:\n", intent(effect));
    match &*request.arguments {
        Value::Object(arguments) if arguments.is_empty() => text.push_str("  (no arguments)\n"),
        Value::Object(arguments) => {
            for (name, value) in arguments {
                text.push_str(&argument(name, value));
            }
        }
        other => text.push_str(&argument("arguments", other)),
    }
    // Again at the end, where it is seen when the text was longer than the screen.
    let subject = subject(&request.arguments);
    text.push_str(&format!("Allow {tool}{subject}? {}", choices(effect)));
    text
}

/// Whether the question may be answered for all calls of its kind. The choices are the end of a
/// question, behind everything that comes from a model.
pub(crate) fn offers_all(question: &str) -> bool {
    question.ends_with(CHOICES_OF_A_WRITE)
}

const CHOICES: &str = "[y]es, [N]o or why not > ";
const CHOICES_OF_A_WRITE: &str = "[y]es, [N]o or why not, [a]ll writes of this run > ";

const fn intent(effect: EffectClass) -> &'static str {
    match effect {
        EffectClass::ReadOnly => "wants to read",
        EffectClass::WorkspaceWrite => "wants to write in the folder",
        EffectClass::Process => "wants to run a command, which nothing contains",
        EffectClass::External => "wants to act outside of the folder",
    }
}

/// Only writing can be allowed for the rest of a run.
const fn choices(effect: EffectClass) -> &'static str {
    match effect {
        EffectClass::WorkspaceWrite => CHOICES_OF_A_WRITE,
        _ => CHOICES,
    }
}

fn subject(arguments: &Value) -> String {
    let named = ["path", "command"].iter().find_map(|name| arguments[*name].as_str());
    named.map(|text| format!(" {}", safe_line(text, SUBJECT_SHOWN))).unwrap_or_default()
}

fn argument(name: &str, value: &Value) -> String {
    let name = if is_plain(name) { name.to_owned() } else { quoted(name) };
    match value {
        Value::String(text) if text.contains('\n') => {
            let bytes = counted(text.len() as u64, "byte", "bytes");
            let lines = counted(text.lines().count() as u64, "line", "lines");
            let end = if text.ends_with('\n') { "" } else { ", no line break at the end" };
            format!("  {name} ({lines}, {bytes}{end}):\n{}", barred(text))
        }
        Value::String(text) => format!("  {name}: {}\n", quoted(text)),
        other => format!("  {name}: {}\n", spelt_out(&other.to_string())),
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|at| at.is_ascii_alphanumeric() || at == '_')
}

/// In quotes, so that spaces and an empty text show.
fn quoted(text: &str) -> String {
    spelt_out(&Value::from(text).to_string())
}

fn barred(text: &str) -> String {
    let without_last = text.strip_suffix('\n').unwrap_or(text);
    without_last.split('\n').map(|line| format!("  | {}\n", spelt_out(line))).collect()
}

#[cfg(test)]
mod tests;

//! Decides how the result of a call reads in one line of progress.
//!
//! Knows the results of the tools that ship with the command; anything else is shown as it is, cut
//! to a line.

use serde_json::Value;

use crate::{amounts::counted, safe_text::safe_line};

const LINE_SHOWN: usize = 200;

/// `7 lines, 212 bytes`, `exit code 0: all tests passed`, or why the call failed.
pub(crate) fn outcome_line(tool: &str, ok: bool, text: &str) -> String {
    let result: Value = serde_json::from_str(text).unwrap_or_default();
    let line = if ok { told(tool, &result) } else { why(&result) };
    safe_line(line.as_deref().unwrap_or(text), LINE_SHOWN)
}

fn why(result: &Value) -> Option<String> {
    let (error, code) = (result["error"].as_str()?, result["error_code"].as_str()?);
    Some(format!("{error} ({code})"))
}

fn told(tool: &str, result: &Value) -> Option<String> {
    match tool {
        "list_files" => listed(result),
        "read_file" => read(result),
        "read_artifact" => read_kept(result),
        "search_files" => found(result),
        "write_file" => Some(format!("{} written", bytes(result)?)),
        "run_command" => ran(result),
        "ask_user" => Some("your answer is waited for".to_owned()),
        _ => None,
    }
}

fn bytes(result: &Value) -> Option<String> {
    Some(counted(result["bytes"].as_u64()?, "byte", "bytes"))
}

fn listed(result: &Value) -> Option<String> {
    let entries = result["entries"].as_array()?.len() as u64;
    Some(cut(counted(entries, "entry", "entries"), result))
}

fn cut(line: String, result: &Value) -> String {
    if result["truncated"] == true { format!("{line}; there is more") } else { line }
}

fn read(result: &Value) -> Option<String> {
    let bytes = bytes(result)?;
    if let Some(reason) = result["skipped"].as_str() {
        return Some(format!("skipped: {reason}, {bytes}"));
    }
    let lines = result["lines"].as_u64()?;
    let (from, to) = (result["from_line"].as_u64()?, result["to_line"].as_u64()?);
    let of = counted(lines, "line", "lines");
    if from > 1 || to < lines {
        return Some(format!("lines {from} to {to} of {of}, {bytes}"));
    }
    Some(format!("{of}, {bytes}"))
}

fn read_kept(result: &Value) -> Option<String> {
    let (content, offset) = (result["content"].as_str()?, result["offset"].as_u64()?);
    let line = format!("{} from byte {offset}", counted(content.len() as u64, "byte", "bytes"));
    Some(if result["next_offset"].is_null() { line } else { format!("{line}; there is more") })
}

fn found(result: &Value) -> Option<String> {
    let matches = result["matches"].as_array()?.len() as u64;
    let mut line = counted(matches, "match", "matches");
    let skipped = result["skipped_count"].as_u64().unwrap_or(0);
    if skipped > 0 {
        line.push_str(&format!(", {} skipped", counted(skipped, "file", "files")));
    }
    Some(cut(line, result))
}

fn ran(result: &Value) -> Option<String> {
    let code = result["exit_code"].as_i64()?;
    let output = |stream: &str| result[stream].as_str().and_then(first_line).map(str::to_owned);
    Some(match output("stdout").or_else(|| output("stderr")) {
        Some(line) => format!("exit code {code}: {line}"),
        None => format!("exit code {code}, no output"),
    })
}

fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty())
}

#[cfg(test)]
mod tests;

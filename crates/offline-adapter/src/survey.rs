//! Decides what tool results say about files.
//!
//! Knows the JSON shapes of the standard tools' results. Refuses to know why they are wanted.
//! Invariant: what cannot be read is named with its reason, never left out.

use serde_json::Value;

use crate::exchange::Exchange;

/// What is known of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileFacts {
    pub(crate) path: String,
    pub(crate) content: Content,
}

/// The content of a file, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// Text, with its measures. When only a part of it was shown (`is_cut`), the words are those of
    /// the part.
    Text { lines: u64, words: u64, bytes: u64, first_line: String, is_cut: bool },
    /// Not text, or not readable.
    Skipped { reason: String },
}

/// One entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) is_folder: bool,
    pub(crate) bytes: Option<u64>,
}

/// A listing: its entries, and whether more exist than were listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) entries: Vec<Entry>,
    pub(crate) is_partial: bool,
}

/// Why a result cannot be used, for the answer.
pub(crate) fn failure_reason(exchange: &Exchange) -> Option<String> {
    if !exchange.failed {
        return None;
    }
    let parsed: Option<Value> = serde_json::from_str(&exchange.result).ok();
    let told = parsed.as_ref().and_then(|value| value.get("error")).and_then(Value::as_str);
    Some(told.unwrap_or(&exchange.result).lines().next().unwrap_or("no reason given").to_owned())
}

/// Reads the result of `list_files`.
pub(crate) fn listing(exchange: &Exchange) -> Result<Listing, String> {
    if let Some(reason) = failure_reason(exchange) {
        return Err(reason);
    }
    let value: Value = serde_json::from_str(&exchange.result).map_err(|_| unusable())?;
    let entries = value.get("entries").and_then(Value::as_array).ok_or_else(unusable)?;
    let is_partial = value.get("truncated").and_then(Value::as_bool).unwrap_or(false);
    let skipped = value.get("skipped").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    let entries = entries.iter().filter_map(entry).collect();
    Ok(Listing { entries, is_partial: is_partial || skipped })
}

fn unusable() -> String {
    "the list could not be understood".to_owned()
}

fn entry(value: &Value) -> Option<Entry> {
    let path = value.get("path")?.as_str()?.to_owned();
    let is_folder = value.get("kind").and_then(Value::as_str) == Some("folder");
    Some(Entry { path, is_folder, bytes: value.get("bytes").and_then(Value::as_u64) })
}

/// Reads the result of `read_file`.
pub(crate) fn file_facts(path: &str, exchange: &Exchange) -> FileFacts {
    let content = match failure_reason(exchange) {
        Some(reason) => Content::Skipped { reason },
        None => measured(&exchange.result),
    };
    FileFacts { path: path.to_owned(), content }
}

fn measured(result: &str) -> Content {
    let value: Value = serde_json::from_str(result).unwrap_or(Value::Null);
    if let Some(reason) = value.get("skipped").and_then(Value::as_str) {
        return Content::Skipped { reason: reason.to_owned() };
    }
    let text = value.get("content").and_then(Value::as_str).unwrap_or(result);
    let number = |key: &str| value.get(key).and_then(Value::as_u64);
    Content::Text {
        is_cut: value.get("truncated").and_then(Value::as_bool).unwrap_or(false),
        lines: number("lines").unwrap_or(text.lines().count() as u64),
        words: text.split_whitespace().count() as u64,
        bytes: number("bytes").unwrap_or(text.len() as u64),
        first_line: text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("").into(),
    }
}

/// What `read_file` gave, for showing it: the text, or why there is none.
pub(crate) fn text_of(exchange: &Exchange) -> String {
    let value: Value = serde_json::from_str(&exchange.result).unwrap_or(Value::Null);
    if let Some(reason) = value.get("skipped").and_then(Value::as_str) {
        return format!("skipped ({reason})");
    }
    let text = value.get("content").and_then(Value::as_str).unwrap_or(&exchange.result);
    let is_cut = value.get("truncated").and_then(Value::as_bool).unwrap_or(false);
    let note = if is_cut { "\n(The file goes on; this is its beginning.)" } else { "" };
    format!("{}{note}", text.trim_end())
}

/// What a search came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Findings {
    /// `path:line:text`.
    pub(crate) hits: Vec<String>,
    /// `path: skipped (reason)`.
    pub(crate) skipped: Vec<String>,
    /// Whether there may be more hits.
    pub(crate) is_partial: bool,
}

/// What `search_files` found.
pub(crate) fn findings(exchange: &Exchange) -> Findings {
    let value: Value = serde_json::from_str(&exchange.result).unwrap_or(Value::Null);
    let list = |key: &str| -> Option<Vec<String>> {
        let lines = value.get(key)?.as_array()?.iter();
        Some(lines.filter_map(Value::as_str).map(str::to_owned).collect())
    };
    let plain = || exchange.result.lines().map(str::to_owned).collect();
    Findings {
        hits: list("matches").unwrap_or_else(plain),
        skipped: list("skipped").unwrap_or_default(),
        is_partial: value.get("truncated").and_then(Value::as_bool).unwrap_or(false),
    }
}

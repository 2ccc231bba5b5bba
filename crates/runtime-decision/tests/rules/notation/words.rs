//! Decides how a line falls into words.
//!
//! Knows quotes and braces, and nothing about what is said.

use std::sync::Arc;

use runtime_decision::Call;
use runtime_ports::{ModelContent, ModelMessage, ModelRole};
use serde_json::{Map, Value, json};

/// Words of a line; quoted text and JSON stay whole. `long(5)` is a text of five tokens.
pub(crate) fn words(line: &str) -> Vec<String> {
    let line = &with_long_texts(line);
    let (mut words, mut word) = (Vec::new(), String::new());
    let (mut quoted, mut depth, mut escaped) = (false, 0, false);
    for letter in line.chars() {
        let closes = letter.is_whitespace() && !quoted && depth == 0;
        if closes && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if closes {
            continue;
        }
        quoted ^= letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        depth += match letter {
            '{' | '[' if !quoted => 1,
            '}' | ']' if !quoted => -1,
            _ => 0,
        };
        word.push(letter);
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn with_long_texts(line: &str) -> String {
    let Some((before, rest)) = line.split_once("long(") else { return line.to_owned() };
    let (tokens, after) = rest.split_once(')').expect("a number of tokens");
    let tokens: usize = tokens.parse().expect("a number of tokens");
    format!("{before}\"{}\"{}", "x".repeat(tokens * 4), with_long_texts(after))
}

/// The text between quotes, with the escapes of JSON.
pub(crate) fn quoted(word: &str) -> Option<String> {
    word.starts_with('"').then(|| serde_json::from_str(word).expect("a quoted text"))
}

/// The first quoted text of some words; empty without one.
pub(crate) fn text(words: &[&str]) -> String {
    words.iter().find_map(|word| quoted(word)).unwrap_or_default()
}

/// The object after a word.
pub(crate) fn object(words: &[&str], name: &str) -> Map<String, Value> {
    let place = words.iter().position(|word| *word == name);
    let value = place.map(|place| serde_json::from_str(words[place + 1]).expect("an object"));
    value.unwrap_or_default()
}

/// `name(id)`, `name(id){…}` or, for arguments that are no object, `name(id)=…`.
pub(crate) fn call(word: &str) -> Option<Call> {
    let (name, rest) = word.split_once('(').filter(|_| !word.starts_with('"'))?;
    let (id, rest) = rest.split_once(')')?;
    let arguments = match rest.strip_prefix('=').unwrap_or(rest) {
        "" => json!({}),
        text => serde_json::from_str(text).expect("arguments"),
    };
    Some(Call { id: id.into(), name: name.into(), arguments: Arc::new(arguments) })
}

/// Quoted texts, calls and results (`result(id)"text"`), in order.
pub(crate) fn contents(words: &[&str]) -> Vec<ModelContent> {
    words.iter().filter_map(|word| content(word)).collect()
}

fn content(word: &str) -> Option<ModelContent> {
    if let Some(text) = quoted(word) {
        return Some(ModelContent::text(text));
    }
    if let Some(rest) = word.strip_prefix("result(") {
        let (id, text) = rest.split_once(')').expect("a result");
        return Some(ModelContent::ToolResult {
            tool_use_id: id.to_owned(),
            name: "old".to_owned(),
            content: quoted(text).unwrap_or_default(),
            failed: false,
        });
    }
    let call = call(word)?;
    let (id, name) = (call.id.to_string(), call.name.to_string());
    Some(ModelContent::ToolUse { id, name, arguments: (*call.arguments).clone() })
}

/// `user "…"`, `assistant "…" a(1)`, `tool result(1)"…"`.
pub(crate) fn message(words: &[&str]) -> ModelMessage {
    let role = match words[0] {
        "system" => ModelRole::System,
        "assistant" => ModelRole::Assistant,
        "tool" => ModelRole::Tool,
        _ => ModelRole::User,
    };
    ModelMessage { role, content: contents(&words[1..]) }
}

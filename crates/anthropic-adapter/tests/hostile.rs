//! What Messages streams come to that servers really send, and some that none should: whole, in
//! 7-byte pieces and byte by byte.

#[path = "hostile/blocks.rs"]
mod blocks;
#[path = "hostile/ends.rs"]
mod ends;
#[path = "hostile/errors.rs"]
mod errors;
#[path = "hostile/field.rs"]
mod field;
#[path = "hostile/servers.rs"]
mod servers;
#[path = "hostile/usage.rs"]
mod usage;

use anthropic_adapter::{PromptCache, decoder};

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;
const END_TURN: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null}}"#;
const TOOL_USE: &str = r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#;
const MAX_TOKENS: &str = r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#;
const TRUNCATED: &str = "failed Protocol STREAM_TRUNCATED unknown";

/// The beginning of a block.
fn begin(index: u32, block: &str) -> String {
    format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)
}

fn delta(index: u32, delta: &str) -> String {
    format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
}

fn end(index: u32) -> String {
    format!(r#"{{"type":"content_block_stop","index":{index}}}"#)
}

/// A whole text block.
fn said(index: u32, text: &str) -> Vec<String> {
    let piece = format!(r#"{{"type":"text_delta","text":"{text}"}}"#);
    vec![begin(index, r#"{"type":"text","text":""}"#), delta(index, &piece), end(index)]
}

/// The beginning of a call.
fn call(index: u32, id: &str, name: &str) -> String {
    let block = format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}"#);
    begin(index, &block)
}

/// A piece of arguments, as it stands in JSON text.
fn piece(index: u32, json: &str) -> String {
    let json = json.replace('"', "\\\"");
    delta(index, &format!(r#"{{"type":"input_json_delta","partial_json":"{json}"}}"#))
}

/// `frames` around which a message begins and ends with `reason`.
fn message(frames: &[Vec<String>], reason: &str) -> Vec<String> {
    let own = |frame: &str| vec![frame.to_owned()];
    [&[own(START)], frames, &[own(reason), own(STOP)]].concat().concat()
}

fn one(frame: &str) -> Vec<String> {
    vec![frame.to_owned()]
}

fn check(name: &str, frames: &[String], expected: &str) {
    bytes(name, &wire_rehearsal::events(frames), expected);
}

fn bytes(name: &str, bytes: &[u8], expected: &str) {
    let decoder = || decoder(PromptCache::Marked, "issuer", "seed");
    wire_rehearsal::check(decoder, name, bytes, expected);
}

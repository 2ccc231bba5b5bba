//! What answers of the Gemini API come to that servers really send, and some that none should:
//! whole, in 7-byte pieces and byte by byte.

#[path = "hostile/calls.rs"]
mod calls;
#[path = "hostile/ends.rs"]
mod ends;
#[path = "hostile/errors.rs"]
mod errors;
#[path = "hostile/field.rs"]
mod field;
#[path = "hostile/parts.rs"]
mod parts;
#[path = "hostile/usage.rs"]
mod usage;

const TRUNCATED: &str = "failed Protocol STREAM_TRUNCATED unknown";
const TEXT: &str = r#"{"text":"hi"}"#;

/// A frame of these parts, without a word about an end.
fn piece(parts: &str) -> String {
    format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}},"index":0}}]}}"#)
}

/// The same, with a reason to stop.
fn last(parts: &str, reason: &str) -> String {
    format!(
        r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}},"finishReason":"{reason}","index":0}}]}}"#
    )
}

fn stop(parts: &str) -> String {
    last(parts, "STOP")
}

fn call(fields: &str) -> String {
    format!(r#"{{"functionCall":{{{fields}}}}}"#)
}

/// The id of the call number `at` that came without one.
fn minted(at: usize) -> String {
    model_wire::minted("seed", at)
}

fn check<T: AsRef<str>>(name: &str, frames: &[T], expected: &str) {
    bytes(name, &wire_rehearsal::events(frames), expected);
}

/// Also as one list, as the API answers without `alt=sse`.
fn check_both<T: AsRef<str>>(name: &str, frames: &[T], expected: &str) {
    check(name, frames, expected);
    let frames: Vec<&str> = frames.iter().map(AsRef::as_ref).collect();
    let list = format!("[{}\n]\n", frames.join("\n,\r\n"));
    bytes(&format!("{name}, as a list"), list.as_bytes(), expected);
}

fn bytes(name: &str, bytes: &[u8], expected: &str) {
    wire_rehearsal::check(|| gemini_adapter::decoder("issuer", "seed"), name, bytes, expected);
}

//! Decides how one message is written as parts of the Gemini API.
//!
//! Knows nothing about when a message is written and whose turn it is. Invariant: a thought
//! signature goes back on the very part that it came with, and to its issuer alone; no part is
//! empty, but one that bears nothing but its signature.

use model_wire::{answer::text, pieces::Piece};
use runtime_ports::{EncodingKey, ImageSource, ModelContent, ModelMessage, ModelRole};
use serde_json::{Value, json};

/// What the vendor documents as signature of a call that its model did not write: of another
/// provider, or of the application. Without any, newer models refuse the whole history.
const FOREIGN_CALL: &str = "skip_thought_signature_validator";

/// Key, in what is kept for the issuer, of the signature of the piece that follows.
pub(crate) const SIGNATURE: &str = "thoughtSignature";
/// Key of the kind of that piece.
pub(crate) const SIGNED: &str = "on";
/// Key of a whole part that goes back as it came.
pub(crate) const PART: &str = "part";

/// Kinds of pieces that bear a signature.
pub(crate) const ON_TEXT: &str = "text";
/// A tool call.
pub(crate) const ON_CALL: &str = "functionCall";

/// What the writing of a message depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written<'a> {
    /// Whose reasoning goes back.
    pub(crate) issuer: &'a str,
    /// Whether calls of others need a signature.
    pub(crate) signed_calls: bool,
    /// Whether calls and results bear their ids; without them their order says which belong
    /// together.
    pub(crate) call_ids: bool,
}

impl Written<'_> {
    /// The key of the encoding slots: whatever makes the bytes of a message differ.
    pub(crate) fn encoding_key(&self) -> EncodingKey {
        let Self { issuer, signed_calls, call_ids } = self;
        EncodingKey::new("gemini", &format!("{signed_calls}/{call_ids}/{issuer}"))
    }
}

/// The parts of one message, for its encoding slot.
pub(crate) fn piece(message: &ModelMessage, written: &Written<'_>) -> Vec<u8> {
    let mut piece = Piece::default();
    match message.role {
        ModelRole::Assistant => said(message, written).iter().for_each(|part| piece.push(part)),
        // Nothing may stand between the results of one turn.
        ModelRole::Tool => {
            for content in &message.content {
                let is_result = matches!(content, ModelContent::ToolResult { .. });
                match part(content, written.call_ids) {
                    Some(part) if is_result => piece.push(&part),
                    Some(part) => piece.defer(&part),
                    None => {}
                }
            }
        }
        ModelRole::System | ModelRole::User => {
            let parts =
                message.content.iter().filter_map(|content| part(content, written.call_ids));
            parts.for_each(|part| piece.push(&part));
        }
    }
    piece.into_bytes()
}

/// The part of a piece that needs nothing of its neighbours.
fn part(content: &ModelContent, call_ids: bool) -> Option<Value> {
    let identified = |mut inner: Value, id: &str| {
        if call_ids {
            inner["id"] = id.into();
        }
        inner
    };
    match content {
        ModelContent::Text { text } if text.is_empty() => None,
        ModelContent::Text { text } => Some(json!({ "text": text })),
        ModelContent::Image { source } => Some(image(source)),
        ModelContent::ToolUse { id, name, arguments } => {
            let args = object(arguments);
            Some(json!({"functionCall": identified(json!({"name": name, "args": args}), id)}))
        }
        ModelContent::ToolResult { tool_use_id, name, content, failed } => {
            let key = if *failed { "error" } else { "output" };
            let response = json!({ key: content });
            let result = json!({"name": name, "response": response});
            Some(json!({"functionResponse": identified(result, tool_use_id)}))
        }
        ModelContent::Reasoning { .. } => None,
    }
}

/// Arguments are an object, whatever the model wrote.
fn object(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        other => json!({"unparsed_arguments": other}),
    }
}

fn image(source: &ImageSource) -> Value {
    match source {
        ImageSource::Inline { media_type, base64 } => {
            json!({"inlineData": {"mimeType": media_type, "data": base64}})
        }
        ImageSource::Url { url } => {
            let mut file = json!({"fileUri": url});
            if let Some(media_type) = media_type_of(url) {
                file["mimeType"] = media_type.into();
            }
            json!({ "fileData": file })
        }
    }
}

/// The type that the end of an address tells.
fn media_type_of(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next().unwrap_or(url).to_ascii_lowercase();
    let known = [
        (".png", "image/png"),
        (".jpg", "image/jpeg"),
        (".jpeg", "image/jpeg"),
        (".webp", "image/webp"),
        (".heic", "image/heic"),
        (".heif", "image/heif"),
    ];
    known.iter().find(|(ending, _)| path.ends_with(ending)).map(|(_, media_type)| *media_type)
}

/// What the model said, with the signatures that belong to it.
fn said(message: &ModelMessage, written: &Written<'_>) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut awaited = None;
    let mut needs_signature = written.signed_calls;
    for content in &message.content {
        if let ModelContent::Reasoning { issuer, opaque, .. } = content {
            awaited = Some(opaque).filter(|_| issuer == written.issuer);
            parts.extend(awaited.and_then(|opaque| opaque.get(PART)).cloned());
            continue;
        }
        let signature = awaited.take().and_then(|opaque| signature_for(content, opaque));
        let Some(mut part) = part(content, written.call_ids) else { continue };
        let is_call = matches!(content, ModelContent::ToolUse { .. });
        let stand_in = (is_call && needs_signature).then_some(FOREIGN_CALL);
        needs_signature &= !is_call;
        if let Some(signature) = signature.or(stand_in) {
            part[SIGNATURE] = signature.into();
        }
        parts.push(part);
    }
    parts
}

/// The signature in `opaque`, if it was on a piece like `content`.
fn signature_for<'a>(content: &ModelContent, opaque: &'a Value) -> Option<&'a str> {
    let kind = match content {
        ModelContent::Text { .. } => ON_TEXT,
        ModelContent::ToolUse { .. } => ON_CALL,
        _ => return None,
    };
    text(opaque, SIGNATURE).filter(|_| text(opaque, SIGNED) == Some(kind))
}

#[cfg(test)]
mod tests;

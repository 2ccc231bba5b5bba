//! Decides how pieces of a message are written that both APIs write alike.
//!
//! Knows nothing about where they stand in a body.

use std::borrow::Cow;

use runtime_ports::{Digest, ModelContent, ModelMessage, ModelRole};
use serde_json::{Value, json};

use crate::{
    history::Place,
    server_profile::{InstructionsRole, ResultImages, ServerProfile, SystemMessages, ToolCallIds},
};

/// The texts of a message, joined by `separator`; empty ones are left out.
pub(crate) fn joined(message: &ModelMessage, separator: &str) -> String {
    let texts = message.content.iter().filter_map(|content| match content {
        ModelContent::Text { text } if !text.is_empty() => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join(separator)
}

/// Arguments as JSON text of an object. Servers parse the arguments of old calls again, and refuse
/// the whole history when they are anything else: what the model wrote instead is wrapped.
pub(crate) fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::Object(_) => arguments.to_string(),
        other => json!({"unparsed_arguments": other}).to_string(),
    }
}

/// An image as an address that holds it.
pub(crate) fn data_url(media_type: &str, base64: &str) -> String {
    format!("data:{media_type};base64,{base64}")
}

/// The role of a message that is no assistant's. A later system message of a server that takes one
/// at the front is sent as the user's.
pub(crate) const fn role(role: ModelRole, place: Place, server: &ServerProfile) -> &'static str {
    match (role, place, server.system_messages) {
        (ModelRole::System, Place::Behind, SystemMessages::OneAtTheFront) => "user",
        (ModelRole::System, _, _) => match server.instructions_role {
            InstructionsRole::System => "system",
            InstructionsRole::Developer => "developer",
        },
        _ => "user",
    }
}

/// The id of a call in the alphabet of the server: the same for a call and its result, wherever
/// the call came from.
pub(crate) fn call_id<'a>(id: &'a str, server: &ServerProfile) -> Cow<'a, str> {
    const LENGTH: usize = 9;
    let fits = id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match server.tool_call_ids {
        ToolCallIds::NineAlphanumerics if !fits => {
            let digest = Digest::of_parts(&[b"tool call id", id.as_bytes()]).to_string();
            Cow::Owned(digest[..LENGTH].to_owned())
        }
        _ => Cow::Borrowed(id),
    }
}

/// One result of a tool, and the images that belong to it.
pub(crate) struct ToolOutput<'a> {
    pub(crate) call_id: &'a str,
    pub(crate) text: &'a str,
    pub(crate) images: Vec<&'a ModelContent>,
}

/// The results of a message, and the images that stand behind all of them. Images belong to the
/// result before them where the server takes them there.
pub(crate) fn tool_outputs<'a>(
    message: &'a ModelMessage,
    server: &ServerProfile,
) -> (Vec<ToolOutput<'a>>, Vec<&'a ModelContent>) {
    let within = server.result_images == ResultImages::InTheResult;
    let (mut outputs, mut behind) = (Vec::<ToolOutput<'a>>::new(), Vec::new());
    for content in &message.content {
        match content {
            ModelContent::ToolResult { tool_use_id, content, .. } => {
                outputs.push(ToolOutput { call_id: tool_use_id, text: content, images: vec![] });
            }
            ModelContent::Image { .. } => match outputs.last_mut().filter(|_| within) {
                Some(output) => output.images.push(content),
                None => behind.push(content),
            },
            _ => {}
        }
    }
    (outputs, behind)
}

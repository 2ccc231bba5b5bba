//! Decides what is known of the answer that an agent must give, and how its model is told.
//!
//! Knows no validator. Invariant: the same schema is told in the same bytes.

use std::sync::Arc;

use runtime_ports::{ModelContent, ModelMessage, ModelRole, ResponseFormat};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Longest name of an answer, in bytes: what providers take.
pub const ANSWER_NAME_MAX_BYTES: usize = 64;

/// The form of an agent's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerSchema {
    /// Its name, told to providers that want one: `[A-Za-z0-9_-]{1,64}`.
    pub name: Arc<str>,
    /// JSON Schema.
    pub schema: Arc<Value>,
}

impl AnswerSchema {
    pub(crate) fn has_a_name(&self) -> bool {
        let takes = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        (1..=ANSWER_NAME_MAX_BYTES).contains(&self.name.len()) && self.name.bytes().all(takes)
    }

    /// Tells the model behind its instructions, unless the conversation says it already.
    pub(crate) fn tell(&self, messages: &mut Vec<ModelMessage>) {
        let told = self.told();
        match messages.first_mut().filter(|first| first.role == ModelRole::System) {
            None => messages.insert(0, ModelMessage::text(ModelRole::System, told)),
            Some(system) if says(system, &told) => {}
            Some(system) => match system.content.last_mut() {
                Some(ModelContent::Text { text }) => *text = format!("{text}\n\n{told}"),
                _ => system.content.push(ModelContent::text(told)),
            },
        }
    }

    fn told(&self) -> String {
        format!(
            "A program reads your final answer. Give it as one JSON value that follows the JSON \
             Schema below, whole and with nothing else; where a tool ends the task, the message \
             that you give it is that JSON.\n\nJSON Schema of the answer ({}):\n{}",
            self.name, self.schema
        )
    }

    /// The form to ask a provider for; none for a schema that providers refuse.
    pub(crate) fn response_format(&self) -> Option<ResponseFormat> {
        let is_of_objects = self.schema.get("type").is_some_and(|kind| kind == "object");
        is_of_objects.then(|| ResponseFormat::JsonSchema {
            name: (*self.name).to_owned(),
            schema: (*self.schema).clone(),
            strict: false,
        })
    }
}

fn says(message: &ModelMessage, told: &str) -> bool {
    let says =
        |item: &ModelContent| matches!(item, ModelContent::Text { text } if text.contains(told));
    message.content.iter().any(says)
}

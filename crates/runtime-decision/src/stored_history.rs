//! Decides how a history is written into a stored run, where it takes most of the room.
//!
//! Knows nothing about the run. A message is `{"role": [content, …]}`. Of its content, text is a
//! string, a call the list of its id, its tool and its arguments when these are an object, and a
//! result that is no failure the list of its call, its tool and its text; everything else is
//! written as it always is. Invariant: what is written is read again as it was.

#[cfg(test)]
mod tests;

use runtime_ports::{ModelContent, ModelMessage, ModelRole, Transcript, TranscriptEntry};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Map, Value};

pub(crate) fn serialize<S: Serializer>(
    history: &Transcript,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(history.entries().map(|entry| WrittenEntry(entry)))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Transcript, D::Error> {
    let messages = Vec::<ReadMessage>::deserialize(deserializer)?;
    Ok(messages.into_iter().map(ModelMessage::from).collect())
}

struct WrittenEntry<'a>(&'a TranscriptEntry);

struct WrittenContent<'a>(&'a [ModelContent]);

#[derive(Serialize)]
#[serde(untagged)]
enum WrittenItem<'a> {
    Text(&'a str),
    Call(&'a str, &'a str, &'a Map<String, Value>),
    Result(&'a str, &'a str, &'a str),
    Other(&'a ModelContent),
}

impl Serialize for WrittenEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.show(|message| {
            let mut written = serializer.serialize_map(Some(1))?;
            written.serialize_entry(&message.role, &WrittenContent(&message.content))?;
            written.end()
        })
    }
}

impl Serialize for WrittenContent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(WrittenItem::of))
    }
}

impl<'a> WrittenItem<'a> {
    fn of(item: &'a ModelContent) -> Self {
        match item {
            ModelContent::Text { text } => Self::Text(text),
            ModelContent::ToolUse { id, name, arguments: Value::Object(arguments) } => {
                Self::Call(id, name, arguments)
            }
            ModelContent::ToolResult { tool_use_id, name, content, failed: false } => {
                Self::Result(tool_use_id, name, content)
            }
            other => Self::Other(other),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReadMessage {
    System(Vec<ReadItem>),
    User(Vec<ReadItem>),
    Assistant(Vec<ReadItem>),
    Tool(Vec<ReadItem>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ReadItem {
    Text(String),
    Result(String, String, String),
    Call(String, String, Map<String, Value>),
    Other(ModelContent),
}

impl From<ReadMessage> for ModelMessage {
    fn from(read: ReadMessage) -> Self {
        let (role, content) = match read {
            ReadMessage::System(content) => (ModelRole::System, content),
            ReadMessage::User(content) => (ModelRole::User, content),
            ReadMessage::Assistant(content) => (ModelRole::Assistant, content),
            ReadMessage::Tool(content) => (ModelRole::Tool, content),
        };
        Self { role, content: content.into_iter().map(ModelContent::from).collect() }
    }
}

impl From<ReadItem> for ModelContent {
    fn from(read: ReadItem) -> Self {
        match read {
            ReadItem::Text(text) => Self::Text { text },
            ReadItem::Call(id, name, arguments) => {
                Self::ToolUse { id, name, arguments: Value::Object(arguments) }
            }
            ReadItem::Result(tool_use_id, name, content) => {
                Self::ToolResult { tool_use_id, name, content, failed: false }
            }
            ReadItem::Other(other) => other,
        }
    }
}

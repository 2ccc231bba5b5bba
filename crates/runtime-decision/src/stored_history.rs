//! Decides how a history is written into a stored run, where it takes most of the room.
//!
//! Knows nothing about the run. A message is `{"role": [content, …]}`. Of its content, text is a
//! string, and a result that is no failure is the list of its call, its tool and its text;
//! everything else is written as it always is. Invariant: what is written is read again as it was.

#[cfg(test)]
mod tests;

use runtime_ports::{ModelContent, ModelMessage, ModelRole, Transcript};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeMap as _};

pub(crate) fn serialize<S: Serializer>(
    history: &Transcript,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(history.messages().map(WrittenMessage))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Transcript, D::Error> {
    let messages = Vec::<ReadMessage>::deserialize(deserializer)?;
    Ok(messages.into_iter().map(ModelMessage::from).collect())
}

struct WrittenMessage<'a>(&'a ModelMessage);

struct WrittenContent<'a>(&'a [ModelContent]);

#[derive(Serialize)]
#[serde(untagged)]
enum WrittenItem<'a> {
    Text(&'a str),
    Result(&'a str, &'a str, &'a str),
    Other(&'a ModelContent),
}

impl Serialize for WrittenMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut message = serializer.serialize_map(Some(1))?;
        message.serialize_entry(&self.0.role, &WrittenContent(&self.0.content))?;
        message.end()
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
            ReadItem::Result(tool_use_id, name, content) => {
                Self::ToolResult { tool_use_id, name, content, failed: false }
            }
            ReadItem::Other(other) => other,
        }
    }
}

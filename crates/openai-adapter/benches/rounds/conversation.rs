//! Decides what is said: a conversation that grows by one tool call and its result a round.
//!
//! Knows nothing about connections. What is new in a round is of the same size in each of them.

use std::sync::{Arc, LazyLock};

use runtime_ports::{
    GenerationOptions, ModelContent, ModelMessage, ModelRequest, ModelRole, ModelToolDefinition,
    ToolSet, Transcript,
};
use serde_json::json;

/// Bytes of the task and of every tool result.
const TEXT_BYTES: usize = 1_024;

/// Tools of every request.
static TOOLS: LazyLock<ToolSet> = LazyLock::new(|| (0..5).map(tool).collect());

/// What stood before a round, and what the round brings.
pub(crate) struct Conversation {
    before: Transcript,
    first: bool,
}

impl Conversation {
    /// A conversation before round number `round`, from 1.
    pub(crate) fn before_round(round: usize) -> Self {
        let mut before = Transcript::new();
        if round > 1 {
            before.extend(opening());
        }
        for _ in 2..round {
            before.extend(exchange());
        }
        Self { before, first: round == 1 }
    }

    /// The messages of the round's request. The new ones are made, digested and encoded each time;
    /// the earlier ones are shared.
    pub(crate) fn with_what_is_new(&self) -> Transcript {
        let mut messages = self.before.clone();
        messages.extend(if self.first { opening() } else { exchange() });
        messages
    }
}

/// A request with these messages.
pub(crate) fn request(messages: Transcript) -> ModelRequest {
    ModelRequest {
        invocation_id: Arc::from("invocation-1"),
        model: Arc::from("a-model"),
        messages,
        tools: TOOLS.clone(),
        max_output_tokens: None,
        options: Arc::new(GenerationOptions::default()),
    }
}

/// The text of the task and of every tool result.
pub(crate) fn text() -> String {
    "0123456789abcde\n".repeat(TEXT_BYTES / 16)
}

fn opening() -> [ModelMessage; 2] {
    let instructions = ModelMessage::text(ModelRole::System, "You work in a folder of notes.");
    [instructions, ModelMessage::text(ModelRole::User, text())]
}

fn exchange() -> [ModelMessage; 2] {
    let (id, name) = ("call-1".to_owned(), "read_file".to_owned());
    let arguments = json!({ "path": "notes/today.md", "from_line": 1 });
    let call = ModelContent::ToolUse { id: id.clone(), name: name.clone(), arguments };
    let (tool_use_id, content, failed) = (id, text(), false);
    let result = ModelContent::ToolResult { tool_use_id, name, content, failed };
    [
        ModelMessage { role: ModelRole::Assistant, content: vec![call] },
        ModelMessage { role: ModelRole::Tool, content: vec![result] },
    ]
}

/// One of the tools of every request.
pub(crate) fn tool(number: usize) -> ModelToolDefinition {
    ModelToolDefinition {
        name: format!("tool_{number}"),
        description: "Does one thing to a file of the folder and says what it found.".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "Path inside of the folder." },
                "from_line": { "type": "integer", "minimum": 1 },
            },
            "required": ["path"],
            "additionalProperties": false,
        }),
    }
}

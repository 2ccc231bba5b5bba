//! Decides how a model ends its run by a call: with a question to the user, or with its result.
//!
//! Knows nothing about runs: the directive of the reply says what shall be done. Invariant: neither
//! tool touches the world.

#[cfg(test)]
mod tests;

use std::time::Duration;

use async_trait::async_trait;
use runtime_decision::{ASK_USER, TASK_FINISH};
use runtime_ports::{
    EffectClass, ModelToolDefinition, OperationContext, PortFailure, Tool, ToolDescriptor,
    ToolDirective, ToolInvocation, ToolKind, ToolReply, ToolWorld,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Most bytes of a reply that the model is shown.
const OUTPUT_LIMIT_BYTES: usize = 64 << 10;

/// The tool `ask_user`, with the arguments `question` and, where there is a choice, `choices`: ends
/// the run as waiting for the user, whose answer starts the next one. The question is in the
/// metadata `question` of the reply, the choices in `choices`.
#[derive(Debug, Clone)]
pub struct AskUser(ToolDescriptor);

/// The tool `task_finish`, with the argument `message`: ends the run as completed. The message is
/// in the metadata `final_message` of the reply.
#[derive(Debug, Clone)]
pub struct TaskFinish(ToolDescriptor);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    question: String,
    choices: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Finish {
    message: String,
}

impl AskUser {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = "Asks the user a question and ends your work until the answer comes. Use \
            it only when you cannot go on without the answer. The answer is the next message of \
            the user.";
        let properties = json!({
            "question": {
                "type": "string",
                "minLength": 1,
                "description": "The whole question, in words that need no context.",
            },
            "choices": {
                "type": "array",
                "items": { "type": "string", "minLength": 1 },
                "description": "Answers that the user may choose from, if there is a choice.",
            },
        });
        Self(descriptor(ASK_USER, description, &properties, "question"))
    }
}

impl TaskFinish {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = "Ends the task with its result. Call it once, when everything that was \
            asked for is done or cannot be done.";
        let properties = json!({
            "message": {
                "type": "string",
                "minLength": 1,
                "description": "The result, for the user.",
            },
        });
        Self(descriptor(TASK_FINISH, description, &properties, "message"))
    }
}

impl Default for AskUser {
    fn default() -> Self {
        Self::new()
    }
}

impl Default for TaskFinish {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Tool for AskUser {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.0
    }

    async fn invoke(
        &self,
        _: &OperationContext,
        _: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        let Some(asked) = parsed::<Question>(call.arguments) else {
            return Ok(malformed("{question: string, choices?: [string]}"));
        };
        if is_blank(&asked.question) {
            return Ok(malformed("{question: string that is not blank, choices?: [string]}"));
        }
        let mut metadata = Map::new();
        metadata.insert("question".to_owned(), asked.question.into());
        if let Some(choices) = asked.choices.filter(|choices| !choices.is_empty()) {
            metadata.insert("choices".to_owned(), choices.into());
        }
        let directive = ToolDirective::WaitUser;
        let told = "the user is asked; the answer is the user's next message";
        Ok(ToolReply { directive, metadata, ..ToolReply::text(told) })
    }
}

#[async_trait]
impl Tool for TaskFinish {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.0
    }

    async fn invoke(
        &self,
        _: &OperationContext,
        _: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        let Some(finish) = parsed::<Finish>(call.arguments) else {
            return Ok(malformed("{message: string}"));
        };
        if is_blank(&finish.message) {
            return Ok(malformed("{message: string that is not blank}"));
        }
        let mut metadata = Map::new();
        metadata.insert("final_message".to_owned(), finish.message.into());
        let directive = ToolDirective::Finish;
        Ok(ToolReply { directive, metadata, ..ToolReply::text("the task is finished") })
    }
}

fn descriptor(name: &str, description: &str, properties: &Value, required: &str) -> ToolDescriptor {
    ToolDescriptor {
        definition: ModelToolDefinition {
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": properties,
                "required": [required],
                "additionalProperties": false,
            }),
        },
        kind: ToolKind::Function,
        effect: EffectClass::ReadOnly,
        idempotent: true,
        // It gives a directive.
        parallel: false,
        timeout: Duration::from_secs(10),
        output_limit_bytes: OUTPUT_LIMIT_BYTES,
        version: "1".to_owned(),
    }
}

/// The arguments, unless they are of another shape. A list would be taken for an object.
fn parsed<T: for<'de> Deserialize<'de>>(arguments: Value) -> Option<T> {
    arguments.is_object().then(|| serde_json::from_value(arguments).ok()).flatten()
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn malformed(expected: &str) -> ToolReply {
    ToolReply::error("invalid_arguments_type", format!("arguments must be {expected}"))
}

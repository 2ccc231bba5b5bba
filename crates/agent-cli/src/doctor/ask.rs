//! Decides how a question to a server under examination is written, in Chat Completions and in
//! Responses; the other APIs have files of their own.
//!
//! Knows the JSON of requests as the APIs say it, without what an adapter would make of it. Refuses
//! to know what the question is for.

mod gemini;
mod messages;

use openai_adapter::MaxTokensField;
use serde_json::{Map, Value, json};

use crate::endpoint::Api;

/// A piece of a conversation.
#[derive(Debug, Clone)]
pub(crate) enum Turn {
    System(&'static str),
    Developer(&'static str),
    User(String),
    /// A question about an image of one red pixel.
    Image(&'static str),
    /// The model called these tools: id, name, arguments.
    Calls(Vec<(String, String, String)>),
    /// The result of a call.
    Result(String, &'static str),
    /// The same, with an image of one red pixel in it.
    Picture(String, &'static str),
    /// What the model said, as this API writes it.
    Said(Value),
}

/// Which call is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Auto,
    Required,
    Named(&'static str),
}

/// How an answer shall come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Streamed,
    StreamedWithUsage,
    Whole,
}

/// A question.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) turns: Vec<Turn>,
    /// Names of tools: `get_weather` takes a city, all others take nothing.
    pub(crate) tools: &'static [&'static str],
    pub(crate) choice: Choice,
    pub(crate) manner: Manner,
    pub(crate) most_tokens: u32,
    /// More fields.
    pub(crate) extra: Map<String, Value>,
}

/// What a request depends on beside the question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dialect {
    pub(crate) api: Api,
    pub(crate) limit: MaxTokensField,
}

const RED_PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx\
                         0gAAAABJRU5ErkJggg==";

impl Ask {
    /// A question in words, streamed, with room for 512 tokens.
    pub(crate) fn user(text: impl Into<String>) -> Self {
        Self::of(vec![Turn::User(text.into())])
    }

    pub(crate) fn of(turns: Vec<Turn>) -> Self {
        Self {
            turns,
            tools: &[],
            choice: Choice::Auto,
            manner: Manner::Streamed,
            most_tokens: 512,
            extra: Map::new(),
        }
    }

    pub(crate) fn tools(self, tools: &'static [&'static str]) -> Self {
        Self { tools, ..self }
    }

    pub(crate) fn choice(self, choice: Choice) -> Self {
        Self { choice, ..self }
    }

    pub(crate) fn manner(self, manner: Manner) -> Self {
        Self { manner, ..self }
    }

    pub(crate) fn at_most(self, most_tokens: u32) -> Self {
        Self { most_tokens, ..self }
    }

    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.extra.insert(name.to_owned(), value);
        self
    }

    /// The body of the request.
    pub(crate) fn body(&self, model: &str, dialect: Dialect) -> Value {
        let mut body = match dialect.api {
            Api::Chat => self.with_tools(self.chat(model, dialect.limit), dialect.api),
            Api::Responses => self.with_tools(self.responses(model), dialect.api),
            Api::Messages => messages::body(self, model),
            Api::Gemini => gemini::body(self),
        };
        for (name, value) in &self.extra {
            match (body[name.as_str()].as_object_mut(), value.as_object()) {
                (Some(there), Some(more)) => there.extend(more.clone()),
                _ => body[name.as_str()] = value.clone(),
            }
        }
        body
    }

    fn with_tools(&self, mut body: Value, api: Api) -> Value {
        if self.tools.is_empty() {
            return body;
        }
        body["tools"] = self.tools.iter().map(|name| tool(api, name)).collect();
        match self.choice {
            Choice::Auto => {}
            Choice::Required => body["tool_choice"] = json!("required"),
            Choice::Named(name) => body["tool_choice"] = named(api, name),
        }
        body
    }

    fn chat(&self, model: &str, limit: MaxTokensField) -> Value {
        let limit = match limit {
            MaxTokensField::MaxTokens => "max_tokens",
            MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
        };
        let messages: Vec<Value> = self.turns.iter().map(chat_message).collect();
        let mut body = json!({
            "model": model,
            "messages": messages,
            "stream": self.manner != Manner::Whole,
            limit: self.most_tokens,
        });
        if self.manner == Manner::StreamedWithUsage {
            body["stream_options"] = json!({ "include_usage": true });
        }
        body
    }

    fn responses(&self, model: &str) -> Value {
        let input: Vec<Value> = self.turns.iter().flat_map(items).collect();
        json!({
            "model": model,
            "input": input,
            "stream": self.manner != Manner::Whole,
            "store": false,
            // The API takes no smaller limit.
            "max_output_tokens": self.most_tokens.max(16),
        })
    }
}

fn chat_message(turn: &Turn) -> Value {
    match turn {
        Turn::System(text) => json!({ "role": "system", "content": text }),
        Turn::Developer(text) => json!({ "role": "developer", "content": text }),
        Turn::User(text) => json!({ "role": "user", "content": text }),
        Turn::Image(text) => json!({ "role": "user", "content": [
            { "type": "text", "text": text },
            { "type": "image_url", "image_url": { "url": red_pixel() } },
        ] }),
        Turn::Calls(calls) => {
            let call = |(id, name, arguments): &(String, String, String)| {
                let function = json!({ "name": name, "arguments": arguments });
                json!({ "id": id, "type": "function", "function": function })
            };
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({ "role": "assistant", "content": null, "tool_calls": calls })
        }
        Turn::Result(id, text) => json!({ "role": "tool", "tool_call_id": id, "content": text }),
        Turn::Picture(id, text) => json!({ "role": "tool", "tool_call_id": id, "content": [
            { "type": "text", "text": text },
            { "type": "image_url", "image_url": { "url": red_pixel() } },
        ] }),
        Turn::Said(message) => message.clone(),
    }
}

fn items(turn: &Turn) -> Vec<Value> {
    match turn {
        Turn::Image(text) => vec![json!({ "role": "user", "content": [
            { "type": "input_text", "text": text },
            { "type": "input_image", "image_url": red_pixel() },
        ] })],
        Turn::Calls(calls) => {
            let call = |(id, name, arguments): &(String, String, String)| {
                json!({
                    "type": "function_call", "call_id": id, "name": name, "arguments": arguments
                })
            };
            calls.iter().map(call).collect()
        }
        Turn::Result(id, text) => {
            vec![json!({ "type": "function_call_output", "call_id": id, "output": text })]
        }
        Turn::Picture(id, text) => vec![json!({
            "type": "function_call_output", "call_id": id, "output": [
                { "type": "input_text", "text": text },
                { "type": "input_image", "image_url": red_pixel() },
            ],
        })],
        said => vec![chat_message(said)],
    }
}

fn red_pixel() -> String {
    format!("data:image/png;base64,{RED_PIXEL}")
}

/// What a tool is for, and the schema of its arguments.
fn about(name: &str) -> (&'static str, Value) {
    let city = json!({ "city": { "type": "string", "description": "name of a city" } });
    let (description, properties, required) = match name {
        "get_weather" => ("the weather of today in a city", city, json!(["city"])),
        _ => ("takes nothing and answers pong", json!({}), json!([])),
    };
    (description, json!({ "type": "object", "properties": properties, "required": required }))
}

fn tool(api: Api, name: &str) -> Value {
    let (description, parameters) = about(name);
    let mut function =
        json!({ "name": name, "description": description, "parameters": parameters });
    if api == Api::Responses {
        function["type"] = json!("function");
        return function;
    }
    json!({ "type": "function", "function": function })
}

fn named(api: Api, name: &str) -> Value {
    if api == Api::Responses {
        return json!({ "type": "function", "name": name });
    }
    json!({ "type": "function", "function": { "name": name } })
}

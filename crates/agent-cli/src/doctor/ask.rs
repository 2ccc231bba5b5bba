//! Decides how a question to a server under examination is written, in both APIs.
//!
//! Knows the JSON of requests as the APIs say it, without what an adapter would make of it. Refuses
//! to know what the question is for.

use openai_adapter::{Api, MaxTokensField};
use serde_json::{Map, Value, json};

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

const RED_PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlE\
                         QVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

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
            Api::Chat => self.chat(model, dialect.limit),
            Api::Responses => self.responses(model),
        };
        if !self.tools.is_empty() {
            let tools: Vec<Value> = self.tools.iter().map(|name| tool(dialect.api, name)).collect();
            body["tools"] = Value::Array(tools);
            match self.choice {
                Choice::Auto => {}
                Choice::Required => body["tool_choice"] = json!("required"),
                Choice::Named(name) => body["tool_choice"] = named(dialect.api, name),
            }
        }
        for (name, value) in &self.extra {
            body[name.as_str()] = value.clone();
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
            { "type": "image_url", "image_url": { "url": RED_PIXEL } },
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
    }
}

fn items(turn: &Turn) -> Vec<Value> {
    match turn {
        Turn::Image(text) => vec![json!({ "role": "user", "content": [
            { "type": "input_text", "text": text },
            { "type": "input_image", "image_url": RED_PIXEL },
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
        said => vec![chat_message(said)],
    }
}

fn tool(api: Api, name: &str) -> Value {
    let city = json!({ "city": { "type": "string", "description": "name of a city" } });
    let (properties, required) = match name {
        "get_weather" => (city, json!(["city"])),
        _ => (json!({}), json!([])),
    };
    let parameters = json!({ "type": "object", "properties": properties, "required": required });
    let description = match name {
        "get_weather" => "the weather of today in a city",
        _ => "takes nothing and answers pong",
    };
    let function = json!({ "name": name, "description": description, "parameters": parameters });
    match api {
        Api::Chat => json!({ "type": "function", "function": function }),
        Api::Responses => {
            let mut flat = function;
            flat["type"] = json!("function");
            flat
        }
    }
}

fn named(api: Api, name: &str) -> Value {
    match api {
        Api::Chat => json!({ "type": "function", "function": { "name": name } }),
        Api::Responses => json!({ "type": "function", "name": name }),
    }
}

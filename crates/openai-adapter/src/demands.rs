//! Decides how what a request demands is met by a server that takes less than the API has.
//!
//! Knows nothing about how it is written. Invariant: a demand is met as it is, in an equal way, or
//! not at all: then nothing is sent.

use runtime_ports::{ModelRequest, ModelToolDefinition, ResponseFormat, ToolChoice};
use serde_json::Value;

use crate::{
    features::Feature,
    profile::{Api, Written},
    server_profile::{AnswerForms, StrictSchemas, ToolChoices},
};

/// What is demanded of one answer, in the terms of its server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Demands<'a> {
    /// Whether and which tool must be called.
    pub(crate) choice: Choice<'a>,
    /// The one tool that is sent, when a server is to choose it and knows no names.
    pub(crate) only_tool: Option<&'a ModelToolDefinition>,
    /// The form of the answer.
    pub(crate) form: Form<'a>,
}

/// Whether and which tool must be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice<'a> {
    Auto,
    None,
    Required,
    Named(&'a str),
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form<'a> {
    Text,
    JsonObject,
    /// `strict` is `None` where the server does not know it.
    JsonSchema {
        name: &'a str,
        schema: &'a Value,
        strict: Option<bool>,
    },
}

impl<'a> Demands<'a> {
    /// What `request` demands; the reason, when this server cannot meet it.
    pub(crate) fn of(
        request: &'a ModelRequest,
        written: &Written<'_>,
    ) -> Result<Self, &'static str> {
        let options = &request.options;
        if options.temperature.is_some_and(|value| !value.is_finite()) {
            return Err("the temperature must be a finite number");
        }
        if !options.stop.is_empty() && written.api == Api::Responses {
            return Err("the responses api has no stop texts; leave them out or use chat \
                        completions");
        }
        if !options.stop.is_empty() && !written.server.stop_texts {
            return Err("this server knows no stop texts; leave them out");
        }
        let (choice, only_tool) = choice(request, written)?;
        let calls = matches!(choice, Choice::Required | Choice::Named(_));
        let form = match calls && !written.server.form_beside_required_call {
            true => Form::Text,
            false => form(&options.response_format, written)?,
        };
        Ok(Self { choice, only_tool, form })
    }
}

type Chosen<'a> = (Choice<'a>, Option<&'a ModelToolDefinition>);

fn choice<'a>(
    request: &'a ModelRequest,
    written: &Written<'_>,
) -> Result<Chosen<'a>, &'static str> {
    let choices = written.server.tool_choice;
    let forced = match &request.options.tool_choice {
        ToolChoice::Auto => return Ok((Choice::Auto, None)),
        ToolChoice::None => return Ok((Choice::None, None)),
        forced => forced,
    };
    match forced {
        _ if request.tools.is_empty() => Err("a required tool call needs tools"),
        _ if choices == ToolChoices::AutoOnly => {
            Err("this server cannot be made to call a tool; leave the choice to the model, or \
                 change `tool_choice` in its profile")
        }
        ToolChoice::Named { name } => {
            let tool = request.tools.iter().find(|tool| tool.name == *name);
            let tool = tool.ok_or("the required tool is none of the request's tools")?;
            let by_name =
                choices == ToolChoices::Named && written.features.has(Feature::NamedToolChoice);
            Ok(match by_name {
                true => (Choice::Named(name), None),
                false => (Choice::Required, Some(tool)),
            })
        }
        _ => Ok((Choice::Required, None)),
    }
}

fn form<'a>(format: &'a ResponseFormat, written: &Written<'_>) -> Result<Form<'a>, &'static str> {
    let server = written.server;
    match (format, server.answer_forms) {
        (ResponseFormat::Text, _) => Ok(Form::Text),
        (_, AnswerForms::Text) => {
            Err("this server cannot be asked for json; ask for text, or change `answer_forms` in \
                 its profile")
        }
        (ResponseFormat::JsonObject, _) => Ok(Form::JsonObject),
        (ResponseFormat::JsonSchema { strict: true, .. }, AnswerForms::JsonObject) => {
            Err("this server cannot be made to follow a schema; ask without `strict`")
        }
        (ResponseFormat::JsonSchema { .. }, AnswerForms::JsonObject) => Ok(Form::JsonObject),
        (ResponseFormat::JsonSchema { name, schema, strict }, AnswerForms::JsonSchema) => {
            let subset = server.strict_schemas == StrictSchemas::ClosedObjects;
            if *strict && subset && !has_closed_objects(schema) {
                return Err("this server follows a schema to the letter only when its objects \
                            have `additionalProperties: false` and require all their properties");
            }
            let known = server.strict_schemas != StrictSchemas::Unknown;
            Ok(Form::JsonSchema { name, schema, strict: known.then_some(*strict) })
        }
    }
}

/// Whether every object that `schema` describes is closed and requires all that it has.
fn has_closed_objects(schema: &Value) -> bool {
    let mut waiting = vec![schema];
    while let Some(schema) = waiting.pop() {
        let Value::Object(fields) = schema else {
            if let Value::Array(items) = schema {
                waiting.extend(items);
            }
            continue;
        };
        if let Some(Value::Object(properties)) = fields.get("properties") {
            let required = fields.get("required").and_then(Value::as_array);
            let is_required = |name: &String| {
                required.is_some_and(|names| names.iter().any(|listed| listed == name))
            };
            let is_closed = fields.get("additionalProperties") == Some(&Value::Bool(false));
            if !is_closed || !properties.keys().all(is_required) {
                return false;
            }
            waiting.extend(properties.values());
        }
        let below = ["items", "anyOf", "allOf", "oneOf", "prefixItems"];
        waiting.extend(below.into_iter().filter_map(|name| fields.get(name)));
        let named = ["$defs", "definitions"].into_iter().filter_map(|name| fields.get(name));
        waiting.extend(named.filter_map(Value::as_object).flat_map(|defined| defined.values()));
    }
    true
}

#[cfg(test)]
mod tests;

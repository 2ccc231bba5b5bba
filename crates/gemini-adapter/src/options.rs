//! Decides how everything of a request beside its messages is written, and which requests the API
//! cannot serve.
//!
//! Knows nothing about messages. Invariant: what is asked for is written or refused, never left
//! out; what is not asked for is not written.

use bytes::Bytes;
use model_wire::pieces::encoded;
use runtime_ports::{GenerationOptions, ModelRequest, ResponseFormat, ToolChoice, ToolSet};
use serde_json::{Map, Value, json};

use crate::families::{Amount, Family};

/// Most texts at which generation ends.
const MOST_STOPS: usize = 5;
/// Most characters of a tool's name.
const LONGEST_NAME: usize = 128;

/// Why a request cannot be written: what to change.
pub(crate) type Problem = &'static str;

/// Whether the thoughts of the model are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thoughts {
    /// The API does not tell them.
    Withheld,
    /// Summaries of them.
    Summaries,
}

/// What a session asks with each of its requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standing {
    pub(crate) thoughts: Thoughts,
    pub(crate) top_p: Option<f64>,
    pub(crate) top_k: Option<u32>,
}

impl Standing {
    /// Nothing.
    pub(crate) const NONE: Self = Self { thoughts: Thoughts::Withheld, top_p: None, top_k: None };
}

/// The fields of a body after its contents. `tools` are the declarations, already written.
pub(crate) fn fields(
    request: &ModelRequest,
    tools: Option<Bytes>,
    standing: Standing,
) -> Result<Vec<(&'static str, Bytes)>, Problem> {
    let family = Family::of(&request.model);
    check(request, family)?;
    if standing.top_p.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
        return Err("top_p must be a number from 0 to 1");
    }
    let mut fields = Vec::new();
    let config = generation_config(request, family, standing)?;
    if !config.is_empty() {
        fields.push(("generationConfig", encoded(&Value::Object(config)).into()));
    }
    if let Some(choice) = tool_config(&request.options.tool_choice).filter(|_| tools.is_some()) {
        fields.push(("toolConfig", encoded(&choice).into()));
    }
    fields.extend(tools.map(|tools| ("tools", tools)));
    Ok(fields)
}

fn check(request: &ModelRequest, family: Family) -> Result<(), Problem> {
    let options = &request.options;
    let problem = match () {
        () if !is_model_name(&request.model) => {
            "the name of the model has characters that no model has; choose one that is listed"
        }
        () if options.temperature.is_some_and(|value| !value.is_finite()) => {
            "the temperature must be a finite number"
        }
        () if options.stop.len() > MOST_STOPS => {
            "the gemini api takes at most 5 stop texts; leave some of them out"
        }
        () if !request.tools.iter().all(|tool| is_tool_name(&tool.name)) => {
            "a tool has a name that the gemini api does not take; use letters, digits and _.:-, at \
             most 128, with a letter or _ first"
        }
        () => return check_choice(request, family),
    };
    Err(problem)
}

fn check_choice(request: &ModelRequest, family: Family) -> Result<(), Problem> {
    let GenerationOptions { tool_choice, response_format, .. } = &*request.options;
    let has_form = *response_format != ResponseFormat::Text;
    let is_offered = |name: &String| request.tools.iter().any(|tool| tool.name == *name);
    match tool_choice {
        ToolChoice::Required | ToolChoice::Named { .. } if request.tools.is_empty() => {
            Err("a required tool call needs tools")
        }
        ToolChoice::Named { name } if !is_offered(name) => {
            Err("the tool that must be called is not among the tools; offer it or choose another")
        }
        _ if has_form && !request.tools.is_empty() && !family.json_beside_tools => {
            Err("this model takes either tools or a form of the answer; leave one of them out")
        }
        _ => Ok(()),
    }
}

/// A name becomes a part of the path.
fn is_model_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    let is_step = |step: &str| !step.trim_matches('.').is_empty() && step.chars().all(is_plain);
    name.split('/').all(is_step)
}

fn is_tool_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && name.len() <= LONGEST_NAME && name.chars().all(is_plain)
}

fn generation_config(
    request: &ModelRequest,
    family: Family,
    standing: Standing,
) -> Result<Map<String, Value>, Problem> {
    let options = &request.options;
    let mut config = Map::new();
    let mut add = |name: &str, value: Value| drop(config.insert(name.to_owned(), value));
    if let Some(limit) = request.max_output_tokens {
        add("maxOutputTokens", limit.into());
    }
    if let Some(temperature) = options.temperature {
        add("temperature", temperature.into());
    }
    if let Some(top_p) = standing.top_p {
        add("topP", top_p.into());
    }
    if let Some(top_k) = standing.top_k {
        add("topK", top_k.into());
    }
    if !options.stop.is_empty() {
        add("stopSequences", json!(options.stop));
    }
    if options.response_format != ResponseFormat::Text {
        add("responseMimeType", "application/json".into());
    }
    if let ResponseFormat::JsonSchema { name, schema, .. } = &options.response_format {
        add("responseJsonSchema", named(name, schema));
    }
    let thinking = thinking_config(options, family, standing.thoughts)?;
    if !thinking.is_empty() {
        add("thinkingConfig", thinking.into());
    }
    Ok(config)
}

/// A schema bears its name as its title: the API has no other place for it.
fn named(name: &str, schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(fields) = &mut schema {
        fields.entry("title").or_insert_with(|| name.into());
    }
    schema
}

fn thinking_config(
    options: &GenerationOptions,
    family: Family,
    thoughts: Thoughts,
) -> Result<Map<String, Value>, Problem> {
    let mut config = Map::new();
    if let Some(effort) = &options.reasoning_effort {
        let (field, amount) = family.thinking.field(effort).ok_or(
            "this model has no such reasoning effort; gemini models know minimal, low, medium and \
             high, those of 2.5 also none, and older ones do not reason",
        )?;
        let amount = match amount {
            Amount::Named => Value::from(effort.as_str()),
            Amount::Tokens(tokens) => tokens.into(),
        };
        config.insert(field.to_owned(), amount);
    }
    if thoughts == Thoughts::Summaries && family.thinking != crate::families::Thinking::Absent {
        config.insert("includeThoughts".to_owned(), true.into());
    }
    Ok(config)
}

/// The tools of a request. Their schemas are JSON Schema, which the API takes as it is.
pub(crate) fn tools(tools: &ToolSet) -> Value {
    let declarations = tools.iter().map(|tool| {
        json!({
            "name": tool.name,
            "description": tool.description,
            "parametersJsonSchema": tool.input_schema,
        })
    });
    json!([{"functionDeclarations": declarations.collect::<Value>()}])
}

fn tool_config(choice: &ToolChoice) -> Option<Value> {
    let config = match choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Named { name } => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    };
    Some(json!({ "functionCallingConfig": config }))
}

#[cfg(test)]
mod tests;

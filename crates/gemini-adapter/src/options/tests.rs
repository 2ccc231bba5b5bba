//! What each option looks like, and which requests are refused.

use std::sync::Arc;

use model_wire::pieces::encoded;
use runtime_ports::{
    GenerationOptions, ModelRequest, ModelToolDefinition, ResponseFormat, ToolChoice, ToolSet,
    Transcript,
};
use serde_json::{Map, Value, json};

use super::{Problem, Standing, Thoughts, fields, tools};

fn asked(model: &str, tools: &[&str], options: GenerationOptions) -> ModelRequest {
    let tool = |name: &&str| ModelToolDefinition {
        name: (*name).into(),
        description: "does".into(),
        input_schema: json!({"type": "object", "additionalProperties": false}),
    };
    ModelRequest {
        invocation_id: "i".into(),
        model: model.into(),
        messages: Transcript::new(),
        tools: ToolSet::new(tools.iter().map(tool).collect()),
        max_output_tokens: None,
        options: Arc::new(options),
    }
}

fn written(request: &ModelRequest, thoughts: Thoughts) -> Result<Value, Problem> {
    asked_always(request, Standing { thoughts, ..Standing::NONE })
}

fn asked_always(request: &ModelRequest, standing: Standing) -> Result<Value, Problem> {
    let some_tools = !request.tools.is_empty();
    let tools = some_tools.then(|| encoded(&tools(&request.tools)).into());
    let fields = fields(request, tools, standing)?;
    let value = |bytes: &[u8]| serde_json::from_slice(bytes).expect("json");
    let fields = fields.iter().map(|(name, bytes)| ((*name).to_owned(), value(bytes)));
    Ok(Value::Object(fields.collect::<Map<String, Value>>()))
}

fn none() -> GenerationOptions {
    GenerationOptions::default()
}

fn schema() -> ResponseFormat {
    let schema = json!({"type": "object"});
    ResponseFormat::JsonSchema { name: "s".into(), schema, strict: true }
}

const NEWER: &str = "gemini-3-pro-preview";

#[test]
fn what_is_not_asked_is_not_written() {
    assert_eq!(written(&asked(NEWER, &[], none()), Thoughts::Withheld), Ok(json!({})));
}

#[test]
fn every_option_is_written() {
    let options = GenerationOptions {
        temperature: Some(0.5),
        stop: vec!["end".into()],
        tool_choice: ToolChoice::Named { name: "f".into() },
        response_format: schema(),
        reasoning_effort: Some("low".into()),
    };
    let request = ModelRequest { max_output_tokens: Some(9), ..asked(NEWER, &["f"], options) };
    let expected = json!({
        "generationConfig": {
            "maxOutputTokens": 9,
            "temperature": 0.5,
            "stopSequences": ["end"],
            "responseMimeType": "application/json",
            "responseJsonSchema": {"type": "object", "title": "s"},
            "thinkingConfig": {"thinkingLevel": "low", "includeThoughts": true},
        },
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        "tools": [{"functionDeclarations": [{
            "name": "f",
            "description": "does",
            "parametersJsonSchema": {"type": "object", "additionalProperties": false},
        }]}],
    });
    assert_eq!(written(&request, Thoughts::Summaries), Ok(expected));
}

#[test]
fn a_session_can_narrow_the_sampling() {
    let request = asked(NEWER, &[], none());
    let top = |top_p, top_k| asked_always(&request, Standing { top_p, top_k, ..Standing::NONE });
    let config = json!({"generationConfig": {"topP": 0.9, "topK": 40}});
    assert_eq!(top(Some(0.9), Some(40)), Ok(config));
    for value in [-0.1, 1.1, f64::NAN] {
        assert!(top(Some(value), None).is_err(), "{value}");
    }
}

#[test]
fn a_family_is_asked_in_its_own_words() {
    let effort = |model: &str, effort: &str| {
        let options = GenerationOptions { reasoning_effort: Some(effort.into()), ..none() };
        let fields = written(&asked(model, &[], options), Thoughts::Withheld)?;
        Ok::<Value, Problem>(fields["generationConfig"]["thinkingConfig"].clone())
    };
    assert_eq!(effort(NEWER, "high"), Ok(json!({"thinkingLevel": "high"})));
    assert_eq!(effort("gemini-2.5-flash", "high"), Ok(json!({"thinkingBudget": 24_576})));
    assert_eq!(effort("gemini-2.5-flash", "none"), Ok(json!({"thinkingBudget": 0})));
    for (model, unknown) in [(NEWER, "none"), (NEWER, "most"), ("gemini-2.0-flash", "low")] {
        assert!(effort(model, unknown).is_err(), "{model} {unknown}");
    }
    let old = written(&asked("gemini-2.0-flash", &[], none()), Thoughts::Summaries);
    assert_eq!(old, Ok(json!({})), "a model that does not think has no thoughts");
}

#[test]
fn a_choice_of_tools_is_a_mode() {
    let mode = |choice| {
        let options = GenerationOptions { tool_choice: choice, ..none() };
        let fields = written(&asked(NEWER, &["f"], options), Thoughts::Withheld).expect("fields");
        fields["toolConfig"]["functionCallingConfig"].clone()
    };
    assert_eq!(mode(ToolChoice::Auto), Value::Null);
    assert_eq!(mode(ToolChoice::None), json!({"mode": "NONE"}));
    assert_eq!(mode(ToolChoice::Required), json!({"mode": "ANY"}));
}

#[test]
fn json_without_a_schema_and_a_schema_with_a_title() {
    let config = |response_format| {
        let options = GenerationOptions { response_format, ..none() };
        let fields = written(&asked(NEWER, &[], options), Thoughts::Withheld).expect("fields");
        fields["generationConfig"].clone()
    };
    let json_object = config(ResponseFormat::JsonObject);
    assert_eq!(json_object, json!({"responseMimeType": "application/json"}));
    let schema = json!({"title": "own"});
    let titled = config(ResponseFormat::JsonSchema { name: "s".into(), schema, strict: false });
    assert_eq!(titled["responseJsonSchema"], json!({"title": "own"}));
}

#[test]
fn what_the_api_cannot_do_is_refused() {
    let choice = |tool_choice| GenerationOptions { tool_choice, ..none() };
    let named = |name: &str| choice(ToolChoice::Named { name: name.into() });
    let form = || GenerationOptions { response_format: schema(), ..none() };
    let nan = GenerationOptions { temperature: Some(f64::NAN), ..none() };
    let stops = GenerationOptions { stop: vec!["s".into(); 6], ..none() };
    let long = "f".repeat(129);
    let cases = [
        ("no number", asked(NEWER, &[], nan)),
        ("too many stops", asked(NEWER, &[], stops)),
        ("a call without tools", asked(NEWER, &[], choice(ToolChoice::Required))),
        ("a call of no tool", asked(NEWER, &["f"], named("g"))),
        ("tools and a form", asked("gemini-2.5-pro", &["f"], form())),
        ("a name with a space", asked(NEWER, &["a b"], none())),
        ("a name that begins with a digit", asked(NEWER, &["1a"], none())),
        ("a long name", asked(NEWER, &[&long], none())),
        ("a model with a query", asked("m?key=x", &[], none())),
        ("a model above", asked("../m", &[], none())),
        ("a model without a name", asked("", &[], none())),
        ("a model with an end", asked("m#x", &[], none())),
    ];
    for (what, request) in cases {
        assert!(written(&request, Thoughts::Withheld).is_err(), "{what}");
    }
    for fine in ["mcp__server__tool", "_a.b:c-d", "F9"] {
        assert!(written(&asked(NEWER, &[fine], none()), Thoughts::Withheld).is_ok(), "{fine}");
    }
    assert!(written(&asked(NEWER, &["f"], form()), Thoughts::Withheld).is_ok());
    let tuned = asked("tunedModels/mine-1", &[], none());
    assert!(written(&tuned, Thoughts::Withheld).is_ok());
}

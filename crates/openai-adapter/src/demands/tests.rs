//! How what is demanded is met by servers that take less (F1, F4).

use std::sync::Arc;

use model_wire::Delivery;
use runtime_ports::{
    GenerationOptions, ModelRequest, ModelToolDefinition, ResponseFormat, ToolChoice, ToolSet,
    Transcript,
};
use serde_json::{Value, json};

use super::{Choice, Demands, Form};
use crate::{
    features::RefusedFeatures,
    profile::{Api, MaxTokensField, Written},
    responses::Kept,
    server_profile::{AnswerForms, ServerProfile, StrictSchemas, ToolChoices},
};

fn request(options: GenerationOptions) -> ModelRequest {
    let tool = |name: &str| ModelToolDefinition {
        name: name.into(),
        description: "does".into(),
        input_schema: json!({"type": "object"}),
    };
    ModelRequest {
        invocation_id: "i".into(),
        model: "m".into(),
        messages: Transcript::new(),
        tools: ToolSet::new(vec![tool("f"), tool("g")]),
        max_output_tokens: None,
        options: Arc::new(options),
    }
}

/// The choice, the only tool, and the form, in one line.
fn met(options: GenerationOptions, change: impl Fn(&mut ServerProfile)) -> String {
    let mut server = ServerProfile::default();
    change(&mut server);
    let written = Written {
        api: Api::Chat,
        delivery: Delivery::Streamed,
        issuer: "me",
        max_tokens: MaxTokensField::MaxTokens,
        reasoning_summary: None,
        features: RefusedFeatures::of(&server).remaining(),
        server: &server,
        one_call: false,
        kept: Kept::Nothing,
    };
    let request = request(options);
    let Ok(Demands { choice, only_tool, form }) = Demands::of(&request, &written) else {
        return "refused".to_owned();
    };
    let choice = match choice {
        Choice::Auto => "auto".to_owned(),
        Choice::None => "none".to_owned(),
        Choice::Required => "required".to_owned(),
        Choice::Named(name) => format!("named {name}"),
    };
    let only = only_tool.map(|tool| format!(" of {} alone", tool.name)).unwrap_or_default();
    let form = match form {
        Form::Text => "text",
        Form::JsonObject => "object",
        Form::JsonSchema { strict: None, .. } => "schema",
        Form::JsonSchema { strict: Some(true), .. } => "strict schema",
        Form::JsonSchema { strict: Some(false), .. } => "loose schema",
    };
    format!("{choice}{only}, {form}")
}

fn calling(tool_choice: ToolChoice) -> GenerationOptions {
    GenerationOptions { tool_choice, ..GenerationOptions::default() }
}

fn named(name: &str) -> GenerationOptions {
    calling(ToolChoice::Named { name: name.into() })
}

fn schema(strict: bool, schema: Value) -> GenerationOptions {
    let response_format = ResponseFormat::JsonSchema { name: "s".into(), schema, strict };
    GenerationOptions { response_format, ..GenerationOptions::default() }
}

#[test]
fn f4_a_tool_choice_is_met_in_an_equal_way_or_refused() {
    let with =
        |options: GenerationOptions, choices| met(options, |server| server.tool_choice = choices);
    assert_eq!(with(named("f"), ToolChoices::Named), "named f, text");
    assert_eq!(with(named("g"), ToolChoices::Required), "required of g alone, text");
    assert_eq!(with(named("f"), ToolChoices::AutoOnly), "refused");
    assert_eq!(with(named("nobody"), ToolChoices::Named), "refused");
    assert_eq!(with(calling(ToolChoice::Required), ToolChoices::Required), "required, text");
    assert_eq!(with(calling(ToolChoice::Required), ToolChoices::AutoOnly), "refused");
    assert_eq!(with(calling(ToolChoice::Auto), ToolChoices::AutoOnly), "auto, text");
    assert_eq!(with(calling(ToolChoice::None), ToolChoices::AutoOnly), "none, text");
}

#[test]
fn f1_no_form_stands_beside_a_required_call_where_it_may_not() {
    let mistral = |server: &mut ServerProfile| server.form_beside_required_call = false;
    let object = ResponseFormat::JsonObject;
    let both =
        GenerationOptions { response_format: object.clone(), ..calling(ToolChoice::Required) };
    assert_eq!(met(both.clone(), mistral), "required, text");
    assert_eq!(met(both, |_| {}), "required, object");
    let free = GenerationOptions { response_format: object, ..GenerationOptions::default() };
    assert_eq!(met(free, mistral), "auto, object");
}

#[test]
fn f4_a_form_is_met_in_an_equal_way_or_refused() {
    let open = || json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let forms = |forms| move |server: &mut ServerProfile| server.answer_forms = forms;
    assert_eq!(met(schema(true, open()), forms(AnswerForms::JsonSchema)), "auto, strict schema");
    assert_eq!(met(schema(true, open()), forms(AnswerForms::JsonObject)), "refused");
    assert_eq!(met(schema(false, open()), forms(AnswerForms::JsonObject)), "auto, object");
    assert_eq!(met(schema(false, open()), forms(AnswerForms::Text)), "refused");
    let unknown = |server: &mut ServerProfile| server.strict_schemas = StrictSchemas::Unknown;
    assert_eq!(met(schema(true, open()), unknown), "auto, schema");
}

#[test]
fn f4_strict_schemas_of_the_subset_pass_and_others_are_refused() {
    let subset = |server: &mut ServerProfile| server.strict_schemas = StrictSchemas::ClosedObjects;
    let closed = |properties: Value| {
        let names: Vec<_> = properties.as_object().expect("some").keys().cloned().collect();
        json!({"type": "object", "properties": properties, "required": names,
            "additionalProperties": false})
    };
    let open = json!({"type": "object", "properties": {"b": {}}});
    let passes = closed(json!({"a": {"type": "array", "items": closed(json!({"b": {}}))}}));
    assert_eq!(met(schema(true, passes), subset), "auto, strict schema");
    for below in [
        open.clone(),
        closed(json!({"a": open})),
        closed(json!({"a": {"type": "array", "items": open}})),
        json!({"anyOf": [{"type": "string"}, open]}),
        json!({"type": "string", "$defs": {"x": open}}),
        json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false}),
    ] {
        assert_eq!(met(schema(true, below.clone()), subset), "refused", "{below}");
        assert_eq!(met(schema(false, below.clone()), subset), "auto, loose schema", "{below}");
    }
}

#[test]
fn stop_texts_are_refused_where_they_are_unknown() {
    let stop = || GenerationOptions { stop: vec!["end".into()], ..GenerationOptions::default() };
    assert_eq!(met(stop(), |server| server.stop_texts = false), "refused");
    assert_eq!(met(stop(), |_| {}), "auto, text");
}

//! What each option looks like, and what is refused.

use runtime_ports::{GenerationOptions, ResponseFormat, ToolChoice};
use serde_json::{Map, Value, json};

use super::Asked;
use crate::{family::ModelFamily, standing::Standing};

fn unset() -> GenerationOptions {
    GenerationOptions::default()
}

fn asked<'a>(model: &str, options: &'a GenerationOptions) -> Asked<'a> {
    Asked {
        options,
        family: ModelFamily::of(model),
        limit: None,
        has_tools: true,
        one_call_at_a_time: false,
        standing: &Standing::NONE,
    }
}

fn shown(asked: &Asked<'_>) -> Value {
    match asked.fields() {
        Ok(fields) => fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<Map<_, _>>()
            .into(),
        Err(problem) => problem.into(),
    }
}

fn check(model: &str, options: &GenerationOptions, expected: Value) {
    assert_eq!(shown(&asked(model, options)), expected, "{model} {options:?}");
}

const MODEL: &str = "claude-sonnet-4-5";

#[test]
fn nothing_is_sent_unasked_but_the_limit_that_the_api_insists_on() {
    check(MODEL, &unset(), json!({"max_tokens": 4096}));
    let options = unset();
    let limited = Asked { limit: Some(77), ..asked(MODEL, &options) };
    assert_eq!(shown(&limited), json!({"max_tokens": 77}));
}

#[test]
fn temperature_and_stop_texts() {
    let with = |value| GenerationOptions { temperature: Some(value), ..unset() };
    check(MODEL, &with(0.5), json!({"max_tokens": 4096, "temperature": 0.5}));
    check("local", &with(1.5), json!({"max_tokens": 4096, "temperature": 1.5}));
    let range = json!("this model takes temperatures from 0 to 1");
    check(MODEL, &with(1.5), range);
    let finite = json!("the temperature must be a finite number from 0 on");
    check(MODEL, &with(f64::NAN), finite.clone());
    check("local", &with(-0.1), finite);
    let one = json!("this model takes no temperature but 1; leave it out");
    check("claude-opus-4-7", &with(0.5), one);
    check("claude-opus-4-7", &with(1.0), json!({"max_tokens": 4096, "temperature": 1.0}));
    let stop = |text: &str| GenerationOptions { stop: vec![text.into()], ..unset() };
    check(MODEL, &stop("end"), json!({"max_tokens": 4096, "stop_sequences": ["end"]}));
    check(MODEL, &stop("\n"), json!("a stop text must hold more than white space"));
    check("local", &stop("\n"), json!({"max_tokens": 4096, "stop_sequences": ["\n"]}));
}

#[test]
fn tool_choices() {
    let choosing = |tool_choice| GenerationOptions { tool_choice, ..unset() };
    let with = |choice: Value| json!({"max_tokens": 4096, "tool_choice": choice});
    check(MODEL, &choosing(ToolChoice::None), with(json!({"type": "none"})));
    check(MODEL, &choosing(ToolChoice::Required), with(json!({"type": "any"})));
    let named = choosing(ToolChoice::Named { name: "f".into() });
    check(MODEL, &named, with(json!({"type": "tool", "name": "f"})));
    let one = |options: GenerationOptions| {
        shown(&Asked { one_call_at_a_time: true, ..asked(MODEL, &options) })
    };
    let auto = with(json!({"type": "auto", "disable_parallel_tool_use": true}));
    assert_eq!(one(unset()), auto);
    let any = with(json!({"type": "any", "disable_parallel_tool_use": true}));
    assert_eq!(one(choosing(ToolChoice::Required)), any);
    assert_eq!(one(choosing(ToolChoice::None)), with(json!({"type": "none"})));
    let without =
        |options: GenerationOptions| shown(&Asked { has_tools: false, ..asked(MODEL, &options) });
    assert_eq!(without(choosing(ToolChoice::None)), json!({"max_tokens": 4096}));
    assert_eq!(without(named.clone()), json!("a required tool call needs tools"));
    let never = json!("this model cannot be made to call a tool; leave the tool choice to it");
    check("claude-opus-5-5", &named, never);
}

fn effort(effort: &str) -> GenerationOptions {
    GenerationOptions { reasoning_effort: Some(effort.into()), ..unset() }
}

#[test]
fn each_generation_reasons_in_its_own_way() {
    let budget = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens});
    check(MODEL, &effort("low"), json!({"max_tokens": 6144, "thinking": budget(2048)}));
    check(
        "claude-3-7-sonnet-20250219",
        &effort("medium"),
        json!({"max_tokens": 12288, "thinking": budget(8192)}),
    );
    let both = json!({"max_tokens": 20480, "thinking": budget(16384), "output_config": {"effort": "high"}});
    check("claude-opus-4-5-20251101", &effort("high"), both);
    let adaptive = |effort: &str| json!({"max_tokens": 16384, "thinking": {"type": "adaptive"}, "output_config": {"effort": effort}});
    check("claude-opus-4-6", &effort("max"), adaptive("max"));
    check("claude-sonnet-4-6", &effort("low"), adaptive("low"));
    check("claude-opus-4-8", &effort("xhigh"), adaptive("xhigh"));
    check("claude-new-9", &effort("xhigh"), adaptive("xhigh"));
    check("local", &effort("low"), json!({"max_tokens": 6144, "thinking": budget(2048)}));
    let never = json!("this model does not reason; leave the reasoning effort out");
    check("claude-3-5-haiku-20241022", &effort("low"), never);
    let unknown = json!("this model does not know that reasoning effort; try low, medium or high");
    for (model, name) in [(MODEL, "minimal"), (MODEL, "max"), ("claude-sonnet-4-6", "max")] {
        check(model, &effort(name), unknown.clone());
    }
}

#[test]
fn a_budget_fits_the_limit() {
    let options = effort("high");
    let limited = |limit| shown(&Asked { limit: Some(limit), ..asked(MODEL, &options) });
    let thinking = |limit: u64, budget: u64| json!({"max_tokens": limit, "thinking": {"type": "enabled", "budget_tokens": budget}});
    assert_eq!(limited(64_000), thinking(64_000, 16_384));
    assert_eq!(limited(8_000), thinking(8_000, 4_000));
    assert_eq!(limited(1_025), thinking(1_025, 1_024));
    let small = "thinking needs more than 1,024 output tokens; raise the output limit";
    assert_eq!(limited(1_024), json!(small));
}

#[test]
fn what_excludes_each_other_is_refused_or_said_otherwise() {
    let forced = |name| GenerationOptions { tool_choice: ToolChoice::Required, ..effort(name) };
    let refused = json!(
        "this model cannot think before a forced tool call; leave the reasoning effort or the tool \
         choice out"
    );
    check(MODEL, &forced("low"), refused);
    let effort_alone = json!({"max_tokens": 4096, "tool_choice": {"type": "any"}, "output_config": {"effort": "low"}});
    check("claude-opus-4-6", &forced("low"), effort_alone);
    let warm = |value| GenerationOptions { temperature: Some(value), ..effort("low") };
    check(MODEL, &warm(0.2), json!("a model that thinks takes no temperature but 1; leave it out"));
    let one = json!({"max_tokens": 6144, "temperature": 1.0, "thinking": {"type": "enabled", "budget_tokens": 2048}});
    check(MODEL, &warm(1.0), one);
}

#[test]
fn a_schema_goes_along_with_its_name() {
    let form = |response_format| GenerationOptions { response_format, ..unset() };
    let schema =
        |schema: Value| ResponseFormat::JsonSchema { name: "city".into(), schema, strict: false };
    let with = |schema: Value| json!({"max_tokens": 4096, "output_config": {"format": {"type": "json_schema", "schema": schema}}});
    let plain = json!({"type": "object", "properties": {}});
    let titled = json!({"type": "object", "properties": {}, "title": "city"});
    check(MODEL, &form(schema(plain.clone())), with(titled));
    let own = json!({"type": "object", "title": "mine"});
    check(MODEL, &form(schema(own.clone())), with(own));
    let cannot = json!("this model cannot be held to a json schema; ask for text");
    check("claude-sonnet-4-20250514", &form(schema(plain)), cannot);
    let loose = json!("the messages api has no json mode without a schema; give a json schema");
    check(MODEL, &form(ResponseFormat::JsonObject), loose);
}

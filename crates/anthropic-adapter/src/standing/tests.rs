//! What a session asks each time, and of whom it can.

use runtime_ports::{GenerationOptions, ToolChoice};
use serde_json::{Map, Value, json};

use super::{Standing, ThinkingDisplay};
use crate::{family::ModelFamily, options::Asked};

fn shown(model: &str, standing: &Standing, options: &GenerationOptions) -> Value {
    let asked = Asked {
        options,
        family: ModelFamily::of(model),
        limit: Some(9_000),
        has_tools: true,
        one_call_at_a_time: false,
        standing,
    };
    match asked.fields() {
        Ok(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
            let mut fields: Map<String, Value> = fields.collect();
            fields.remove("max_tokens");
            fields.into()
        }
        Err(problem) => problem.into(),
    }
}

fn effort(effort: &str) -> GenerationOptions {
    GenerationOptions { reasoning_effort: Some(effort.into()), ..GenerationOptions::default() }
}

fn unset() -> GenerationOptions {
    GenerationOptions::default()
}

fn forced() -> GenerationOptions {
    GenerationOptions { tool_choice: ToolChoice::Required, ..unset() }
}

const SHOWN: Standing = Standing { display: Some(ThinkingDisplay::Summarized), ..Standing::NONE };
const HIDDEN: Standing = Standing { display: Some(ThinkingDisplay::Omitted), ..Standing::NONE };

#[test]
fn thoughts_are_shown_where_a_model_thinks() {
    let adaptive = |display: &str| json!({"type": "adaptive", "display": display});
    let low = json!({"effort": "low"});
    let both = |display: &str| json!({"thinking": adaptive(display), "output_config": low});
    for model in ["claude-opus-4-6", "claude-opus-4-8", "claude-sonnet-5", "claude-opus-5-5"] {
        assert_eq!(shown(model, &SHOWN, &effort("low")), both("summarized"), "{model}");
        assert_eq!(shown(model, &HIDDEN, &effort("low")), both("omitted"), "{model}");
        let plain = json!({"thinking": {"type": "adaptive"}, "output_config": low});
        assert_eq!(shown(model, &Standing::NONE, &effort("low")), plain, "{model}");
    }
    for model in ["claude-sonnet-5", "claude-opus-5", "claude-opus-5-5", "claude-fable-5"] {
        let unasked = json!({"thinking": adaptive("summarized")});
        assert_eq!(shown(model, &SHOWN, &unset()), unasked, "{model} thinks unasked");
    }
    for model in ["claude-opus-4-8", "claude-haiku-4-5", "claude-3-5-haiku-20241022", "local"] {
        assert_eq!(shown(model, &SHOWN, &unset()), json!({}), "{model} thinks when it is asked");
    }
    let budget = json!({"type": "enabled", "budget_tokens": 2048, "display": "summarized"});
    for model in ["claude-haiku-4-5", "local"] {
        assert_eq!(shown(model, &SHOWN, &effort("low")), json!({ "thinking": budget }), "{model}");
    }
}

#[test]
fn an_effort_of_none_is_no_thinking() {
    let disabled = json!({"thinking": {"type": "disabled"}});
    for model in ["claude-sonnet-5", "claude-opus-5", "kimi-k3", "claude-something-9"] {
        assert_eq!(shown(model, &SHOWN, &effort("none")), disabled, "{model}");
    }
    for model in ["claude-opus-4-8", "claude-haiku-4-5", "claude-3-5-haiku-20241022"] {
        assert_eq!(shown(model, &SHOWN, &effort("none")), json!({}), "{model} is silent anyway");
    }
    let always = json!("this model always thinks; choose another effort than none");
    for model in ["claude-opus-5-5", "claude-fable-5", "claude-mythos-5"] {
        assert_eq!(shown(model, &SHOWN, &effort("none")), always, "{model}");
    }
}

#[test]
fn a_forced_call_is_made_without_thinking() {
    let any = json!({"type": "any"});
    let told = json!({"thinking": {"type": "disabled"}, "tool_choice": any});
    assert_eq!(shown("claude-sonnet-5", &SHOWN, &forced()), told, "thinks unasked");
    assert_eq!(shown("claude-opus-4-8", &SHOWN, &forced()), json!({"tool_choice": any}));
    let with =
        |effort: &str| GenerationOptions { reasoning_effort: Some(effort.into()), ..forced() };
    let low = json!({"thinking": {"type": "disabled"}, "tool_choice": any,
        "output_config": {"effort": "low"}});
    assert_eq!(shown("claude-opus-5", &SHOWN, &with("low")), low);
    let deep = json!({"tool_choice": any, "output_config": {"effort": "max"}});
    assert_eq!(shown("claude-opus-5", &SHOWN, &with("max")), deep, "cannot be told not to think");
}

#[test]
fn sampling_is_asked_of_those_alone_that_take_it() {
    let top_p = |value| Standing { top_p: Some(value), ..Standing::NONE };
    let top_k = Standing { top_k: Some(40), ..Standing::NONE };
    assert_eq!(shown("claude-haiku-4-5", &top_p(0.5), &unset()), json!({"top_p": 0.5}));
    assert_eq!(shown("claude-haiku-4-5", &top_k, &unset()), json!({"top_k": 40}));
    assert_eq!(shown("local", &top_k, &effort("low"))["top_k"], 40);
    let range = json!("top_p must be a number from 0 to 1");
    for value in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert_eq!(shown("local", &top_p(value), &unset()), range, "{value}");
    }
    let neither = json!("this model takes neither top_p nor top_k; leave them out of the session");
    assert_eq!(shown("claude-opus-4-8", &top_p(0.9), &unset()), neither);
    assert_eq!(shown("claude-sonnet-5", &top_k, &unset()), neither);
    assert_eq!(shown("claude-sonnet-5", &top_p(1.0), &unset()), json!({"top_p": 1.0}));
    let high = json!("a model that thinks takes a top_p from 0.95 to 1");
    assert_eq!(shown("claude-haiku-4-5", &top_p(0.5), &effort("low")), high);
    let none = json!("a model that thinks takes no top_k; leave it out of the session");
    assert_eq!(shown("claude-haiku-4-5", &top_k, &effort("low")), none);
}

#[test]
fn tier_and_user_go_along() {
    let standing = Standing {
        service_tier: Some("standard_only".into()),
        user_id: Some("u-1".into()),
        ..Standing::NONE
    };
    let expected = json!({"service_tier": "standard_only", "metadata": {"user_id": "u-1"}});
    assert_eq!(shown("claude-haiku-4-5", &standing, &unset()), expected);
}

//! What each hostile Chat Completions stream must come to, however its bytes are cut.

mod bytes;
mod calls;
mod counts;
mod doubt;
mod ends;
mod frames;
mod half;
mod shapes;
mod thoughts;

use model_wire::minted;
use serde_json::Value;

use crate::{
    profile::Api,
    rehearsal::{check, events},
};

/// The streams of the shared set, and what each must come to.
const SET: &[(&str, &str)] = &[
    ("00 control text+usage", r#"Stop: "hi" [in 10 out 2 cached 4]"#),
    ("01 tool call no index", r#"ToolCalls: f#c1{"a":1}"#),
    ("03 second head index0, tail index1", r#"ToolCalls: f#a{"p":1} g#b{"p":2}"#),
    ("05 args before name (SGLang)", r#"ToolCalls: f#a{"p":1}"#),
    ("07 empty args", "ToolCalls: f#a{}"),
    ("09 truncated args finish tool_calls (vLLM#53269)", "Length: "),
    ("11 finish_reason empty string each chunk", r#"Stop: "hi""#),
    ("13 EOF, no finish, no DONE", "failed Protocol STREAM_TRUNCATED unknown"),
    ("15 unknown finish eos_token", r#"Stop: "hi""#),
    ("17 error frame populated choices (OpenRouter)", "failed Protocol PROVIDER_ERROR unknown"),
    ("19 azure prompt_filter first", r#"Stop: "hi""#),
    ("21 choices null", r#"Stop: "hi""#),
    ("23 created missing", r#"Stop: "hi""#),
    ("25 cumulative usage on every chunk (Gemini)", r#"Stop: "ab" [in 10 out 2]"#),
    ("27 no usage at all", r#"Stop: "hi""#),
    ("29 reasoning_content", r#"Stop: (think | {"reasoning_content":"think"}) "hi""#),
    (
        "31 thought_signature extra_content",
        r#"ToolCalls: ( | {"tool_call_extra_content":{"google":{"thought_signature":"SIG"}}}) f#a{}"#,
    ),
    ("33 placeholder {} then real args", r#"ToolCalls: f#a{"p":1}"#),
    ("35 service_tier on_demand", r#"Stop: "hi""#),
];

#[test]
fn every_stream_of_the_set_has_the_right_outcome() {
    let set = include_str!("../../../tests/fixtures/chat-streams.json");
    let set: Vec<Value> = serde_json::from_str(set).expect("the set is json");
    assert_eq!(set.len(), SET.len());
    for (stream, (name, expected)) in set.iter().zip(SET) {
        assert_eq!(stream["name"], *name);
        let data = stream["data"].as_array().expect("a list of payloads");
        let data: Vec<&str> = data.iter().filter_map(Value::as_str).collect();
        check(Api::Chat, name, &events(&data), expected);
    }
}

/// A frame with one delta.
fn delta(delta: &str) -> String {
    format!(r#"{{"id":"x","choices":[{{"index":0,"delta":{delta}}}]}}"#)
}

/// A frame with one call fragment.
fn call(fragment: &str) -> String {
    delta(&format!(r#"{{"tool_calls":[{fragment}]}}"#))
}

/// A frame that only finishes.
fn finish(reason: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
}

/// A stream of these frames, finished for `reason`, then `[DONE]`. `<0>` in the expected line is
/// the id that is made up for the first call.
fn finished(name: &str, frames: &[String], reason: &str, expected: &str) {
    let mut data = frames.to_vec();
    data.extend([finish(reason), "[DONE]".to_owned()]);
    let made_up = |line: String, at: usize| line.replace(&format!("<{at}>"), &minted("seed", at));
    let expected = (0..3).fold(expected.to_owned(), made_up);
    check(Api::Chat, name, &events(&data), &expected);
}

/// What it is, the payloads, and what they come to.
type Row = (&'static str, &'static [&'static str], &'static str);

fn table(rows: &[(&str, &[&str], &str)]) {
    for (name, data, expected) in rows {
        check(Api::Chat, name, &events(data), expected);
    }
}

const HI: &str = r#"{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const CALLS: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
const DONE: &str = "[DONE]";
const TRUNCATED: &str = "failed Protocol STREAM_TRUNCATED unknown";
const FAILED: &str = "failed Unavailable PROVIDER_ERROR unknown";
/// The same after parts of the answer.
const AMID: &str = "failed Protocol PROVIDER_ERROR unknown";

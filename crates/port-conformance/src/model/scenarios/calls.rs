//! What must arrive of tool calls, and when none may.
//!
//! Knows nothing about what a tool does.

use std::collections::BTreeSet;

use runtime_ports::{ModelContent, ModelFinish, ModelResponse};
use serde_json::{Value, json};

use crate::{
    Broken, Proof,
    claim::{claim, equal, success},
    model::{
        Answer, ModelHarness, Piece, ProviderScript, RecordedDeltas,
        request::{calls_of, text_of},
    },
};

async fn answered(harness: &dyn ModelHarness, answer: Answer) -> Result<ModelResponse, Broken> {
    let staged = harness.stage(ProviderScript::answer(answer)).await?;
    success("the call", staged.ask("question").await)
}

fn three_calls() -> Vec<Piece> {
    vec![
        Piece::call("call-c", "write", r#"{"path":"x","deep":{"list":[1,2,null]}}"#),
        Piece::call("call-a", "read", r#"{"path":"y"}"#),
        Piece::call("call-b", "read", r#"{"path":"z"}"#),
    ]
}

pub(crate) async fn calls_keep_their_order(harness: &dyn ModelHarness) -> Proof {
    let response = answered(harness, Answer::of(three_calls())).await?;
    equal("the finish", &response.finish, &ModelFinish::ToolCalls)?;
    let (x, y, z) = (
        json!({ "path": "x", "deep": { "list": [1, 2, null] } }),
        json!({ "path": "y" }),
        json!({ "path": "z" }),
    );
    let calls: Vec<_> = calls_of(&response).into_iter().map(|call| (call.1, call.2)).collect();
    equal("the calls", &calls, &vec![("write", &x), ("read", &y), ("read", &z)])
}

pub(crate) async fn call_ids_are_kept(harness: &dyn ModelHarness) -> Proof {
    let response = answered(harness, Answer::of(three_calls())).await?;
    let ids: Vec<_> = calls_of(&response).into_iter().map(|call| call.0).collect();
    equal("the identities", &ids, &vec!["call-c", "call-a", "call-b"])
}

pub(crate) async fn missing_call_ids_are_made_up(harness: &dyn ModelHarness) -> Proof {
    let anonymous = |path: &str| Piece::Call {
        id: None,
        name: "read".into(),
        arguments: json!({ "path": path }).to_string(),
    };
    let response = answered(harness, Answer::of(vec![anonymous("a"), anonymous("b")])).await?;
    let calls = calls_of(&response);
    equal("the number of calls", &calls.len(), &2)?;
    claim(calls.iter().all(|call| !call.0.is_empty()), || "a call has an empty identity".into())?;
    let distinct: BTreeSet<_> = calls.iter().map(|call| call.0).collect();
    equal("the number of distinct identities", &distinct.len(), &2)
}

async fn arguments_arrive(harness: &dyn ModelHarness, raw: &str, expected: Value) -> Proof {
    let call = Answer::of(vec![Piece::call("call-1", "read", raw)]);
    let response = answered(harness, call).await?;
    equal("the calls", &calls_of(&response), &vec![("call-1", "read", &expected)])
}

pub(crate) async fn empty_arguments_are_an_object(harness: &dyn ModelHarness) -> Proof {
    arguments_arrive(harness, "", json!({})).await?;
    arguments_arrive(harness, " \n", json!({})).await
}

pub(crate) async fn unparsable_arguments_stay_text(harness: &dyn ModelHarness) -> Proof {
    for raw in [r#"{path: "a"}"#, r#"{"path":"a"} and so on"#] {
        arguments_arrive(harness, raw, Value::String(raw.into())).await?;
    }
    Ok(())
}

pub(crate) async fn string_arguments_keep_their_quotes(harness: &dyn ModelHarness) -> Proof {
    let raw = r#""{\"path\":\"a\"}""#;
    arguments_arrive(harness, raw, Value::String(raw.into())).await
}

fn carries_no_call(response: &ModelResponse) -> Proof {
    equal("the finish", &response.finish, &ModelFinish::Length)?;
    equal("the number of calls of a cut answer", &calls_of(response).len(), &0)
}

pub(crate) async fn cut_arguments_make_a_cut_answer(harness: &dyn ModelHarness) -> Proof {
    for raw in [r#"{"path":"a"#, r#"{"path":"#, "{"] {
        let whole = Piece::call("call-1", "read", r#"{"path":"whole"}"#);
        let pieces = vec![Piece::text("I begin"), whole, Piece::call("call-2", "write", raw)];
        let response = answered(harness, Answer::of(pieces)).await?;
        carries_no_call(&response)?;
        equal("the text", text_of(&response).as_str(), "I begin")?;
    }
    Ok(())
}

pub(crate) async fn text_before_calls_is_kept(harness: &dyn ModelHarness) -> Proof {
    let call = Piece::call("call-1", "read", r#"{"path":"a"}"#);
    let response = answered(harness, Answer::of(vec![Piece::text("I look."), call])).await?;
    match &response.output[..] {
        [ModelContent::Text { text }, ModelContent::ToolUse { .. }] => {
            equal("the text", text.as_str(), "I look.")
        }
        other => Err(Broken::Claim(format!("the output is {other:?}, expected text, then a call"))),
    }
}

pub(crate) async fn calls_win_over_stop(harness: &dyn ModelHarness) -> Proof {
    let answer = Answer::of(three_calls()).stopped_by(ModelFinish::Stop);
    let response = answered(harness, answer).await?;
    equal("the finish", &response.finish, &ModelFinish::ToolCalls)?;
    equal("the number of calls", &calls_of(&response).len(), &3)
}

pub(crate) async fn call_deltas_add_up(harness: &dyn ModelHarness) -> Proof {
    let staged = harness.stage(ProviderScript::answer(Answer::of(three_calls()))).await?;
    let deltas = RecordedDeltas::default();
    let response = success("the call", staged.ask_watching(&deltas).await)?;
    let begun = deltas.calls();
    equal("the number of calls in the deltas", &begun.len(), &3)?;
    for (call, (position, id, name)) in calls_of(&response).into_iter().zip(&begun) {
        equal("a call in the deltas", &(id.as_str(), name.as_str()), &(call.0, call.1))?;
        let arguments: Result<Value, _> = serde_json::from_str(&deltas.arguments(*position));
        let arguments = success("parsing the arguments of the deltas", arguments)?;
        equal("the arguments of the deltas", &arguments, call.2)?;
    }
    let positions: Vec<_> = begun.iter().map(|call| call.0).collect();
    equal("the positions of the calls", &positions, &vec![0, 1, 2])
}

pub(crate) async fn a_cut_answer_carries_no_call(harness: &dyn ModelHarness) -> Proof {
    let pieces = vec![Piece::text("I begin"), Piece::call("call-1", "read", r#"{"path":"a"}"#)];
    let answer = Answer::of(pieces).stopped_by(ModelFinish::Length);
    let response = answered(harness, answer).await?;
    carries_no_call(&response)?;
    equal("the text", text_of(&response).as_str(), "I begin")
}

pub(crate) async fn a_filtered_answer_says_so(harness: &dyn ModelHarness) -> Proof {
    let answer = Answer::text("I may").stopped_by(ModelFinish::ContentFilter);
    let response = answered(harness, answer).await?;
    equal("the finish", &response.finish, &ModelFinish::ContentFilter)
}

pub(crate) async fn an_odd_finish_is_other(harness: &dyn ModelHarness) -> Proof {
    let answer = Answer::text("so it").stopped_by(ModelFinish::Other);
    let response = answered(harness, answer).await?;
    equal("the finish", &response.finish, &ModelFinish::Other)
}

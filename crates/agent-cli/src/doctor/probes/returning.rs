//! Decides whether calls and their results can go back to a server.
//!
//! Knows the forms of ids. Refuses to know how calls came.

use openai_adapter::{ReasoningReplay, ToolCallIds};
use serde_json::{Value, json};

use super::{FOREIGN, RETURN, calling, replaying};
use crate::{
    doctor::{
        ask::{Ask, Turn},
        finding::Verdict,
        patient::Patient,
        seen::Seen,
    },
    endpoint::Api,
};

/// As another provider writes them.
const LONG_ID: &str = "call_Kx0123456789abcdefghijkl";
/// As the strictest server takes them.
const SHORT_ID: &str = "a1B2c3D4e";

/// Calls with their results, and room for an answer.
fn conversation(calls: Vec<(String, String, String)>) -> Ask {
    let said = Turn::Calls(calls.clone());
    after(said, &calls)
}

/// What the model said, its results, and room for an answer.
fn after(said: Turn, calls: &[(String, String, String)]) -> Ask {
    let mut turns = vec![Turn::User(calling::TASK.to_owned()), said];
    let result =
        |(id, ..): &(String, String, String)| Turn::Result(id.clone(), "18 degrees and sunny");
    turns.extend(calls.iter().map(result));
    Ask::of(turns).tools(calling::TOOLS)
}

fn invented(id: &str) -> Vec<(String, String, String)> {
    vec![(id.to_owned(), "get_weather".to_owned(), r#"{"city":"Paris"}"#.to_owned())]
}

/// The calls that came, or one that could have come, go back with results.
pub(super) async fn returned(patient: &mut Patient, calls: Option<&Seen>) {
    if !patient.tries(RETURN) {
        return;
    }
    let ask = match calls {
        Some(seen) => {
            let all = seen.calls().into_iter();
            let all: Vec<(String, String, String)> =
                all.map(|call| (call.id, call.name, call.arguments.to_string())).collect();
            after(as_it_came(patient.api, seen).unwrap_or(Turn::Calls(all.clone())), &all)
        }
        None => {
            let invented = invented(SHORT_ID);
            after(replaying::said(patient, invented.clone()), &invented)
        }
    };
    let ask = ask.manner(calling::manner(patient));
    let seen = patient.ask(&ask).await;
    match (seen.trouble(), seen.is_good()) {
        (Some(trouble), _) => patient.pass_over(RETURN, trouble),
        (None, true) => patient.find(RETURN, Verdict::Works, "an answer came"),
        (None, false) if seen.refuses(&["reasoning_content", "reasoning"]) => {
            with_reasoning(patient, ask).await;
        }
        (None, false) => patient.find(RETURN, Verdict::Broken, seen.why()),
    }
}

/// What came, with its signatures, in the API that insists on them. Calls without ids get none here:
/// their results are told apart by their places.
fn as_it_came(api: Api, seen: &Seen) -> Option<Turn> {
    if api != Api::Gemini {
        return None;
    }
    let lists = seen.all("/candidates/0/content/parts").filter_map(Value::as_array);
    let parts: Vec<Value> = lists.flatten().cloned().collect();
    Some(Turn::Said(json!({ "role": "model", "parts": parts })))
}

/// The server wants the reasoning back that led to a call.
async fn with_reasoning(patient: &mut Patient, ask: Ask) {
    let body = ask.body(&patient.model, patient.dialect());
    let mut messages = body["messages"].clone();
    for message in messages.as_array_mut().into_iter().flatten() {
        if message["role"] == "assistant" {
            message["reasoning_content"] = json!("");
        }
    }
    let seen = patient.ask(&ask.with("messages", messages)).await;
    if !seen.is_good() {
        return patient.find(RETURN, Verdict::Broken, seen.why());
    }
    patient.profile.reasoning_replay = ReasoningReplay::WithEveryCall;
    patient.find(RETURN, Verdict::Handled, "only with the reasoning that led to the calls");
}

/// Ids that this server would not have given.
pub(super) async fn foreign(patient: &mut Patient) {
    if !patient.tries(FOREIGN) {
        return;
    }
    let manner = calling::manner(patient);
    let reasoning = patient.profile.reasoning_replay == ReasoningReplay::WithEveryCall;
    if reasoning {
        return patient.pass_over(FOREIGN, "reasoning would have to go back with them");
    }
    let seen = patient.ask(&conversation(invented(LONG_ID)).manner(manner)).await;
    match (seen.trouble(), seen.is_good()) {
        (Some(trouble), _) => return patient.pass_over(FOREIGN, trouble),
        (None, true) => return patient.find(FOREIGN, Verdict::Works, "taken"),
        (None, false) => {}
    }
    if patient.api == Api::Gemini {
        return unsigned(patient, &seen).await;
    }
    let short = patient.ask(&conversation(invented(SHORT_ID)).manner(manner)).await;
    if !short.is_good() {
        return patient.find(FOREIGN, Verdict::Broken, seen.why());
    }
    patient.profile.tool_call_ids = ToolCallIds::NineAlphanumerics;
    patient.find(FOREIGN, Verdict::Handled, "refused, but for nine letters and digits");
}

/// Calls of others have no signature of this one.
async fn unsigned(patient: &mut Patient, refused: &Seen) {
    let calls = invented(LONG_ID);
    let ask = after(replaying::said(patient, calls.clone()), &calls);
    let seen = patient.ask(&ask.manner(calling::manner(patient))).await;
    match seen.is_good() {
        true => {
            let came = "refused without a signature; taken with the stand-in for one";
            patient.find(FOREIGN, Verdict::Handled, came);
        }
        false => patient.find(FOREIGN, Verdict::Broken, refused.why()),
    }
}

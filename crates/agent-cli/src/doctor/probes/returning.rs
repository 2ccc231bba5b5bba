//! Decides whether calls and their results can go back to a server.
//!
//! Knows the forms of ids. Refuses to know how calls came.

use openai_adapter::{ReasoningReplay, ToolCallIds};
use serde_json::json;

use super::{FOREIGN, RETURN, calling};
use crate::doctor::{
    ask::{Ask, Turn},
    finding::Verdict,
    patient::Patient,
    seen::Seen,
};

/// As another provider writes them.
const LONG_ID: &str = "call_Kx0123456789abcdefghijkl";
/// As the strictest server takes them.
const SHORT_ID: &str = "a1B2c3D4e";

/// Calls with their results, and room for an answer.
fn conversation(calls: Vec<(String, String, String)>) -> Ask {
    let mut turns = vec![Turn::User(calling::TASK.to_owned())];
    let results: Vec<Turn> =
        calls.iter().map(|(id, ..)| Turn::Result(id.clone(), "18 degrees and sunny")).collect();
    turns.push(Turn::Calls(calls));
    turns.extend(results);
    Ask::of(turns).tools(calling::TOOLS)
}

fn invented(id: &str) -> Vec<(String, String, String)> {
    vec![(id.to_owned(), "get_weather".to_owned(), r#"{"city":"Paris"}"#.to_owned())]
}

/// The calls that came, or one that could have come, go back with results.
pub(super) async fn returned(patient: &mut Patient, calls: Option<&Seen>) {
    if !patient.goes_on() {
        return;
    }
    let calls = match calls {
        Some(seen) => {
            let all = seen.calls().into_iter();
            all.map(|call| (call.id, call.name, call.arguments.to_string())).collect()
        }
        None => invented(SHORT_ID),
    };
    let ask = conversation(calls).manner(calling::manner(patient));
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
    if !patient.goes_on() {
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
    let short = patient.ask(&conversation(invented(SHORT_ID)).manner(manner)).await;
    if !short.is_good() {
        return patient.find(FOREIGN, Verdict::Broken, seen.why());
    }
    patient.profile.tool_call_ids = ToolCallIds::NineAlphanumerics;
    patient.find(FOREIGN, Verdict::Handled, "refused, but for nine letters and digits");
}

//! Decides whether calls and results can go back in other forms than the plainest.
//!
//! Knows what adapters may send of a conversation. Refuses to know whether the plainest form is taken.

use openai_adapter::{ReasoningReplay, ResultImages};
use serde_json::json;

use super::{ORDER, PICTURES, STATUS, calling};
use crate::{
    doctor::{
        ask::{Ask, Turn},
        finding::Verdict,
        patient::Patient,
    },
    endpoint::Api,
};

/// As the strictest server takes them.
const IDS: [&str; 2] = ["a1B2c3D4e", "f5G6h7J8k"];
/// What Gemini takes in the place of a signature that it did not give.
pub(super) const STAND_IN: &str = "skip_thought_signature_validator";

/// Two calls, whose results stand in the other order.
pub(super) async fn order(patient: &mut Patient) {
    if !patient.tries(ORDER) || wants_reasoning(patient, ORDER) {
        return;
    }
    let [first, second] = IDS;
    let call = |id: &str, city: &str| {
        (id.to_owned(), "get_weather".to_owned(), json!({ "city": city }).to_string())
    };
    let calls = vec![call(first, "Paris"), call(second, "Rome")];
    let result = |id: &str, text: &'static str| Turn::Result(id.to_owned(), text);
    let turns = vec![
        Turn::User(calling::TASK.to_owned()),
        said(patient, calls),
        result(second, "24 degrees"),
        result(first, "18 degrees"),
    ];
    let ask = Ask::of(turns).tools(calling::TOOLS).manner(calling::manner(patient));
    let seen = patient.ask(&ask).await;
    match (seen.trouble(), seen.is_good()) {
        (Some(trouble), _) => patient.pass_over(ORDER, trouble),
        (None, true) => patient.find(ORDER, Verdict::Works, "taken"),
        // The runtime keeps results in the order of their calls.
        (None, false) => {
            patient.find(ORDER, Verdict::Handled, format!("{}; sent in order", seen.why()));
        }
    }
}

/// What the model is said to have called; with the stand-in for signatures where they are wanted.
pub(super) fn said(patient: &Patient, calls: Vec<(String, String, String)>) -> Turn {
    if patient.api != Api::Gemini {
        return Turn::Calls(calls);
    }
    let mut parts: Vec<serde_json::Value> = calls
        .into_iter()
        .map(|(id, name, arguments)| {
            let args: serde_json::Value =
                serde_json::from_str(&arguments).unwrap_or_else(|_| json!({}));
            json!({ "functionCall": { "id": id, "name": name, "args": args } })
        })
        .collect();
    if let Some(first) = parts.first_mut() {
        first["thoughtSignature"] = json!(STAND_IN);
    }
    Turn::Said(json!({ "role": "model", "parts": parts }))
}

fn wants_reasoning(patient: &mut Patient, probe: crate::doctor::finding::Probe) -> bool {
    let wants = patient.profile.reasoning_replay == ReasoningReplay::WithEveryCall;
    if wants {
        patient.pass_over(probe, "reasoning would have to go back with it");
    }
    wants
}

/// A call that goes back with the status that it had.
pub(super) async fn status(patient: &mut Patient) {
    if !patient.tries(STATUS) {
        return;
    }
    let call = json!({
        "type": "function_call", "call_id": IDS[0], "name": "get_weather",
        "arguments": r#"{"city":"Paris"}"#, "status": "completed",
    });
    let turns = vec![
        Turn::User(calling::TASK.to_owned()),
        Turn::Said(call),
        Turn::Result(IDS[0].to_owned(), "18 degrees"),
    ];
    let ask = Ask::of(turns).tools(calling::TOOLS).manner(calling::manner(patient));
    let seen = patient.ask(&ask).await;
    match (seen.trouble(), seen.is_good()) {
        (Some(trouble), _) => patient.pass_over(STATUS, trouble),
        (None, true) => {
            patient.profile.item_status = true;
            patient.find(STATUS, Verdict::Works, "taken");
        }
        (None, false) => {
            patient.profile.item_status = false;
            patient.find(STATUS, Verdict::Handled, "refused, and left out");
        }
    }
}

/// A picture in the result of a call.
pub(super) async fn pictures(patient: &mut Patient) {
    if !patient.tries(PICTURES) || wants_reasoning(patient, PICTURES) {
        return;
    }
    let call = (IDS[0].to_owned(), "ping".to_owned(), "{}".to_owned());
    let turns = vec![
        Turn::User("Call ping. Which colour has the picture that it gives? One word.".to_owned()),
        said(patient, vec![call]),
        Turn::Picture(IDS[0].to_owned(), "a picture of one colour"),
    ];
    let ask = Ask::of(turns).tools(calling::TOOLS).at_most(64).manner(calling::manner(patient));
    let seen = patient.ask(&ask).await;
    let is_seen = seen.words().to_lowercase().contains("red");
    match (seen.trouble(), seen.is_good()) {
        // Servers of models without eyes fail as well as refuse.
        (Some(_), _) if seen.status == 500 => not_within(patient, "the server fails".to_owned()),
        (Some(trouble), _) => patient.pass_over(PICTURES, trouble),
        (None, true) if is_seen => {
            patient.profile.result_images = ResultImages::InTheResult;
            patient.find(PICTURES, Verdict::Works, "seen: it is red");
        }
        (None, true) if patient.has_profile() => {
            patient.profile.result_images = ResultImages::BehindTheResults;
            let came = "taken, and not told as red; they are sent behind the results";
            patient.find(PICTURES, Verdict::Handled, came);
        }
        (None, true) => patient.find(PICTURES, Verdict::Works, "taken, and not told as red"),
        (None, false) => not_within(patient, seen.why()),
    }
}

/// In a message of the user they may be seen nevertheless.
fn not_within(patient: &mut Patient, why: String) {
    if !patient.has_profile() {
        return patient.find(PICTURES, Verdict::Broken, why);
    }
    patient.profile.result_images = ResultImages::BehindTheResults;
    patient.find(PICTURES, Verdict::Handled, format!("{why}; they are sent behind the results"));
}

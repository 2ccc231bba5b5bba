//! Decides what a server of the Responses API keeps between requests.
//!
//! Refuses to know Chat Completions.

use serde_json::{Value, json};

use super::{CONTINUED, ENCRYPTED, calling};
use crate::doctor::{ask::Ask, finding::Verdict, patient::Patient};

const SHORT: u32 = 64;

/// Reasoning that the server gives away encrypted, so that it can go back.
pub(super) async fn encrypted(patient: &mut Patient) {
    if !patient.tries(ENCRYPTED) {
        return;
    }
    let ask = Ask::user("Say hello.").at_most(SHORT).manner(calling::manner(patient));
    let seen = patient.ask(&ask.with("include", json!(["reasoning.encrypted_content"]))).await;
    match (seen.trouble(), seen.is_refused()) {
        (Some(trouble), _) => patient.pass_over(ENCRYPTED, trouble),
        (None, false) => patient.find(ENCRYPTED, Verdict::Works, "can be asked for"),
        (None, true) => {
            patient.profile.encrypted_reasoning = false;
            patient.find(ENCRYPTED, Verdict::Handled, "refused, and not asked for");
        }
    }
}

/// A conversation of which the server has the beginning.
pub(super) async fn continued(patient: &mut Patient) {
    if !patient.tries(CONTINUED) {
        return;
    }
    let manner = calling::manner(patient);
    let first = Ask::user("My name is Ada. Say hello.").at_most(SHORT).manner(manner);
    let first = patient.ask(&first.with("store", json!(true))).await;
    let pointers = ["/response/id", "/id"];
    let id = pointers.iter().find_map(|pointer| first.all(pointer).find_map(Value::as_str));
    let Some(id) = id.filter(|_| first.is_good()).map(str::to_owned) else {
        return patient.pass_over(CONTINUED, "there was no response with an id");
    };
    let next = Ask::user("What is my name?").at_most(SHORT).manner(manner);
    let next = next.with("previous_response_id", json!(id)).with("store", json!(true));
    let seen = patient.ask(&next).await;
    if let Some(trouble) = seen.trouble() {
        return patient.pass_over(CONTINUED, trouble);
    }
    patient.profile.previous_response_id = seen.words().contains("Ada");
    match (seen.is_good(), patient.profile.previous_response_id) {
        (_, true) => patient.find(CONTINUED, Verdict::Works, "the server knows what was said"),
        (true, false) => {
            patient.find(CONTINUED, Verdict::Handled, "taken, and forgotten; all is sent");
        }
        (false, false) => {
            patient.find(CONTINUED, Verdict::Handled, format!("{}; all is sent", seen.why()));
        }
    }
}

//! Decides whether a model can be asked to think, in the APIs where thoughts have fields of their own.
//!
//! Knows those fields. Refuses to know what a thought is worth.

use serde_json::{Value, json};

use super::THINKING;
use crate::{
    doctor::{ask::Ask, finding::Verdict, patient::Patient},
    endpoint::Api,
};

/// Room for thoughts, of which the API wants 1,024 tokens at least, and for an answer.
const ROOM: u32 = 2_048;

/// Thoughts that are asked for.
pub(super) async fn thinking(patient: &mut Patient) {
    if !patient.tries(THINKING) {
        return;
    }
    let ways: [(&str, Value); 2] = match patient.api {
        Api::Gemini => {
            let ways = [json!({ "includeThoughts": true }), json!({ "thinkingBudget": 512 })];
            ways.map(|way| ("generationConfig", json!({ "thinkingConfig": way })))
        }
        _ => [json!({ "type": "enabled", "budget_tokens": 1_024 }), json!({ "type": "adaptive" })]
            .map(|way| ("thinking", way)),
    };
    let manner = super::calling::manner(patient);
    let mut why = String::new();
    for (name, way) in ways {
        let ask = Ask::user("What is 17 times 23?").at_most(ROOM).manner(manner);
        let seen = patient.ask(&ask.with(name, way)).await;
        if let Some(trouble) = seen.trouble() {
            return patient.pass_over(THINKING, trouble);
        }
        if seen.is_good() && seen.has_reasoning() {
            return patient.find(THINKING, Verdict::Works, "thoughts came, in their own blocks");
        }
        if seen.is_good() {
            return patient.find(THINKING, Verdict::Works, "taken; no thoughts came");
        }
        why = seen.why();
    }
    patient.find(THINKING, Verdict::Broken, why);
}

//! Decides which forms of requests and answers a server knows.
//!
//! Knows the optional parts of a request. Refuses to know tools and sizes.

use openai_adapter::{AnswerForms, StrictSchemas, SystemMessages};
use serde_json::{Value, json};

use super::{DEVELOPER, FIELDS, IMAGES, SCHEMA, SYSTEM, calling};
use crate::{
    doctor::{
        ask::{Ask, Turn},
        finding::Verdict,
        patient::Patient,
        seen::Seen,
    },
    endpoint::Api,
};

const SHORT: u32 = 16;

/// System messages beside each other, and one that comes late.
pub(super) async fn system(patient: &mut Patient) {
    if !patient.tries(SYSTEM) {
        return;
    }
    let hello = || Turn::User("Say hello.".to_owned());
    let (first, second) = (Turn::System("Be brief."), Turn::System("Be polite."));
    let manner = calling::manner(patient);
    let two = Ask::of(vec![first.clone(), second.clone(), hello()]).at_most(SHORT).manner(manner);
    let two = patient.ask(&two).await;
    if !patient.has_profile() {
        return one_place(patient, &two);
    }
    let late = Ask::of(vec![first, hello(), second, hello()]).at_most(SHORT).manner(manner);
    let late = patient.ask(&late).await;
    if let Some(trouble) = two.trouble().or_else(|| late.trouble()) {
        return patient.pass_over(SYSTEM, trouble);
    }
    let refused = |seen: &Seen| if seen.is_refused() { "refused" } else { "taken" };
    let came = format!("two at the front {}, a late one {}", refused(&two), refused(&late));
    if two.is_refused() || late.is_refused() {
        patient.profile.system_messages = SystemMessages::OneAtTheFront;
        return patient.find(SYSTEM, Verdict::Handled, came);
    }
    patient.profile.system_messages = SystemMessages::Anywhere;
    patient.find(SYSTEM, Verdict::Works, came);
}

/// Instructions have a place of their own, so that none is late.
fn one_place(patient: &mut Patient, two: &Seen) {
    match (two.trouble(), two.is_refused()) {
        (Some(trouble), _) => patient.pass_over(SYSTEM, trouble),
        (None, true) => patient.find(SYSTEM, Verdict::Broken, two.why()),
        (None, false) => patient.find(SYSTEM, Verdict::Works, "two in their own place taken"),
    }
}

/// The role that newer models know instructions by.
pub(super) async fn developer(patient: &mut Patient) {
    if !patient.tries(DEVELOPER) {
        return;
    }
    let turns = vec![Turn::Developer("Be brief."), Turn::User("Say hello.".to_owned())];
    let ask = Ask::of(turns).at_most(SHORT).manner(calling::manner(patient));
    let seen = patient.ask(&ask).await;
    match (seen.trouble(), seen.is_refused()) {
        (Some(trouble), _) => patient.pass_over(DEVELOPER, trouble),
        (None, true) => patient.find(DEVELOPER, Verdict::Handled, "refused; system is sent"),
        (None, false) => patient.find(DEVELOPER, Verdict::Works, "taken"),
    }
}

/// Fields that some servers do not know.
pub(super) async fn fields(patient: &mut Patient) {
    if !patient.tries(FIELDS) {
        return;
    }
    let manner = calling::manner(patient);
    let plain = || Ask::user("Say hello.").tools(calling::TOOLS).at_most(SHORT).manner(manner);
    if !patient.has_profile() {
        return stops(patient, plain()).await;
    }
    let parallel = patient.ask(&plain().with("parallel_tool_calls", json!(true))).await;
    if let Some(trouble) = parallel.trouble() {
        return patient.pass_over(FIELDS, trouble);
    }
    patient.profile.parallel_tool_calls = !parallel.is_refused();
    let mut refused = Vec::new();
    if parallel.is_refused() {
        refused.push("parallel_tool_calls");
    }
    // The other API has no stop texts.
    if patient.api == Api::Chat {
        let stop = patient.ask(&plain().with("stop", json!(["@@@"]))).await;
        patient.profile.stop_texts = !stop.is_refused();
        if stop.is_refused() {
            refused.push("stop");
        }
    }
    match &refused[..] {
        [] => patient.find(FIELDS, Verdict::Works, "taken"),
        ["parallel_tool_calls"] => {
            patient.find(FIELDS, Verdict::Handled, "parallel_tool_calls is refused, and left out");
        }
        _ => patient.find(FIELDS, Verdict::Broken, format!("refused: {}", refused.join(", "))),
    }
}

/// Stop texts, where nothing else is in doubt.
async fn stops(patient: &mut Patient, plain: Ask) {
    let (name, value) = match patient.api {
        Api::Gemini => ("generationConfig", json!({ "stopSequences": ["@@@"] })),
        _ => ("stop_sequences", json!(["@@@"])),
    };
    let seen = patient.ask(&plain.with(name, value)).await;
    match (seen.trouble(), seen.is_refused()) {
        (Some(trouble), _) => patient.pass_over(FIELDS, trouble),
        (None, true) => patient.find(FIELDS, Verdict::Broken, "refused: stop texts"),
        (None, false) => patient.find(FIELDS, Verdict::Works, "taken"),
    }
}

fn form(api: Api, strict: bool) -> (&'static str, Value) {
    let schema = json!({
        "type": "object",
        "properties": { "sum": { "type": "integer" } },
        "required": ["sum"],
        "additionalProperties": false,
    });
    let mut named = json!({ "name": "sum", "schema": schema });
    if strict {
        named["strict"] = json!(true);
    }
    match api {
        Api::Chat => ("response_format", json!({ "type": "json_schema", "json_schema": named })),
        Api::Responses => {
            named["type"] = json!("json_schema");
            ("text", json!({ "format": named }))
        }
        Api::Messages => {
            let format = json!({ "type": "json_schema", "schema": named["schema"] });
            ("output_config", json!({ "format": format }))
        }
        Api::Gemini => {
            let (kind, schema) = ("application/json", &named["schema"]);
            let config = json!({ "responseMimeType": kind, "responseJsonSchema": schema });
            ("generationConfig", config)
        }
    }
}

fn any_object(api: Api) -> (&'static str, Value) {
    let object = json!({ "type": "json_object" });
    match api {
        Api::Responses => ("text", json!({ "format": object })),
        _ => ("response_format", object),
    }
}

/// An answer in the form of a schema.
pub(super) async fn schema(patient: &mut Patient) {
    if !patient.tries(SCHEMA) {
        return;
    }
    let manner = calling::manner(patient);
    // The word that some servers insist on is in the question; what the field is called is not.
    let ask = || Ask::user("What is the sum of 17 and 25? Answer in JSON.").manner(manner);
    let api = patient.api;
    let mut strict = true;
    let (name, value) = form(api, strict);
    let mut seen = patient.ask(&ask().with(name, value)).await;
    if seen.refuses(&["strict"]) {
        strict = false;
        let (name, value) = form(api, strict);
        seen = patient.ask(&ask().with(name, value)).await;
    }
    if let Some(trouble) = seen.trouble() {
        return patient.pass_over(SCHEMA, trouble);
    }
    let said: Option<Value> = serde_json::from_str(seen.words().trim()).ok();
    if said.as_ref().is_some_and(|said| said["sum"].is_number()) {
        if !strict {
            patient.profile.strict_schemas = StrictSchemas::Unknown;
            return patient.find(SCHEMA, Verdict::Handled, "followed; the field strict is refused");
        }
        return patient.find(SCHEMA, Verdict::Works, "followed");
    }
    let why = if seen.is_good() { "taken, and forgotten".to_owned() } else { seen.why() };
    if !patient.has_profile() {
        return patient.find(SCHEMA, Verdict::Broken, why);
    }
    let (name, value) = any_object(api);
    let object = patient.ask(&ask().with(name, value)).await;
    let is_object = serde_json::from_str::<Value>(object.words().trim());
    let forms = match is_object.is_ok_and(|value| value.is_object()) {
        true => (AnswerForms::JsonObject, "any JSON object can be asked for"),
        false => (AnswerForms::Text, "nor any JSON"),
    };
    patient.profile.answer_forms = forms.0;
    patient.find(SCHEMA, Verdict::Broken, format!("{why}; {}", forms.1));
}

/// A picture in a question.
pub(super) async fn images(patient: &mut Patient) {
    if !patient.tries(IMAGES) {
        return;
    }
    let turn = Turn::Image("Which colour has this picture? One word.");
    let ask = Ask::of(vec![turn]).at_most(64).manner(calling::manner(patient));
    let seen = patient.ask(&ask).await;
    match (seen.trouble(), seen.is_good()) {
        (_, true) => patient.find(IMAGES, Verdict::Works, "taken"),
        // Servers of models without eyes fail as well as refuse.
        (Some(_), _) if seen.status == 500 => {
            patient.find(IMAGES, Verdict::Broken, "the server fails");
        }
        (Some(trouble), _) => patient.pass_over(IMAGES, trouble),
        (None, false) => patient.find(IMAGES, Verdict::Broken, seen.why()),
    }
}

//! Decides which API a server is taken to speak when nobody says it.
//!
//! Knows what an answer in the wrong language looks like. Refuses to know how well one is spoken.

use super::{
    ask::{Ask, Manner},
    patient::Patient,
    seen::Seen,
};
use crate::endpoint::Api;

/// In this order they are tried, and the first that is spoken is examined.
const APIS: [Api; 4] = [Api::Chat, Api::Responses, Api::Messages, Api::Gemini];
const SHORT: u32 = 16;
/// Whoever refuses one of these has understood the rest.
const FIELDS: [&str; 3] = ["max_tokens", "max_completion_tokens", "stream"];

/// Asks a short question in each API. The server is spoken to in the first that it answers in; else in
/// the first that it knows, and refuses; else in Chat Completions.
///
/// # Errors
/// The address cannot be used with that API.
pub(super) async fn listen(patient: &mut Patient) -> Result<(), model_wire::BuildError> {
    let (mut spoken, mut refused) = (Vec::new(), None);
    for api in APIS {
        // An address may be none for one of them.
        if patient.speak(api).is_err() {
            continue;
        }
        let ask = Ask::user("Reply with the one word: ready").at_most(SHORT);
        let seen = patient.ask(&ask.manner(Manner::Streamed)).await;
        if seen.is_good() || seen.refuses(&FIELDS) {
            spoken.push(api);
        } else if seen.status == 0 {
            // Nobody is there, or everything takes too long: no more of it.
            break;
        } else if is_known(&seen) {
            refused = refused.or(Some(api));
        }
    }
    let api = spoken.first().copied().or(refused).unwrap_or(Api::Chat);
    patient.speaks = spoken;
    patient.speak(api)
}

/// Whether a refusal is one of the API, and not of a server that does not have it.
fn is_known(seen: &Seen) -> bool {
    (400..500).contains(&seen.status) && !matches!(seen.status, 404 | 405 | 410)
}

/// What was found, for people.
pub(super) fn text(patient: &Patient) -> String {
    let examined = patient.api.word();
    match &patient.speaks[..] {
        [] => format!("it answers in no api that is known; {examined} is examined"),
        [_] => format!("it speaks the api {examined}, which is examined"),
        all => {
            let all: Vec<&str> = all.iter().map(|api| api.word()).collect();
            format!(
                "it speaks the apis {}; {examined} is examined, --api names another",
                all.join(", ")
            )
        }
    }
}

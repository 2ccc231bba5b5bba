//! Decides how a server answers at all: framing, counts, lengths, ends, reasoning.
//!
//! Knows what a plain answer looks like in each API. Refuses to know tools.

use openai_adapter::{Delivery, MaxTokensField, ThinkTags};
use runtime_ports::ModelFinish;
use serde_json::Value;

use super::{ANSWER, FINISH, FRAMING, LENGTH, REASONING, USAGE, WHOLE, calling};
use crate::{
    doctor::{
        ask::{Ask, Manner},
        finding::Verdict,
        patient::Patient,
        seen::Seen,
    },
    endpoint::Api,
};

/// How often a refused field is left out before the server is given up.
const ATTEMPTS: usize = 3;
const SHORT: u32 = 16;

/// A plain answer; `None` when there is none, and nothing more can be told.
pub(super) async fn answer(patient: &mut Patient) -> Option<Seen> {
    let mut ask = Ask::user("Reply with the one word: ready").manner(calling::manner(patient));
    for _ in 0..ATTEMPTS {
        let seen = patient.ask(&ask).await;
        if seen.is_good() {
            return Some(answered(patient, seen));
        }
        if seen.refuses(&["stream_options"]) {
            patient.profile.stream_options = false;
            ask.manner = Manner::Streamed;
        } else if seen.refuses(&["max_completion_tokens"]) || seen.refuses(&["max_tokens"]) {
            patient.profile.max_tokens_field = other(patient.profile.max_tokens_field);
        } else if seen.status == 0 || seen.trouble().is_some() {
            return given_up(patient, seen);
        } else {
            return not_streamed(patient, seen).await;
        }
    }
    let seen = patient.ask(&ask).await;
    if seen.is_good() { Some(answered(patient, seen)) } else { given_up(patient, seen) }
}

const fn other(field: MaxTokensField) -> MaxTokensField {
    match field {
        MaxTokensField::MaxTokens => MaxTokensField::MaxCompletionTokens,
        MaxTokensField::MaxCompletionTokens => MaxTokensField::MaxTokens,
    }
}

fn answered(patient: &mut Patient, seen: Seen) -> Seen {
    patient.usual = Some(seen.first);
    let took = seen.first.as_millis();
    let words: String = seen.words().chars().take(20).collect();
    patient.find(ANSWER, Verdict::Works, format!("{:?} began after {took} ms", words.trim()));
    seen
}

async fn not_streamed(patient: &mut Patient, streamed: Seen) -> Option<Seen> {
    let ask = Ask::user("Reply with the one word: ready").manner(Manner::Whole);
    let seen = patient.ask(&ask).await;
    if !seen.is_good() {
        return given_up(patient, streamed);
    }
    patient.profile.only_delivery = Some(Delivery::Whole);
    patient.usual = Some(seen.first);
    patient.find(ANSWER, Verdict::Handled, format!("not as a stream: {}", streamed.why()));
    Some(seen)
}

fn given_up(patient: &mut Patient, seen: Seen) -> Option<Seen> {
    patient.find(ANSWER, Verdict::Broken, seen.why());
    patient.over = seen.read.err();
    None
}

/// What the stream of the plain answer departs in.
pub(super) fn framing(patient: &mut Patient, answer: &Seen) {
    if patient.profile.only_delivery == Some(Delivery::Whole) {
        return patient.find(FRAMING, Verdict::Broken, "there is no stream");
    }
    if !answer.is_stream {
        let came = "one document, although a stream was asked for";
        return patient.find(FRAMING, Verdict::Handled, came);
    }
    let text = &answer.text;
    let ends_with_done = patient.api == Api::Chat;
    let names_events = matches!(patient.api, Api::Responses | Api::Messages);
    let has_done = text.contains("[DONE]");
    let has_names = answer.events.iter().any(|(name, _)| !name.is_empty());
    let departs = [
        (text.contains("\r\n"), "lines end with CRLF"),
        (text.lines().any(|line| line.starts_with(':')), "comments keep it alive"),
        (ends_with_done && !has_done, "no [DONE]"),
        (!ends_with_done && has_done, "[DONE] at the end"),
        (!names_events && has_names, "events have names"),
        (names_events && !has_names, "events have no names"),
        (text.starts_with("data:{") || text.contains("\ndata:{"), "no space after data:"),
        (answer.end != model_wire::RawEnd::Complete, "the connection broke after the answer"),
    ];
    let departs: Vec<&str> = departs.iter().filter(|(so, _)| *so).map(|(_, what)| *what).collect();
    match departs.is_empty() {
        true => patient.find(FRAMING, Verdict::Works, format!("{} events", answer.events.len())),
        false => patient.find(FRAMING, Verdict::Handled, departs.join(", ")),
    }
}

/// Where the counts of the plain answer stand.
pub(super) fn usage(patient: &mut Patient, answer: &Seen) {
    let refused = if patient.profile.stream_options { "" } else { "; stream_options is refused" };
    let is_usage = |value: &&Value| value.as_object().is_some_and(|fields| !fields.is_empty());
    let pointer = match (patient.api, answer.is_stream) {
        (Api::Responses, true) => "/response/usage",
        _ => "/usage",
    };
    // The other APIs count in several events, as they should.
    let counts_once = matches!(patient.api, Api::Chat | Api::Responses);
    let places = answer.all(pointer).filter(is_usage).count();
    let (Some(input), Some(output)) = (answer.usage.input_tokens, answer.usage.output_tokens)
    else {
        let came = format!("none: what it costs is unknown{refused}");
        return patient.find(USAGE, Verdict::Handled, came);
    };
    let cached = match answer.usage.cached_input_tokens {
        Some(_) => "cached ones told",
        None => "cached ones not told",
    };
    let came = format!("{input} in, {output} out, {cached}");
    match (counts_once && places > 1, refused.is_empty()) {
        (true, _) => {
            patient.find(USAGE, Verdict::Handled, format!("{came}; in {places} events{refused}"));
        }
        (false, false) => patient.find(USAGE, Verdict::Handled, format!("{came}{refused}")),
        (false, true) => patient.find(USAGE, Verdict::Works, came),
    }
}

/// An answer as one document, which is cut at its limit.
pub(super) async fn whole_and_length(patient: &mut Patient, answer: &Seen) {
    if !patient.tries(WHOLE) {
        return;
    }
    let long = Ask::user("Count from 1 to 300, in words, one number a line.").at_most(SHORT);
    let seen = patient.ask(&long.clone().manner(Manner::Whole)).await;
    if seen.is_good() {
        let (verdict, came) = match seen.is_stream {
            true => (Verdict::Handled, "a stream, although none was asked for"),
            false => (Verdict::Works, "one document"),
        };
        patient.find(WHOLE, verdict, came);
        return length(patient, &seen);
    }
    if let Some(trouble) = seen.trouble() {
        patient.pass_over(WHOLE, trouble.clone());
        return patient.pass_over(LENGTH, trouble);
    }
    if answer.is_stream {
        patient.profile.only_delivery = Some(Delivery::Streamed);
    }
    patient.find(WHOLE, Verdict::Handled, format!("{}: answers are streamed", seen.why()));
    let seen = patient.ask(&long).await;
    length(patient, &seen);
}

fn length(patient: &mut Patient, seen: &Seen) {
    let name = match (patient.api, patient.profile.max_tokens_field) {
        (Api::Responses, _) => "max_output_tokens",
        (Api::Messages, _) => "max_tokens",
        (Api::Gemini, _) => "maxOutputTokens",
        (Api::Chat, MaxTokensField::MaxTokens) => "max_tokens",
        (Api::Chat, MaxTokensField::MaxCompletionTokens) => "max_completion_tokens",
    };
    let counted = seen.usage.output_tokens.unwrap_or(0);
    match seen.finish() {
        Some(ModelFinish::Length) => {
            patient.find(LENGTH, Verdict::Works, format!("{name} is obeyed, and the cut is told"));
        }
        Some(_) if counted > u64::from(SHORT) * 4 || seen.words().lines().count() > 100 => {
            patient.find(LENGTH, Verdict::Broken, format!("{name} is taken and not obeyed"));
        }
        Some(_) if seen.words().lines().count() > 2 => {
            let came = format!("{name} is obeyed, and the answer is told as if it were whole");
            patient.find(LENGTH, Verdict::Broken, came);
        }
        Some(_) => patient.pass_over(LENGTH, "the model stopped by itself"),
        None => patient.pass_over(LENGTH, seen.why()),
    }
}

/// The reasons that answers end with.
pub(super) fn finish(patient: &mut Patient, answer: &Seen, calls: Option<&Seen>) {
    let api = patient.api;
    let said = |seen: &Seen| reasons(api, seen);
    let plain = said(answer);
    let for_calls = calls.map(said).unwrap_or_default();
    let (of_answer, of_calls) = match api {
        Api::Chat => ("stop", "tool_calls"),
        Api::Responses => ("completed", "completed"),
        Api::Messages => ("end_turn", "tool_use"),
        // Calls have no reason of their own.
        Api::Gemini => ("STOP", "STOP"),
    };
    let or_none = |reason: &Option<String>| reason.clone().unwrap_or_else(|| "none".to_owned());
    let is_usual = |reason: &Option<String>, usual: &str| reason.as_deref() == Some(usual);
    let mut came = format!("{} after words", or_none(&plain));
    let mut verdict = if is_usual(&plain, of_answer) { Verdict::Works } else { Verdict::Handled };
    if calls.is_some() {
        came.push_str(&format!(", {} after calls", or_none(&for_calls)));
        if !is_usual(&for_calls, of_calls) {
            verdict = Verdict::Handled;
        }
    }
    patient.find(FINISH, verdict, came);
}

/// The last reason that an answer gives.
fn reasons(api: Api, seen: &Seen) -> Option<String> {
    let pointers: &[&str] = match api {
        Api::Chat => &["/choices/0/finish_reason"],
        Api::Responses => &["/response/status", "/status"],
        Api::Messages => &["/delta/stop_reason", "/stop_reason"],
        Api::Gemini => &["/candidates/0/finishReason"],
    };
    let all = pointers.iter().flat_map(|pointer| seen.all(pointer));
    all.filter_map(Value::as_str).filter(|text| !text.is_empty()).last().map(str::to_owned)
}

/// In which field reasoning comes.
pub(super) fn reasoning(patient: &mut Patient, answer: &Seen, calls: Option<&Seen>) {
    let must_return =
        if patient.profile.reasoning_replay == openai_adapter::ReasoningReplay::WithEveryCall {
            ", and must go back with calls"
        } else {
            ""
        };
    let all = [Some(answer), calls];
    for seen in all.into_iter().flatten() {
        let Some(came) = thought(patient, seen) else { continue };
        let verdict = if came.contains("tags") { Verdict::Handled } else { Verdict::Works };
        return patient.find(REASONING, verdict, format!("{came}{must_return}"));
    }
    patient.find(REASONING, Verdict::Works, format!("none came{must_return}"));
}

fn thought(patient: &mut Patient, seen: &Seen) -> Option<String> {
    if patient.api == Api::Responses {
        let is_reasoning =
            |(_, event): &(String, Value)| event.pointer("/item/type") == Some(&"reasoning".into());
        return seen.events.iter().any(is_reasoning).then(|| "items of their own".to_owned());
    }
    if !patient.has_profile() {
        return seen.has_reasoning().then(|| "blocks of their own".to_owned());
    }
    for field in ["reasoning_content", "reasoning"] {
        let mut pointers = ["delta", "message"].map(|place| format!("/choices/0/{place}/{field}"));
        let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        if pointers.iter_mut().any(|pointer| seen.all(pointer).any(is_text)) {
            field.clone_into(&mut patient.profile.reasoning_field);
            return Some(format!("in {field}"));
        }
    }
    let words = seen.words();
    let (opens, closes) = (words.trim_start().starts_with("<think>"), words.contains("</think>"));
    if !closes {
        return None;
    }
    patient.profile.think_tags =
        if opens { ThinkTags::Reasoning } else { ThinkTags::ReasoningAlreadyOpen };
    Some("in the text, between think tags".to_owned())
}

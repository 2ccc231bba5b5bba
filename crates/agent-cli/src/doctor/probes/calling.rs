//! Decides how a server hands on calls of tools.
//!
//! Knows what calls look like in each API. Refuses to know what happens with their results.

use openai_adapter::ToolChoices;
use serde_json::{Value, json};

use super::{CALLS, EMPTY, IDS, INDEX, NAMED, PARALLEL, REQUIRED};
use crate::{
    doctor::{
        ask::{Ask, Choice, Manner},
        finding::Verdict,
        patient::Patient,
        seen::{Call, Seen},
    },
    endpoint::Api,
};

pub(super) const TASK: &str = "What is the weather in Paris, and what is it in Rome? Call \
                               get_weather once for each of the two cities, both at once.";
pub(super) const TOOLS: &[&str] = &["get_weather", "ping"];

/// How calls look that a server could not cut out of the text.
const MARKUP: [&str; 4] = ["<tool_call>", "<function=", "[TOOL_CALLS]", "<|python_tag|>"];

/// How answers are asked for, after what is known.
pub(super) fn manner(patient: &Patient) -> Manner {
    match patient.profile.only_delivery {
        Some(openai_adapter::Delivery::Whole) => Manner::Whole,
        _ if patient.api == Api::Chat && patient.profile.stream_options => {
            Manner::StreamedWithUsage
        }
        _ => Manner::Streamed,
    }
}

/// Two calls at once; the answer, when it has some.
pub(super) async fn calls(patient: &mut Patient) -> Option<Seen> {
    if !patient.tries(CALLS) {
        return None;
    }
    let ask = Ask::user(TASK).tools(TOOLS).manner(manner(patient));
    let mut seen = patient.ask(&ask).await;
    let mut how = "";
    if seen.is_good() && seen.calls().is_empty() && !has_markup(&seen) {
        let forced = patient.ask(&ask.choice(Choice::Required)).await;
        if !forced.calls().is_empty() {
            (seen, how) = (forced, ", only when it must");
        }
    }
    let calls = seen.calls();
    if calls.is_empty() {
        no_calls(patient, &seen);
        return None;
    }
    let is_right = |call: &Call| {
        call.name == "get_weather" && call.arguments.get("city").is_some_and(Value::is_string)
    };
    let right = calls.iter().filter(|call| is_right(call)).count();
    let came = format!("{right} of {} fit the tool{how}", calls.len());
    let verdict = match right == calls.len() {
        true => Verdict::Works,
        false if right > 0 => Verdict::Handled,
        false => Verdict::Broken,
    };
    patient.find(CALLS, verdict, came);
    index(patient, &seen, calls.len());
    parallel(patient, calls.len());
    ids(patient, &seen, &calls);
    Some(seen)
}

fn has_markup(seen: &Seen) -> bool {
    MARKUP.iter().any(|markup| seen.words().contains(markup))
}

fn no_calls(patient: &mut Patient, seen: &Seen) {
    match (seen.trouble(), seen.is_good()) {
        (Some(trouble), _) => patient.pass_over(CALLS, trouble),
        (None, false) => patient.find(CALLS, Verdict::Broken, seen.why()),
        (None, true) if has_markup(seen) => {
            let came = "calls come as text: the server has no parser for this model";
            patient.find(CALLS, Verdict::Broken, came);
        }
        (None, true) => patient.find(CALLS, Verdict::Broken, "words instead of calls"),
    }
    for probe in [INDEX, PARALLEL, IDS] {
        patient.pass_over(probe, "there was no call");
    }
}

/// The entries of calls, as the server wrote them.
fn entries(api: Api, seen: &Seen) -> Vec<Value> {
    match api {
        Api::Chat => {
            let places = ["/choices/0/delta/tool_calls", "/choices/0/message/tool_calls"];
            let lists = places.iter().flat_map(|place| seen.all(place));
            lists.filter_map(Value::as_array).flatten().cloned().collect()
        }
        Api::Responses => {
            let is_call =
                |event: &&Value| event.pointer("/item/type") == Some(&Value::from("function_call"));
            seen.events.iter().map(|(_, event)| event).filter(is_call).cloned().collect()
        }
        Api::Messages => {
            let is_call = |value: &&Value| value["type"] == "tool_use";
            let begun = |event: &&Value| event["content_block"]["type"] == "tool_use";
            let streamed = seen.events.iter().map(|(_, event)| event).filter(begun).cloned();
            let lists = seen.all("/content").filter_map(Value::as_array).flatten();
            let whole = lists.filter(is_call).map(|block| json!({ "content_block": block }));
            streamed.chain(whole).collect()
        }
        Api::Gemini => {
            let parts = seen.all("/candidates/0/content/parts").filter_map(Value::as_array);
            let is_call = |part: &&Value| part["functionCall"].is_object();
            parts.flatten().filter(is_call).cloned().collect()
        }
    }
}

fn index(patient: &mut Patient, seen: &Seen, calls: usize) {
    if !seen.is_stream {
        return patient.find(INDEX, Verdict::Works, "one document has no need of it");
    }
    let name = if patient.api == Api::Responses { "output_index" } else { "index" };
    let entries = entries(patient.api, seen);
    let told: Vec<Option<u64>> = entries.iter().map(|entry| entry[name].as_u64()).collect();
    let mut known: Vec<u64> = told.iter().copied().flatten().collect();
    known.sort_unstable();
    known.dedup();
    match () {
        () if told.contains(&None) => {
            patient.find(
                INDEX,
                Verdict::Handled,
                format!("{name} is missing; ids tell them apart"),
            );
        }
        () if known.len() < calls => {
            let came = format!("{name} is {} for all; ids tell them apart", known[0]);
            patient.find(INDEX, Verdict::Handled, came);
        }
        () if known.len() > calls => {
            let came = format!("one call has several values of {name}; ids tell them apart");
            patient.find(INDEX, Verdict::Handled, came);
        }
        () if calls == 1 => patient.pass_over(INDEX, "there was one call alone"),
        () => patient.find(INDEX, Verdict::Works, format!("{name} counts the calls")),
    }
}

fn parallel(patient: &mut Patient, calls: usize) {
    match calls {
        1 => patient.find(PARALLEL, Verdict::Handled, "one call at a time"),
        _ => patient.find(PARALLEL, Verdict::Works, format!("{calls} calls in one answer")),
    }
}

fn ids(patient: &mut Patient, seen: &Seen, calls: &[Call]) {
    let field = match patient.api {
        Api::Chat => "/id",
        Api::Responses => "/item/call_id",
        Api::Messages => "/content_block/id",
        Api::Gemini => "/functionCall/id",
    };
    let entries = entries(patient.api, seen);
    let given = |entry: &Value| entry.pointer(field).and_then(Value::as_str).map(str::to_owned);
    let mut given: Vec<String> =
        entries.iter().filter_map(given).filter(|id| !id.is_empty() && id != "null").collect();
    given.sort();
    given.dedup();
    match () {
        () if given.is_empty() => {
            patient.find(IDS, Verdict::Handled, "none; the adapter gives each call one");
        }
        () if given.len() < calls.len() => {
            let came = "the same for several calls; the adapter gives each call one";
            patient.find(IDS, Verdict::Handled, came);
        }
        () => {
            let shown: String = given[0].chars().take(24).collect();
            patient.find(IDS, Verdict::Works, format!("each its own, like {shown}"));
        }
    }
}

/// A call of a tool that takes nothing.
pub(super) async fn empty(patient: &mut Patient) {
    if !patient.tries(EMPTY) {
        return;
    }
    let task = "Call the tool ping now. Say nothing else.";
    let seen = patient.ask(&Ask::user(task).tools(&["ping"]).manner(manner(patient))).await;
    if let Some(trouble) = seen.trouble() {
        return patient.pass_over(EMPTY, trouble);
    }
    match seen.calls().first() {
        None if seen.is_good() => patient.pass_over(EMPTY, "there was no call"),
        None => patient.find(EMPTY, Verdict::Broken, seen.why()),
        Some(call) if !call.arguments.is_object() => {
            patient.find(EMPTY, Verdict::Broken, "they are no object");
        }
        Some(_) => {
            let written = written_arguments(patient.api, &seen);
            let verdict = if written == "{}" { Verdict::Works } else { Verdict::Handled };
            let shown =
                if written.trim().is_empty() { "no text at all".to_owned() } else { written };
            patient.find(EMPTY, verdict, shown.chars().take(40).collect::<String>());
        }
    }
}

fn written_arguments(api: Api, seen: &Seen) -> String {
    let text =
        |value: &Value| value.as_str().map(str::to_owned).unwrap_or_else(|| value.to_string());
    match api {
        Api::Chat => {
            let all = entries(api, seen);
            let arguments = all.iter().filter_map(|entry| entry.pointer("/function/arguments"));
            arguments.map(text).collect()
        }
        Api::Responses => {
            let all = entries(api, seen);
            let arguments = all.iter().filter_map(|entry| entry.pointer("/item/arguments"));
            arguments.map(text).next_back().unwrap_or_default()
        }
        // No piece at all is how this API writes no arguments.
        Api::Messages => {
            let pieces: String = seen.all("/delta/partial_json").map(text).collect();
            if pieces.is_empty() { "{}".to_owned() } else { pieces }
        }
        Api::Gemini => {
            let all = entries(api, seen);
            all.iter().filter_map(|part| part.pointer("/functionCall/args")).map(text).collect()
        }
    }
}

/// A call that must be made, although nothing asks for one.
pub(super) async fn required(patient: &mut Patient) {
    if !patient.tries(REQUIRED) {
        return;
    }
    let ask = Ask::user("Good morning.").tools(TOOLS).choice(Choice::Required);
    let seen = patient.ask(&ask.manner(manner(patient))).await;
    if let Some(trouble) = seen.trouble() {
        return patient.pass_over(REQUIRED, trouble);
    }
    if !seen.calls().is_empty() {
        return patient.find(REQUIRED, Verdict::Works, "a call came");
    }
    patient.profile.tool_choice = ToolChoices::AutoOnly;
    let came = if seen.is_good() { "taken, and forgotten".to_owned() } else { seen.why() };
    patient.find(REQUIRED, Verdict::Broken, came);
}

/// A call of one tool, although another would fit.
pub(super) async fn named(patient: &mut Patient) {
    if !patient.tries(NAMED) {
        return;
    }
    let ask = Ask::user("What is the weather in Oslo?").tools(TOOLS).choice(Choice::Named("ping"));
    let seen = patient.ask(&ask.manner(manner(patient))).await;
    if let Some(trouble) = seen.trouble() {
        return patient.pass_over(NAMED, trouble);
    }
    if seen.calls().first().is_some_and(|call| call.name == "ping") {
        return patient.find(NAMED, Verdict::Works, "that tool was called");
    }
    let came = if seen.is_good() { "taken, and forgotten".to_owned() } else { seen.why() };
    if patient.profile.tool_choice == ToolChoices::AutoOnly || !patient.has_profile() {
        return patient.find(NAMED, Verdict::Broken, came);
    }
    patient.profile.tool_choice = ToolChoices::Required;
    patient.find(NAMED, Verdict::Handled, format!("{came}; the tool is sent alone"));
}

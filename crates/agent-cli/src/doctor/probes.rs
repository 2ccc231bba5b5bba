//! Decides what is tried at a server, and in which order.
//!
//! Refuses to know how each thing is tried. Invariant: every probe has one finding in the end.

mod answering;
mod calling;
mod continuing;
mod forming;
mod replaying;
mod returning;
mod sizing;
mod thinking;
mod turning;
mod window;

use super::{
    finding::{
        Need::{Needed, Spared},
        Probe,
    },
    patient::Patient,
};
use crate::endpoint::Api;

pub(crate) use window::cost as cost_of_window;

const EVERY: &[Api] = &[Api::Chat, Api::Responses, Api::Messages, Api::Gemini];
/// Those whose adapter has a profile.
const OPENAI: &[Api] = &[Api::Chat, Api::Responses];
const VENDORS: &[Api] = &[Api::Messages, Api::Gemini];
/// Those that number what they stream.
const NUMBERED: &[Api] = &[Api::Chat, Api::Responses, Api::Messages];
const RESPONSES: &[Api] = &[Api::Responses];

/// One row for each probe, in the order in which they are told: the constant, the name, where it makes
/// sense, whether an agent needs it, what is asked, and what is lost where it does not work.
macro_rules! probes {
    ($($id:ident, $name:literal, $apis:ident, $need:ident: $asked:literal => $loss:literal;)*) => {
        $(pub(crate) const $id: Probe =
            Probe { name: $name, apis: $apis, need: $need, asked: $asked, loss: $loss };)*
        const ALL: &[Probe] = &[$($id),*];
    };
}

probes! {
    MODELS, "models", EVERY, Spared: "the list of models"
        => "models cannot be listed: name one with --model";
    ANSWER, "answer", EVERY, Needed: "one word, streamed"
        => "there is no answer at all";
    FRAMING, "framing", EVERY, Spared: "how that stream is framed"
        => "answers come at once, not as they grow";
    USAGE, "usage", EVERY, Spared: "the counts of that answer"
        => "tokens are unknown";
    WHOLE, "whole answer", EVERY, Spared: "an answer that is not streamed"
        => "answers can only be streamed";
    LENGTH, "output limit", EVERY, Spared: "a long answer with 16 tokens"
        => "max_output_tokens does not bound an answer, and what it costs";
    CALLS, "tool calls", EVERY, Needed: "two calls of a tool"
        => "the model calls no tools: it can talk, and not work";
    INDEX, "call index", NUMBERED, Needed: "how those calls are told apart"
        => "calls get mixed up";
    PARALLEL, "parallel calls", EVERY, Spared: "both in one answer"
        => "each call takes a request of its own";
    IDS, "call ids", EVERY, Spared: "the ids of those calls"
        => "calls have no ids of their own";
    EMPTY, "empty arguments", EVERY, Needed: "a call without arguments"
        => "tools without arguments fail";
    RETURN, "results", EVERY, Needed: "an answer to the results"
        => "results of tools cannot go back to the model";
    ORDER, "result order", EVERY, Spared: "results in another order"
        => "results must stand in the order of their calls";
    FOREIGN, "foreign ids", EVERY, Spared: "ids of another provider"
        => "a conversation of another provider cannot go on here";
    STATUS, "item status", RESPONSES, Spared: "calls that go back with a status"
        => "calls go back without their status";
    REQUIRED, "required call", EVERY, Spared: "a call that must be made"
        => "a call cannot be required";
    NAMED, "named call", EVERY, Spared: "a call of one tool"
        => "a tool cannot be chosen for the model";
    FINISH, "finish", EVERY, Spared: "how answers say why they end"
        => "why an answer ends is unknown";
    REASONING, "reasoning", EVERY, Spared: "how the model thinks aloud"
        => "reasoning is lost";
    THINKING, "thinking", VENDORS, Spared: "thoughts that are asked for"
        => "the model cannot be asked to think";
    SYSTEM, "system messages", EVERY, Spared: "several, and late ones"
        => "there is no place for instructions";
    DEVELOPER, "developer role", OPENAI, Spared: "instructions of a developer"
        => "instructions are the system's";
    FIELDS, "more fields", EVERY, Spared: "parallel_tool_calls, stop"
        => "stop texts cannot be used";
    SCHEMA, "JSON schema", EVERY, Spared: "an answer that follows one"
        => "--output-schema will not work";
    IMAGES, "images", EVERY, Spared: "the colour of a picture"
        => "the model sees no images";
    PICTURES, "result images", EVERY, Spared: "a picture in a result"
        => "the model sees no images that tools return";
    OVERFLOW, "long prompt", EVERY, Spared: "10,000 words"
        => "a prompt that is too long ends the run: it is not made smaller and sent again";
    WINDOW, "window", EVERY, Spared: "longer and longer prompts"
        => "how much a prompt may hold is unknown";
    HANG_UP, "hanging up", EVERY, Spared: "a long answer, given up"
        => "a cancelled answer is made nevertheless: others wait for it, and it may be paid for";
    ENCRYPTED, "own reasoning", RESPONSES, Spared: "reasoning that goes back"
        => "reasoning does not go back";
    CONTINUED, "continuation", RESPONSES, Spared: "previous_response_id"
        => "each request has the whole conversation";
    TURN, "agent turn", EVERY, Needed: "call, result, answer; by the adapter"
        => "the adapter itself does not get through a turn";
}

/// Tries everything, one thing after the other. `told` hears what is tried next; the window is looked
/// for when a size is given.
pub(crate) async fn examine(patient: &mut Patient, window: Option<u64>, told: &dyn Fn(&str)) {
    if window.is_none() {
        // Nobody asked for it, so that nothing is said of it.
        patient.left_out.push(WINDOW.name);
    }
    told("answers");
    let Some(answer) = answering::answer(patient).await else {
        return conclude(patient);
    };
    answering::framing(patient, &answer);
    answering::usage(patient, &answer);
    answering::whole_and_length(patient, &answer).await;
    told("tools");
    let calls = calling::calls(patient).await;
    calling::empty(patient).await;
    returning::returned(patient, calls.as_ref()).await;
    replaying::order(patient).await;
    returning::foreign(patient).await;
    replaying::status(patient).await;
    calling::required(patient).await;
    calling::named(patient).await;
    answering::finish(patient, &answer, calls.as_ref());
    answering::reasoning(patient, &answer, calls.as_ref());
    thinking::thinking(patient).await;
    told("requests");
    forming::system(patient).await;
    forming::developer(patient).await;
    forming::fields(patient).await;
    forming::schema(patient).await;
    forming::images(patient).await;
    replaying::pictures(patient).await;
    told("limits");
    sizing::overflow(patient).await;
    if let Some(most) = window {
        window::search(patient, most).await;
    }
    sizing::hang_up(patient).await;
    if patient.api == Api::Responses {
        continuing::encrypted(patient).await;
        continuing::continued(patient).await;
    }
    told("a turn");
    turning::turn(patient).await;
    conclude(patient);
}

/// Every probe has a finding, in the order of the list.
fn conclude(patient: &mut Patient) {
    let why = match &patient.over {
        Some(_) => "nothing can be told without an answer",
        None if patient.operation().cancellation.is_cancelled() => "stopped",
        None => "no time was left",
    };
    for probe in ALL {
        let is_found = patient.findings.iter().any(|finding| finding.probe.name == probe.name);
        if !is_found && patient.makes_sense(*probe) {
            patient.pass_over(*probe, why);
        }
    }
    let place = |name: &str| ALL.iter().position(|probe| probe.name == name);
    patient.findings.sort_by_key(|finding| place(finding.probe.name));
}

//! Decides what is tried at a server, and in which order.
//!
//! Refuses to know how each thing is tried. Invariant: every probe has one finding in the end.

mod answering;
mod calling;
mod continuing;
mod forming;
mod returning;
mod sizing;
mod turning;

use openai_adapter::Api;

use super::{
    finding::{
        Need::{Needed, Spared},
        Probe,
    },
    patient::Patient,
};

const fn probe(
    name: &'static str,
    asked: &'static str,
    need: super::finding::Need,
    loss: &'static str,
) -> Probe {
    Probe { name, asked, need, loss }
}

pub(crate) const MODELS: Probe =
    probe("models", "the list of models", Spared, "models cannot be listed: name one with --model");
pub(crate) const ANSWER: Probe =
    probe("answer", "one word, streamed", Needed, "there is no answer at all");
pub(crate) const FRAMING: Probe =
    probe("framing", "how that stream is framed", Spared, "answers come at once, not as they grow");
pub(crate) const USAGE: Probe =
    probe("usage", "the counts of that answer", Spared, "tokens are unknown");
pub(crate) const WHOLE: Probe =
    probe("whole answer", "an answer that is not streamed", Spared, "answers can only be streamed");
pub(crate) const LENGTH: Probe = probe(
    "output limit",
    "a long answer with 16 tokens",
    Spared,
    "max_output_tokens does not bound an answer, and what it costs",
);
pub(crate) const CALLS: Probe = probe(
    "tool calls",
    "two calls of a tool",
    Needed,
    "the model calls no tools: it can talk, and not work",
);
pub(crate) const INDEX: Probe =
    probe("call index", "how those calls are told apart", Needed, "calls get mixed up");
pub(crate) const PARALLEL: Probe =
    probe("parallel calls", "both in one answer", Spared, "each call takes a request of its own");
pub(crate) const IDS: Probe =
    probe("call ids", "the ids of those calls", Spared, "calls have no ids of their own");
pub(crate) const RETURN: Probe = probe(
    "results",
    "an answer to the results",
    Needed,
    "results of tools cannot go back to the model",
);
pub(crate) const FOREIGN: Probe = probe(
    "foreign ids",
    "ids of another provider",
    Spared,
    "a conversation of another provider cannot go on here",
);
pub(crate) const EMPTY: Probe =
    probe("empty arguments", "a call without arguments", Needed, "tools without arguments fail");
pub(crate) const REQUIRED: Probe =
    probe("required call", "a call that must be made", Spared, "a call cannot be required");
pub(crate) const NAMED: Probe =
    probe("named call", "a call of one tool", Spared, "a tool cannot be chosen for the model");
pub(crate) const FINISH: Probe =
    probe("finish", "how answers say why they end", Spared, "why an answer ends is unknown");
pub(crate) const REASONING: Probe =
    probe("reasoning", "how the model thinks aloud", Spared, "reasoning is lost");
pub(crate) const SYSTEM: Probe = probe(
    "system messages",
    "several, and late ones",
    Spared,
    "there is no place for instructions",
);
pub(crate) const DEVELOPER: Probe =
    probe("developer role", "instructions of a developer", Spared, "instructions are the system's");
pub(crate) const FIELDS: Probe =
    probe("more fields", "parallel_tool_calls, stop", Spared, "stop texts cannot be used");
pub(crate) const SCHEMA: Probe =
    probe("JSON schema", "an answer that follows one", Spared, "--output-schema will not work");
pub(crate) const IMAGES: Probe =
    probe("images", "the colour of a picture", Spared, "the model sees no images");
pub(crate) const OVERFLOW: Probe = probe(
    "long prompt",
    "10,000 words",
    Spared,
    "a prompt that is too long ends the run: it is not made smaller and sent again",
);
pub(crate) const HANG_UP: Probe = probe(
    "hanging up",
    "a long answer, given up",
    Spared,
    "a cancelled answer is made nevertheless: others wait for it, and it may be paid for",
);
pub(crate) const ENCRYPTED: Probe =
    probe("own reasoning", "reasoning that goes back", Spared, "reasoning does not go back");
pub(crate) const CONTINUED: Probe = probe(
    "continuation",
    "previous_response_id",
    Spared,
    "each request has the whole conversation",
);
pub(crate) const TURN: Probe = probe(
    "agent turn",
    "call, result, answer; by the adapter",
    Needed,
    "the adapter itself does not get through a turn",
);

/// All probes of an API, in the order in which they are told.
pub(crate) fn all(api: Api) -> Vec<Probe> {
    let both = [
        MODELS, ANSWER, FRAMING, USAGE, WHOLE, LENGTH, CALLS, INDEX, PARALLEL, IDS, EMPTY, RETURN,
        FOREIGN, REQUIRED, NAMED, FINISH, REASONING, SYSTEM, DEVELOPER, FIELDS, SCHEMA, IMAGES,
        OVERFLOW, HANG_UP,
    ];
    let mut all = both.to_vec();
    if api == Api::Responses {
        all.extend([ENCRYPTED, CONTINUED]);
    }
    all.push(TURN);
    all
}

/// Tries everything, one thing after the other. `told` hears what is tried next.
pub(crate) async fn examine(patient: &mut Patient, told: &dyn Fn(&str)) {
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
    returning::foreign(patient).await;
    calling::required(patient).await;
    calling::named(patient).await;
    answering::finish(patient, &answer, calls.as_ref());
    answering::reasoning(patient, &answer, calls.as_ref());
    told("requests");
    forming::system(patient).await;
    forming::developer(patient).await;
    forming::fields(patient).await;
    forming::schema(patient).await;
    forming::images(patient).await;
    told("limits");
    sizing::overflow(patient).await;
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
    let probes = all(patient.api);
    for probe in &probes {
        if !patient.findings.iter().any(|finding| finding.probe.name == probe.name) {
            patient.pass_over(*probe, why);
        }
    }
    let place = |name: &str| probes.iter().position(|probe| probe.name == name);
    patient.findings.sort_by_key(|finding| place(finding.probe.name));
}

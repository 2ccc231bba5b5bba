//! Decides whether every input is accounted for at every place where a run can stand.
//!
//! Knows the places by the scripts that lead there. What comes of each pair stands in `grid.txt`; a
//! refused input changes nothing. With `UPDATE=1` the file is written anew.
//!
//! Length: the list of places, each with the script that leads there.

use std::{collections::BTreeMap, fs, path::Path};

use runtime_decision::{
    ApprovalAnswer, ArgumentFault, BudgetName, ChildEnd, ChildResult, Collected, Consultation,
    EffectId, Grant, Happened, HookVerdict, Input, Machine, Out, Outcome, RequestEdits, RunStatus,
    Shortage, Spent, ToolEnd, ToolOutput,
};
use runtime_ports::{
    ApprovalDecision, Digest, ModelContent, ModelFinish, ModelMessage, ModelProfile, ModelResponse,
    ModelRole, PortFailure, PortFailureKind, ResourceSnapshot, TokenUsage, ToolReply,
};
use serde_json::{Value, json};

use crate::notation::machine;

const TOOL: &str = "tool a\ntool p parallel\ntool g parallel\npolicy ask g";

const OFFLOADING: &str =
    "window 100000\nsaid assistant a(7)\nsaid tool result(7)long(3000)\nsaid assistant \"x\"
    context reader a\ncompact first\nstart";
const SUMMARIZING: &str = "window 100000\nsaid assistant long(3000)\ncompact first\nstart";
const TELLING_AFTER: &str =
    "window 100000\nsaid assistant long(3000)\nmemory m observes\ncompact first\nstart
    memory none\nsummary \"x\"";
const OVERLONG: &str =
    "window 100000\nsaid assistant long(3000)\nstart\nmodel overlong\nsummary \"x\"";

/// Every place where a run can stand, and how it gets there.
pub(crate) const PLACES: [(&str, &str); 56] = [
    ("new", ""),
    ("resolving_model", "start alone"),
    ("resolving_model, suspending", "start alone\nsuspend"),
    ("loading resources", "with resources\nstart alone"),
    ("loading resources, profile known", "with resources\nstart alone\nprofile"),
    ("collecting_inputs", "with before_cycle\nstart"),
    ("collecting_inputs, suspending", "with before_cycle\nstart\nsuspend"),
    ("preparing, before compaction", "hook h before_memory_compact\nstart"),
    ("preparing, before the model", "hook h before_llm repeatable\nstart"),
    ("preparing, suspending", "hook h before_llm repeatable\nstart\nsuspend"),
    ("awaiting_model", "start"),
    ("awaiting_model, suspending", "start\nsuspend"),
    ("awaiting_model, cancelling", "start\ncancel"),
    ("awaiting_model, out of time", "start\ntime"),
    ("reserving for the model", "budget calls=9\nbudgets wait\nstart"),
    ("reserving for calls", "budget calls=9\nstart\nbudgets wait\nmodel a(1)"),
    (
        "reserving for a call that a hook changed",
        "budget calls=9\nhook h before_tool_call\nstart\nmodel a(1)\nbudgets wait\n\
         hook h patches p(1)",
    ),
    ("reviewing", "hook h after_llm\nstart\nmodel \"x\""),
    ("reviewing, suspending", "hook h after_llm\nstart\nmodel \"x\"\nsuspend"),
    ("checking_answer", "answers\nstart\nmodel \"1\""),
    ("checking_answer, suspending", "answers\nstart\nsuspend\nmodel \"1\"\nresume\nsuspend"),
    ("before hook", "hook h before_tool_call\nstart\nmodel a(1)"),
    ("checking", "schemas wait\nstart\nmodel a(1)"),
    ("consulting", "with approvals\nstart\nmodel a(1)"),
    ("asking", "start\nmodel g(1)"),
    ("running", "start\nmodel a(1) a(2)"),
    ("running, suspending", "start\nmodel a(1) a(2)\nsuspend"),
    ("running, cancelling", "start\nmodel a(1) a(2)\ncancel"),
    ("running, out of time", "start\nmodel a(1) a(2)\ntime"),
    (
        "running, failing",
        "hook h before_tool_call\nstart\nmodel p(1) p(2)\nhook h nothing\nhook h fails",
    ),
    ("running beside one that asks", "start\nmodel p(1) g(2)"),
    (
        "running beside one that is deferred",
        "hook h before_tool_call\nstart\nmodel p(1) p(2)\nhook h patches a(1)\nhook h nothing",
    ),
    ("after hook", "hook h after_tool_call repeatable\nstart\nmodel a(1)\n1 \"x\""),
    ("looking for interruptions", "with interruptions\nstart\nmodel a(1) a(2)\n1 \"x\""),
    (
        "cleared, looking for interruptions",
        "with interruptions\nstart\nmodel g(1)\nanswer 1 approves",
    ),
    ("suspended between cycles", "start alone\nsuspend\nprofile"),
    ("suspended at the model", "start\nsuspend\nmodel halted"),
    ("suspended while asking", "start\nmodel p(1) g(2)\n1 \"x\"\nsuspend"),
    ("recalling", "memory m recalls\nstart"),
    ("recalling, suspending", "memory m recalls\nstart\nsuspend"),
    ("compacting, telling before", "memory m observes\ncompact first\nstart"),
    ("compacting, offloading", OFFLOADING),
    ("compacting, summing up", SUMMARIZING),
    (
        "compacting, suspending",
        "window 100000\nsaid assistant long(300)\ncompact first\nstart\nsuspend",
    ),
    (
        "compacting, cancelling",
        "window 100000\nsaid assistant long(300)\ncompact first\nstart\ncancel",
    ),
    ("compacting, telling after", TELLING_AFTER),
    ("awaiting_model, after an overlong answer", OVERLONG),
    (
        "suspended at a summary",
        "window 100000\nsaid assistant long(300)\ncompact first\nstart\nsuspend\nsummary halted",
    ),
    (
        "running, with a child",
        "sub_agent s \"x\"\nstart\nmodel create_sub_task(1){\"agent_name\":\"s\",\"task_description\":\"x\"} a(2)",
    ),
    (
        "running, waiting for a child",
        "sub_agent s \"x\"\nstart\nmodel create_sub_task(1){\"agent_name\":\"s\",\"task_description\":\"x\",\"background\":true}\n\
         model wait_sub_tasks(2){\"timeout_seconds\":5}",
    ),
    (
        "running, speaking to a child",
        "sub_agent s \"x\"\nstart\nmodel create_sub_task(1){\"agent_name\":\"s\",\"task_description\":\"x\",\"background\":true}\n\
         model steer_sub_task(2){\"task_id\":\"task-1\",\"message\":\"x\"}",
    ),
    (
        "awaiting_children",
        "sub_agent s \"x\"\nstart\nmodel create_sub_task(1){\"agent_name\":\"s\",\"task_description\":\"x\",\"background\":true}\nmodel \"x\"",
    ),
    (
        "awaiting_children, suspending",
        "sub_agent s \"x\"\nstart\nmodel create_sub_task(1){\"agent_name\":\"s\",\"task_description\":\"x\",\"background\":true}\nmodel \"x\"\nsuspend",
    ),
    (
        "closing",
        "sub_agent s \"x\"\ncycles 2\nstart\nmodel create_sub_task(1){\"agent_name\":\"s\",\"task_description\":\"x\",\"background\":true}\nmodel \"x\"",
    ),
    (
        "suspended with a child",
        "sub_agent s \"x\"\nstart\nmodel create_sub_task(1){\"agent_name\":\"s\",\"task_description\":\"x\"}\nsuspend\nchild task-1 suspended",
    ),
    ("ended", "start\nmodel \"x\""),
];

/// The run at one of the places.
pub(crate) fn at(place: usize) -> Machine {
    machine(&format!("{TOOL}\n{}", PLACES[place].1))
}

/// Every input that could come to a run.
pub(crate) fn happenings(run: &Machine) -> Vec<(String, Happened)> {
    let steered =
        |steering_id, prompt: &str| Happened::Steered { steering_id, prompt: prompt.into() };
    let question = run.pending_approvals().first().cloned();
    let decided =
        |request_id: &str, decision| Happened::Decided { request_id: request_id.into(), decision };
    let approved = ApprovalDecision::Approved;
    let mut happenings = vec![
        ("started".to_owned(), Happened::Started),
        ("steered".to_owned(), steered(9, "x")),
        ("steered again".to_owned(), steered(0, "x")),
        ("steered blank".to_owned(), steered(9, " ")),
        ("decided, unknown".to_owned(), decided("r-999", approved.clone())),
        ("cancelled".to_owned(), Happened::Cancelled),
        ("suspended".to_owned(), Happened::Suspended),
        ("resumed".to_owned(), Happened::Resumed),
        ("wall time elapsed".to_owned(), Happened::WallTimeElapsed),
        ("spent below".to_owned(), Happened::SpentBelow { spent: Box::default() }),
    ];
    if let Some(question) = question {
        let denied = ApprovalDecision::Denied { reason: "no".to_owned() };
        happenings.push(("decided, approved".to_owned(), decided(&question, approved)));
        happenings.push(("decided, denied".to_owned(), decided(&question, denied)));
    }
    for (name, outcome) in outcomes() {
        let nobody =
            Happened::Settled { effect: EffectId(999), outcome: Box::new(outcome.clone()) };
        happenings.push((format!("{name} of nothing"), nobody));
        for open in run.pending() {
            let outcome = Box::new(outcome.clone());
            let kind = kind_of(&open.effect);
            let settled = Happened::Settled { effect: open.id, outcome };
            happenings.push((format!("{name} of {kind}"), settled));
        }
    }
    happenings
}

fn kind_of(effect: &runtime_decision::Effect) -> &'static str {
    use runtime_decision::Effect;

    match effect {
        Effect::ResolveProfile { .. } => "profile",
        Effect::CollectCycleInputs(_) => "inputs",
        Effect::RunHook(_) => "hook",
        Effect::CallModel(_) => "model",
        Effect::CheckArguments { .. } => "check",
        Effect::ConsultApprovals(_) => "provider",
        Effect::AwaitApproval(_) => "human",
        Effect::InvokeTool(_) => "tool",
        Effect::CollectInterruptions(_) => "interruptions",
        Effect::LoadResources => "resources",
        Effect::ConsultMemory(_) => "memory",
        Effect::StoreArtifact { .. } => "artifact",
        Effect::Summarize(_) => "summary",
        Effect::Reserve { .. } => "budget",
        Effect::CheckAnswer { .. } => "answer check",
        Effect::RunChild(_) => "child",
        Effect::SteerChild { .. } => "steered child",
        Effect::WaitChildren { .. } => "wait",
    }
}

fn outcomes() -> Vec<(&'static str, Outcome)> {
    let mut outcomes = callback_outcomes();
    outcomes.extend(model_outcomes());
    outcomes.extend(call_outcomes());
    outcomes.extend(context_outcomes());
    outcomes
}

fn failure(kind: PortFailureKind) -> PortFailure {
    PortFailure::in_flight_unknown(kind, "BROKE", "it broke")
}

fn shortage() -> Shortage {
    let budget = BudgetName::ModelCalls;
    Shortage { budget, limit: 2, used: 1, reserved: 1, needed: 1, levels_above: 0 }
}

fn callback_outcomes() -> Vec<(&'static str, Outcome)> {
    let broke = || "it broke".to_owned();
    let hook = Outcome::HookReturned;
    vec![
        ("inputs", Outcome::InputsCollected(Collected::Messages(Vec::new()))),
        ("inputs failed", Outcome::InputsCollected(Collected::Failed(broke()))),
        ("inputs interrupted", Outcome::InputsCollected(Collected::Interrupted)),
        ("interruptions", Outcome::InterruptionsCollected(Collected::Messages(Vec::new()))),
        ("interruptions failed", Outcome::InterruptionsCollected(Collected::Failed(broke()))),
        ("interruptions interrupted", Outcome::InterruptionsCollected(Collected::Interrupted)),
        ("edits of messages", hook(HookVerdict::Messages(Vec::new()))),
        ("edits of a request", hook(HookVerdict::Request(RequestEdits::default()))),
        ("edits of an answer", hook(HookVerdict::Response(Vec::new()))),
        ("edits of a call", hook(HookVerdict::Call(Box::default()))),
        ("edits of a result", hook(HookVerdict::Result(Box::default()))),
        ("hook failed", hook(HookVerdict::Failed(broke()))),
        ("hook interrupted", hook(HookVerdict::Interrupted)),
    ]
}

fn model_outcomes() -> Vec<(&'static str, Outcome)> {
    let reply = |output, finish| {
        let usage = TokenUsage::default();
        let (cost_nano_usd, attempts) = (None, Vec::new());
        Outcome::ModelReplied(Ok(ModelResponse { output, finish, usage, cost_nano_usd, attempts }))
    };
    let unaudited = |output| {
        let (usage, finish) = (TokenUsage::default(), ModelFinish::Stop);
        let (cost_nano_usd, attempts) = (None, Vec::new());
        let response = ModelResponse { output, finish, usage, cost_nano_usd, attempts };
        let failure = failure(PortFailureKind::Unavailable);
        Outcome::ModelRepliedUnaudited { response: Box::new(response), failure }
    };
    let (id, name) = ("1".to_owned(), "a".to_owned());
    let call = ModelContent::ToolUse { id, name, arguments: json!({}) };
    let failed = |kind| Outcome::ModelReplied(Err(failure(kind)));
    let profile = ModelProfile {
        context_window_tokens: 1_000,
        max_input_tokens: 1_000,
        max_output_tokens: None,
        images: false,
        price: None,
    };
    let unavailable = failure(PortFailureKind::Unavailable);
    let resources = ResourceSnapshot::new(vec!["x".to_owned()], BTreeMap::new());
    let profile_failed = |kind| Outcome::ProfileResolved(Err(failure(kind)));
    vec![
        ("profile", Outcome::ProfileResolved(Ok(profile))),
        ("profile failed", profile_failed(PortFailureKind::Unavailable)),
        ("profile canceled", profile_failed(PortFailureKind::Canceled)),
        ("resources", Outcome::ResourcesLoaded(Ok(resources))),
        ("resources failed", Outcome::ResourcesLoaded(Err(unavailable))),
        ("answer", reply(vec![ModelContent::text("x")], ModelFinish::Stop)),
        ("empty answer", reply(Vec::new(), ModelFinish::Stop)),
        ("calls", reply(vec![call.clone()], ModelFinish::ToolCalls)),
        ("cut answer", reply(vec![ModelContent::text("x")], ModelFinish::Length)),
        ("granted", Outcome::Reserved(Ok(Grant::default()))),
        ("not granted", Outcome::Reserved(Err(shortage()))),
        ("model failed", failed(PortFailureKind::Unavailable)),
        ("model canceled", failed(PortFailureKind::Canceled)),
        ("model overlong", failed(PortFailureKind::ContextOverflow)),
        ("unaudited answer", unaudited(Vec::new())),
        ("unaudited calls", unaudited(vec![call])),
    ]
}

fn context_outcomes() -> Vec<(&'static str, Outcome)> {
    let (usage, finish) = (TokenUsage::default(), ModelFinish::Stop);
    let summary = |output| {
        let (cost_nano_usd, attempts) = (None, Vec::new());
        Outcome::Summarized(Ok(ModelResponse { output, finish, usage, cost_nano_usd, attempts }))
    };
    let failed = |kind| Outcome::Summarized(Err(failure(kind)));
    let memory = Outcome::MemoryConsulted;
    vec![
        ("memory", memory(Collected::Messages(Vec::new()))),
        ("memory failed", memory(Collected::Failed("it broke".to_owned()))),
        ("memory interrupted", memory(Collected::Interrupted)),
        ("artifact", Outcome::ArtifactStored(Ok(Digest::of("x".repeat(12_000).as_bytes())))),
        ("artifact failed", Outcome::ArtifactStored(Err(failure(PortFailureKind::Unavailable)))),
        ("artifact canceled", Outcome::ArtifactStored(Err(failure(PortFailureKind::Canceled)))),
        ("summary", summary(vec![ModelContent::text("x")])),
        ("empty summary", summary(Vec::new())),
        ("summary failed", failed(PortFailureKind::Unavailable)),
        ("summary canceled", failed(PortFailureKind::Canceled)),
        ("summary overlong", failed(PortFailureKind::ContextOverflow)),
    ]
}

fn ended(status: RunStatus) -> ChildEnd {
    ChildEnd::Ended(Box::new(ChildResult {
        status,
        final_answer: Some("x".into()),
        wait_reason: None,
        error: None,
        history: [ModelMessage::text(ModelRole::User, "x")].into_iter().collect(),
        spent: Spent::default(),
        exhausted: None,
    }))
}

fn suspended() -> ChildEnd {
    let (stored, used) = ("{}".into(), Box::default());
    ChildEnd::Suspended { stored, pending_approvals: Vec::new(), used }
}

fn call_outcomes() -> Vec<(&'static str, Outcome)> {
    let word = Outcome::ApprovalConsulted;
    let answer = Outcome::ApprovalAnswered;
    let end = Outcome::ToolReturned;
    let child = Outcome::ChildEnded;
    let no = || "no".to_owned();
    let fault = ArgumentFault { path: "/x".to_owned(), reason: "is odd".to_owned() };
    let decided = |decision| answer(ApprovalAnswer::Decided { decision });
    let reply = ToolReply::text("x");
    vec![
        ("answer good", Outcome::AnswerChecked(Ok(()))),
        ("answer at fault", Outcome::AnswerChecked(Err(fault.clone()))),
        ("arguments fine", Outcome::ArgumentsChecked(Ok(()))),
        ("arguments at fault", Outcome::ArgumentsChecked(Err(fault))),
        ("provider passes", word(Consultation::NotNeeded)),
        ("provider approves", word(Consultation::Approved)),
        ("provider asks", word(Consultation::NeedsApproval)),
        ("provider denies", word(Consultation::Denied { reason: no() })),
        ("provider lapses", word(Consultation::TimedOut { reason: no() })),
        ("provider failed", word(Consultation::Failed { message: no() })),
        ("provider interrupted", word(Consultation::Interrupted)),
        ("human approves", decided(ApprovalDecision::Approved)),
        ("human allows for the run", decided(ApprovalDecision::ApprovedForRun)),
        ("human denies", decided(ApprovalDecision::Denied { reason: no() })),
        ("human lapses", answer(ApprovalAnswer::TimedOut)),
        ("human shrugs", answer(ApprovalAnswer::Unresolved)),
        ("human unreachable", answer(ApprovalAnswer::BrokerFailed { message: no() })),
        ("tool replied", end(ToolEnd::Replied(Box::new(ToolOutput { reply, artifact: None })))),
        ("tool failed", end(ToolEnd::Failed(failure(PortFailureKind::Unavailable)))),
        ("tool timed out", end(ToolEnd::TimedOut)),
        ("tool cancelled", end(ToolEnd::Cancelled)),
        ("tool panicked", end(ToolEnd::Panicked)),
        ("child ended", child(ended(RunStatus::Completed))),
        ("child failed", child(ended(RunStatus::Failed))),
        ("child suspended", child(suspended())),
        ("child not started", child(ChildEnd::NotStarted { message: "no".into() })),
        ("child broke down", child(ChildEnd::BrokeDown { message: "no".into() })),
        ("child lost", child(ChildEnd::Lost { message: "no".into() })),
        ("child heard", Outcome::ChildSteered(Ok(()))),
        ("child did not hear", Outcome::ChildSteered(Err(no()))),
        ("wait over", Outcome::WaitOver),
    ]
}

/// What comes of one input: the next place, or why it was refused.
fn outcome_of(run: &Machine, happened: Happened) -> String {
    let (mut run, before, mut out) = (run.clone(), run.to_json(), Out::default());
    match run.handle(Input { at_ms: 1, happened }, &mut out) {
        Ok(()) => place_of(&run),
        Err(refused) => {
            assert_eq!(before, run.to_json(), "a refused input changed something: {refused}");
            let name = format!("{refused:?}");
            format!("refused, {}", name.split(' ').next().unwrap_or_default())
        }
    }
}

/// Phase, stages of the calls, and what the run is about to do.
fn place_of(run: &Machine) -> String {
    let stored: Value = serde_json::from_slice(&run.to_json()).expect("JSON");
    let state = &stored["state"];
    let stop = state["stop"]["why"].as_str().map(|why| format!(", about to {why}"));
    format!("{}{}", phase_of(&state["phase"]), stop.unwrap_or_default())
}

fn phase_of(phase: &Value) -> String {
    let name = phase["is"].as_str().expect("a phase");
    let inside = &phase["with"];
    match name {
        "suspended" => format!("suspended at {}", phase_of(inside)),
        "ended" => format!("ended, {}", inside["status"].as_str().expect("a status")),
        "compacting" => format!("compacting, {}", inside["step"].as_str().expect("a step")),
        "preparing" => format!("preparing {}", inside["point"].as_str().expect("a point")),
        "running_tools" => {
            let calls = inside["calls"].as_array().expect("calls").iter();
            let stages: Vec<_> = calls.filter_map(|call| call["stage"].as_str()).collect();
            format!("running_tools [{}]", stages.join(" "))
        }
        name => name.to_owned(),
    }
}

fn grid() -> String {
    let mut grid = String::new();
    for (place, (name, _)) in PLACES.iter().enumerate() {
        let run = at(place);
        grid.push_str(&format!("\n{name}: {}\n", place_of(&run)));
        let mut rows = BTreeMap::<String, Vec<String>>::new();
        for (input, happened) in happenings(&run) {
            rows.entry(outcome_of(&run, happened)).or_default().push(input);
        }
        for (outcome, inputs) in rows {
            let inputs = match &*outcome {
                "refused, NotOpen" | "refused, WrongOutcome" => counted(&inputs),
                _ => inputs,
            };
            grid.push_str(&format!("  {outcome}\n{}", wrapped(&inputs)));
        }
    }
    grid
}

/// How many outcomes of each effect, since they are many and alike.
fn counted(inputs: &[String]) -> Vec<String> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for input in inputs {
        let (_, effect) = input.rsplit_once(" of ").expect("an outcome of an effect");
        *counts.entry(effect).or_default() += 1;
    }
    counts.iter().map(|(effect, count)| format!("{count} outcomes of {effect}")).collect()
}

fn wrapped(inputs: &[String]) -> String {
    let mut lines = vec![String::new()];
    for input in inputs {
        let line = lines.last_mut().expect("a line");
        if !line.is_empty() && line.len() + input.len() > 88 {
            lines.push(input.clone());
        } else {
            line.push_str(if line.is_empty() { "" } else { "; " });
            line.push_str(input);
        }
    }
    lines.iter().map(|line| format!("      {line}\n")).collect()
}

#[test]
fn every_input_is_accounted_for_at_every_place() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules/grid.txt");
    let actual = grid();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, &actual).expect("the grid is written");
    }
    let expected = fs::read_to_string(&file).expect("the grid");
    let changed: Vec<_> =
        actual.lines().zip(expected.lines()).filter(|(left, right)| left != right).collect();
    assert!(actual == expected, "the grid has changed; the first lines: {:#?}", changed.first());
}

/// The places stand at every phase and at every stage of a call that can be waited at.
#[test]
fn the_places_are_complete() {
    let grid = grid();
    let starts: Vec<_> =
        grid.lines().filter(|line| !line.starts_with(' ') && !line.is_empty()).collect();
    let phases = [
        "new",
        "resolving_model",
        "between_cycles",
        "collecting_inputs",
        "before_memory_compact",
        "before_llm",
        "recalling",
        "before",
        "offloading",
        "summarizing",
        "after",
        "awaiting_model",
        "reviewing",
        "awaiting_children",
        "closing",
        "suspended",
        "ended",
        "waiting",
        "before_hook",
        "checking",
        "consulting",
        "asking",
        "cleared",
        "deferred",
        "admitting",
        "running",
        "after_hook",
        "done",
        "suspend",
        "budget",
        "fail",
        "cancel",
    ];
    for phase in phases {
        assert!(starts.iter().any(|start| start.contains(phase)), "no place at {phase}");
    }
}

//! Decides whether what is stored and sent keeps its form, and whether a damaged run is refused.
//!
//! The files in `golden` are promises: a stored run must load for ever. With `UPDATE=1` they are
//! written anew, which is a change of version.

use std::{fs, path::PathBuf, sync::Arc};

use proptest::prelude::*;
use runtime_decision::{
    Effect, Event, Happened, Input, LoadError, Machine, Plan, ResultStatus, RunEvent, RunIdentity,
    STORED_RUN_VERSION,
};
use runtime_ports::{TokenUsage, ToolDirective};
use serde_json::{Value, json};

use crate::{
    grid,
    notation::{definition, machine},
    random::{Dice, World},
};

/// A run at a question, with a result beside it, something said, and state written.
const SUSPENDED: &str = r#"
    instructions "be kind"
    workspace w
    tool delete parallel
    tool list parallel read
    policy ask delete
    hook h before_llm after_tool_call repeatable
    meta {"who":"task"}
    state {"seen":1}
    at 1000
    start
    hook h nothing
    model "I delete é" delete(1){"path":"é"} list(2) delete(3){"path":"b"} usage 10 5
    2 "a b" state {"seen":2} meta {"count":2}
    hook h nothing
    suspend
    steer "softly"
    at 2000
    approve 3
"#;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/rules/golden").join(name)
}

fn assert_golden(name: &str, actual: &str) {
    if std::env::var_os("UPDATE").is_some() {
        fs::write(golden(name), actual).expect("the file is written");
    }
    let expected = fs::read_to_string(golden(name)).expect("a golden file");
    assert_eq!(actual, expected.trim_end(), "{name} has changed; that is another version");
}

#[test]
fn s05_a_suspended_run_is_stored_in_this_form() {
    let stored = machine(SUSPENDED).to_json();
    assert_golden("suspended-run-2.json", &String::from_utf8(stored).expect("UTF-8"));
}

#[test]
fn s05_a_run_that_was_stored_long_ago_loads_and_goes_on() {
    let stored = fs::read(golden("suspended-run-2.json")).expect("a golden file");
    let plan = Arc::clone(machine(SUSPENDED).plan());
    let loaded = Machine::from_json(plan, stored.trim_ascii_end()).expect("a stored run");
    assert_eq!(loaded.pending_approvals().len(), 1);
    let mut world = World::of(loaded);
    world.give(Happened::Resumed).expect("a suspended run is resumed");
    world.bring_to_an_end();
    let result = world.machine.result().expect("a result");
    assert_eq!(result.final_answer.as_deref(), Some("done"));
    assert_eq!(result.shared_state["seen"], 2);
}

#[test]
fn s10_events_have_these_names_and_fields() {
    let events = events().into_iter().enumerate().map(|(place, event)| RunEvent {
        version: runtime_decision::EVENT_VERSION,
        identity: Arc::new(RunIdentity {
            session_id: Some("session".into()),
            parent_run_id: Some("parent".into()),
            parent_tool_call_id: Some("call".into()),
            ..RunIdentity::root("run", "task", "agent")
        }),
        sequence: place as u64 + 1,
        delta: event.is_delta().then_some(1),
        at_ms: 1_000,
        cycle: Some(2),
        event,
    });
    let lines = events.map(|event| {
        let line = serde_json::to_string(&event).expect("JSON");
        assert_eq!(serde_json::from_str::<RunEvent>(&line).expect("an event"), event);
        assert!(line.contains(&format!("\"event\":\"{}\"", event.event.name())), "{line}");
        line
    });
    assert_golden("events-1.jsonl", &lines.collect::<Vec<_>>().join("\n"));
}

fn events() -> Vec<Event> {
    let mut events = told_of_cycles();
    events.extend(told_of_calls());
    events.extend(told_of_ends());
    events
}

fn told_of_cycles() -> Vec<Event> {
    let call = runtime_decision::Call {
        id: "1".into(),
        name: "a".into(),
        arguments: Arc::new(json!({"x": "é"})),
    };
    vec![
        Event::RunStarted { model: "m".into(), workspace: Some("w".into()), max_cycles: 8 },
        Event::CycleInjectedMessages { reason: "steering".into(), message_count: 1 },
        Event::SessionSteerDequeued { steering_id: 1, prompt: "softly".into() },
        Event::CycleStarted { max_cycles: 8, message_count: 3 },
        Event::CycleLlmResponse {
            assistant_message: "hm".into(),
            tool_calls: [call].into(),
            tool_call_names: vec!["a".into()],
            tool_call_count: 1,
            memory_compacted: false,
            token_usage: TokenUsage { input_tokens: Some(3), ..TokenUsage::default() },
        },
        Event::MemoryCompactStarted {
            message_count: 9,
            prompt_tokens: 800,
            budget_tokens: Some(1_000),
        },
        Event::MemoryCompactCompleted {
            messages_before: 9,
            messages_after: 4,
            prompt_tokens: 300,
            levels: vec!["micro".into(), "summary".into()],
        },
        Event::AssistantDelta { text: "h".into() },
        Event::ReasoningDelta { text: "h".into() },
        Event::ToolCallDelta { index: 0, tool_call_id: "1".into(), tool_name: "a".into() },
        Event::ToolArgumentsDelta { index: 0, fragment: "{".into() },
        Event::AnswerRestarted,
    ]
}

fn told_of_calls() -> Vec<Event> {
    let (tool_name, tool_call_id) = (Arc::<str>::from("a"), Arc::<str>::from("1"));
    let tool_arguments = Arc::new(json!({"x": "é"}));
    let request_id = Arc::<str>::from("run-4");
    let after = (Arc::clone(&tool_call_id), Arc::clone(&tool_name));
    vec![
        Event::ToolCallPlanned {
            tool_name: Arc::clone(&tool_name),
            tool_arguments: Arc::clone(&tool_arguments),
            tool_call_id: Arc::clone(&tool_call_id),
        },
        Event::ApprovalRequested {
            request_id: Arc::clone(&request_id),
            tool_call_id: Arc::clone(&tool_call_id),
            tool_name: Arc::clone(&tool_name),
            preview: "a {\"x\":\"é\"}".into(),
            digest: "00".into(),
        },
        Event::ApprovalResolved {
            request_id,
            tool_call_id: Arc::clone(&tool_call_id),
            tool_name: Arc::clone(&tool_name),
            approved: false,
            error_code: Some("approval_denied".into()),
        },
        Event::ToolCallStarted {
            tool_name: Arc::clone(&tool_name),
            tool_arguments: Arc::clone(&tool_arguments),
            tool_call_id: Arc::clone(&tool_call_id),
        },
        Event::ToolResult {
            tool_name,
            tool_arguments,
            tool_call_id,
            status: ResultStatus::Error,
            directive: ToolDirective::Finish,
            error_code: Some("tool_timeout".into()),
            content: "one".into(),
            metadata: Arc::default(),
        },
        Event::SessionSteerInterrupt {
            steering_id: 1,
            after_tool_call_id: Arc::clone(&after.0),
            after_tool_name: Arc::clone(&after.1),
            prompt: "softly".into(),
        },
        Event::RunSteered {
            after_tool_call_id: after.0,
            after_tool_name: after.1,
            prompt_count: 1,
            steering_count: 2,
        },
    ]
}

fn told_of_ends() -> Vec<Event> {
    vec![
        Event::RunSuspended { pending_approvals: vec!["run-4".into()] },
        Event::RunResumed,
        Event::RunCompleted { final_answer: "done".into() },
        Event::RunWaitUser { wait_reason: "which?".into() },
        Event::RunMaxCycles { final_answer: "hm".into(), error: "used up".into() },
        Event::RunCancelled { error: "cancelled".into() },
        Event::RunFailed { error: "broke".into(), error_code: "model_failed".into() },
        Event::BudgetExhausted {
            budget: "wall_time".into(),
            error: "used up".into(),
            limit: 60_000,
            used: 60_001,
        },
    ]
}

#[test]
fn inputs_have_these_names_and_fields() {
    let run = machine("tool g\npolicy ask g\nstart\nmodel g(1)");
    let happenings = grid::happenings(&run).into_iter();
    let kept = happenings.filter(|(name, _)| !name.ends_with(" of human"));
    let lines = kept.map(|(_, happened)| {
        let input = Input { at_ms: 1, happened };
        let line = serde_json::to_string(&input).expect("JSON");
        assert_eq!(serde_json::from_str::<Input>(&line).expect("an input"), input);
        line
    });
    assert_golden("inputs-1.jsonl", &lines.collect::<Vec<_>>().join("\n"));
}

fn load(stored: &Value) -> Result<Machine, LoadError> {
    let plan = Arc::clone(machine(SUSPENDED).plan());
    Machine::from_json(plan, stored.to_string().as_bytes())
}

fn stored() -> Value {
    serde_json::from_slice(&machine(SUSPENDED).to_json()).expect("JSON")
}

#[test]
fn another_version_is_refused_by_its_number() {
    let mut other = stored();
    other["version"] = json!(3);
    other["news"] = json!(true);
    let refused = load(&other).expect_err("another version");
    assert_eq!(refused, LoadError::Version { found: 3, known: STORED_RUN_VERSION });
}

#[test]
fn another_definition_is_refused_with_both_digests() {
    let plan = Arc::new(Plan::new(definition()).expect("a definition"));
    let offered = plan.digest().to_string();
    let found = machine(SUSPENDED).plan().digest().to_string();
    let refused = Machine::from_json(plan, &machine(SUSPENDED).to_json()).map(|_| ());
    assert_eq!(refused, Err(LoadError::OtherDefinition { found, offered }));
}

#[test]
fn unknown_fields_are_refused_and_never_repeated() {
    for path in
        ["", "/state", "/state/terms", "/state/phase/with/with", "/state/phase/with/with/calls/0"]
    {
        let mut other = stored();
        let place = other.pointer_mut(path).expect("a place");
        place["secret é"] = json!("hunter2");
        let refused = load(&other).expect_err("an unknown field").to_string();
        assert!(refused.starts_with("this is no stored run, or it is damaged"), "{refused}");
        assert!(!refused.contains("secret") && !refused.contains("hunter2"), "{refused}");
    }
}

/// What was approved is what runs, also when somebody else wrote the file meanwhile.
#[test]
fn s05_an_approval_releases_no_other_arguments_in_a_stored_run() {
    let mut other = stored();
    let call = other.pointer_mut("/state/phase/with/with/calls/2/patched").expect("a call");
    call["arguments"]["path"] = json!("/");
    other["state"]["steering"] = json!([]);
    let mut world = World::of(load(&other).expect("a run"));
    world.give(Happened::Resumed).expect("a suspended run is resumed");
    world.bring_to_an_end();
    let mut told = world.record.events().map(|told| &told.event);
    assert!(told.any(|event| matches!(
        event,
        Event::ToolResult { tool_call_id, error_code: Some(code), .. }
            if &**tool_call_id == "3" && &**code == "approval_denied"
    )));
    let runs = world.record.asked().filter(|asked| match &asked.effect {
        Effect::InvokeTool(work) => &*work.invocation.call_id == "3",
        _ => false,
    });
    assert_eq!(runs.count(), 0, "other arguments ran than those that were approved");
}

#[test]
fn every_truncation_is_refused() {
    let whole = machine(SUSPENDED).to_json();
    let plan = Arc::clone(machine(SUSPENDED).plan());
    for length in 0..whole.len() {
        let loaded = Machine::from_json(Arc::clone(&plan), &whole[..length]);
        assert!(matches!(loaded, Err(LoadError::Malformed { .. })), "{length} bytes");
    }
}

/// Where a run stands, where it is damaged, and what is written there.
const DAMAGES: [(&str, &str, &str); 49] = [
    ("running", "/phase/with/group", "[0,2]"),
    ("running", "/phase/with/group", "[1,2]"),
    ("running", "/phase/with/group", "[0,3]"),
    ("running", "/phase/with/group", "[1,0]"),
    ("running", "/phase/with/group", "[0,0]"),
    ("running", "/phase/with/calls/0/key", "null"),
    ("running", "/phase/with/calls/0/key", "999"),
    ("running", "/phase/with/calls/0/stage", "\"done\""),
    ("running", "/phase/with/calls/0/stage", "\"asking\""),
    ("running", "/phase/with/calls/1/stage", "\"running\""),
    ("running", "/phase/with/calls/0/patched", "null"),
    ("running", "/phase/with/calls/0/patched/name", "\"none\""),
    ("running", "/phase/with/calls/0/patched/arguments", "5"),
    ("running", "/phase/with/calls", "[]"),
    ("running", "/phase/with/steered", r#"{"after":9,"prompts":[],"interruptions":[]}"#),
    ("running", "/open", "[]"),
    ("running", "/open/0/id", "999"),
    ("running", "/open/0/id", "0"),
    ("running", "/open/0/standing", "\"held\""),
    ("running", "/open/0/standing", "\"due\""),
    ("running", "/open/0/ask/tool/call", "7"),
    ("running", "/cycle", "0"),
    ("running", "/cycle", "9"),
    ("running", "/terms/maxCycles", "0"),
    ("running", "/lastId", "18446744073709551615"),
    ("running", "/sequence", "18446744073709551615"),
    ("running", "/records/0/1", "[1,99]"),
    ("running", "/steering", r#"[{"steeringId":5,"prompt":"x"}]"#),
    ("asking", "/phase/with/calls/0/approval", "null"),
    ("asking", "/phase/with/calls/0/approval/number", "999"),
    ("reserving for a call that a hook changed", "/reservations/0/id", "0"),
    ("reserving for a call that a hook changed", "/reservations/0/id", "999"),
    ("reserving for a call that a hook changed", "/reservations/0/spending", "\"model\""),
    ("reserving for a call that a hook changed", "/terms/budgeted", "false"),
    ("reserving for a call that a hook changed", "/phase/with/isAdmitted", "false"),
    ("reserving for calls", "/open/0/ask/reserve/spending", "\"summary\""),
    ("reserving for the model", "/open/0/ask/reserve/spending", "\"batch\""),
    ("reviewing", "/open/0/ask/hook/hook", "7"),
    ("preparing, before the model", "/phase/with/point", "\"after_llm\""),
    ("after hook", "/phase/with/calls/0/result", "null"),
    ("loading resources", "/open/1/ask", "\"profile\""),
    ("loading resources, profile known", "/open/0/ask", "\"profile\""),
    ("checking_answer", "/open/0/ask", "\"model\""),
    ("compacting, telling after", "/context/fixed", "18446744073709551615"),
    ("compacting, telling after", "/context/head", "[]"),
    ("compacting, telling before", "/phase/with/halvings", "64"),
    ("compacting, offloading", "/phase/with/halvings", "64"),
    ("awaiting_model, after an overlong answer", "/phase/with/overlong", "4294967295"),
    ("recalling", "/phase/with", r#"{"edits":[],"hidden":[],"recalled":18446744073709551615}"#),
];

#[test]
fn each_of_these_damages_is_refused() {
    for (name, pointer, value) in DAMAGES {
        let place = grid::PLACES.iter().position(|(place, _)| *place == name).expect("a place");
        let run = grid::at(place);
        let mut stored: Value = serde_json::from_slice(&run.to_json()).expect("JSON");
        let damaged = stored["state"].pointer_mut(pointer);
        *damaged.unwrap_or_else(|| panic!("{name} has no {pointer}")) =
            serde_json::from_str(value).expect("JSON");
        let loaded = Machine::from_json(Arc::clone(run.plan()), stored.to_string().as_bytes());
        let is_refused = matches!(loaded, Err(LoadError::Malformed { .. }));
        assert!(is_refused, "{name} with {value} at {pointer} was taken up");
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(5_000))]

    #[test]
    fn a_run_with_bytes_changed_is_refused_or_harmless(
        place in 0..grid::PLACES.len(),
        changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..4),
    ) {
        let run = grid::at(place);
        let mut bytes = run.to_json();
        for (at, byte) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] ^= byte;
        }
        harmless(&run, &bytes);
    }

    #[test]
    fn a_run_with_values_changed_is_refused_or_harmless(
        place in 0..grid::PLACES.len(),
        rolls in proptest::collection::vec(any::<u16>(), 8..40),
    ) {
        let run = grid::at(place);
        let mut stored: Value = serde_json::from_slice(&run.to_json()).expect("JSON");
        let mut dice = Dice::new(&rolls);
        for _ in 0..=dice.roll(2) {
            change(&mut stored["state"], &mut dice);
        }
        harmless(&run, stored.to_string().as_bytes());
    }
}

/// Changes one value somewhere below.
fn change(value: &mut Value, dice: &mut Dice<'_>) {
    let goes_deeper = dice.roll(8) != 7;
    match value {
        Value::Object(object) if goes_deeper && !object.is_empty() => {
            let place = dice.roll(object.len());
            let key = object.keys().nth(place).expect("a key").clone();
            match dice.roll(12) {
                11 => drop(object.remove(&key)),
                _ => change(object.get_mut(&key).expect("a value"), dice),
            }
        }
        Value::Array(items) if goes_deeper && !items.is_empty() => {
            let place = dice.roll(items.len());
            match dice.roll(8) {
                6 => drop(items.remove(place)),
                7 => items.push(items[place].clone()),
                _ => change(&mut items[place], dice),
            }
        }
        value => *value = other(value, dice),
    }
}

/// Another value, mostly one that could stand there.
fn other(value: &Value, dice: &mut Dice<'_>) -> Value {
    let stages = [
        "waiting",
        "before_hook",
        "checking",
        "consulting",
        "asking",
        "cleared",
        "deferred",
        "running",
        "after_hook",
        "done",
        "held",
        "asked",
        "due",
        "a",
        "p",
        "g",
        "none",
    ];
    match (value, dice.roll(6)) {
        (Value::String(_), 0..5) => json!(stages[dice.roll(stages.len())]),
        (Value::Number(_), 0..4) => json!(dice.roll(9)),
        (Value::Number(_), 4) => json!(u64::MAX - dice.roll(2) as u64),
        (Value::Bool(value), _) => json!(!value),
        (_, 5) => json!({}),
        (_, 4) => json!([]),
        _ => Value::Null,
    }
}

/// What is loaded all the same can be asked anything, and comes to an end.
fn harmless(run: &Machine, bytes: &[u8]) {
    let Ok(loaded) = Machine::from_json(Arc::clone(run.plan()), bytes) else { return };
    let _ = (loaded.pending(), loaded.pending_approvals(), loaded.result());
    for (_, happened) in grid::happenings(&loaded) {
        let mut taken = World::of(loaded.clone());
        let _ = taken
            .machine
            .handle(Input { at_ms: u64::MAX, happened }, &mut runtime_decision::Out::default());
        let _ = (taken.machine.pending(), taken.machine.to_json());
    }
    let mut world = World::of(loaded);
    let first = match world.machine.is_new() {
        true => Happened::Started,
        false => Happened::Resumed,
    };
    if world.machine.status().is_none() {
        world.give(first).expect("a run that was loaded goes on");
        world.bring_to_an_end();
    }
}

//! Decides whether what is told of a run comes in order, with the fields that were promised
//! (section 10).

use std::{fs, path::Path};

use runtime_decision::{Happened, Input, Out};
use serde_json::Value;

use crate::{
    grid,
    notation::{check, machine},
};

#[test]
fn s10_the_order_on_the_happy_path() {
    check(
        r#"
        tool a
        start alone
        profile
        model "hm" a(1)
        1 "one"
        model "done"
        "#,
        r#"
        > run_started | -> profile
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "hm" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "hm" a(1) | tool result(1) "one" | assistant "done"
        "#,
    );
}

#[test]
fn s10_nothing_is_told_after_the_end() {
    let ends = [
        "start\nmodel \"done\"",
        "start\nmodel fails",
        "start\ncancel\nmodel halted",
        "start\ntime\nmodel halted",
        "cycles 1\ntool a\nstart\nmodel a(1)\n1 \"one\"",
        "silence waits\nstart\nmodel \"which?\"",
    ];
    for script in ends {
        let mut run = machine(script);
        assert!(run.status().is_some(), "{script} does not end");
        for (name, happened) in grid::happenings(&run) {
            let mut out = Out::default();
            let refused = run.handle(Input { at_ms: 9, happened }, &mut out);
            assert!(refused.is_err(), "{name} was taken after the end");
            assert!(out.events.is_empty() && out.effects.is_empty(), "{name} was heard");
        }
    }
}

#[test]
fn s10_a_segment_ends_with_its_suspension_and_numbers_go_on() {
    let mut run = machine("start\nsuspend\nmodel halted");
    let (before, mut out) = (run.sequence(), Out::default());
    let input = Input { at_ms: 5, happened: Happened::Resumed };
    run.handle(input, &mut out).expect("a suspended run is resumed");
    let numbers: Vec<_> =
        out.events.iter().map(|told| (told.sequence, told.event.name())).collect();
    assert_eq!(numbers, [(before + 1, "run_resumed")]);
    assert_eq!(out.events[0].at_ms, 5);
}

/// By event, the fields that the rules name, beside those that every event has.
const FIELDS: [(&str, &str); 20] = [
    ("run_started", "model workspace max_cycles"),
    ("run_cancelled", "error"),
    ("cycle_injected_messages", "reason message_count"),
    ("session_steer_dequeued", "prompt"),
    ("cycle_started", "max_cycles message_count"),
    (
        "cycle_llm_response",
        "assistant_message tool_calls tool_call_names tool_call_count memory_compacted token_usage",
    ),
    ("tool_call_planned", "tool_name tool_arguments tool_call_id"),
    ("tool_call_started", "tool_name tool_arguments tool_call_id"),
    ("approval_requested", "request_id tool_call_id tool_name preview"),
    ("approval_resolved", "request_id tool_call_id tool_name approved"),
    (
        "tool_result",
        "tool_name tool_arguments tool_call_id status directive error_code content metadata",
    ),
    ("session_steer_interrupt", "after_tool_call_id after_tool_name prompt"),
    ("run_steered", "after_tool_call_id after_tool_name prompt_count steering_count"),
    ("run_suspended", "pending_approvals"),
    ("run_resumed", ""),
    ("run_completed", "final_answer"),
    ("run_wait_user", "wait_reason"),
    ("run_max_cycles", "final_answer error"),
    ("run_failed", "error error_code"),
    ("budget_exhausted", "error"),
];

const ENVELOPE: &str = "version run_id trace_id session_id parent_run_id parent_tool_call_id \
                        task_id agent_name sequence at_ms cycle event";

#[test]
fn s10_every_event_has_its_fields() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules/golden/events-1.jsonl");
    let text = fs::read_to_string(file).expect("the events");
    let told: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    for (name, fields) in FIELDS {
        let event = told.iter().find(|event| event["event"] == name);
        let event = event.unwrap_or_else(|| panic!("no {name} among the events"));
        for field in ENVELOPE.split_whitespace().chain(fields.split_whitespace()) {
            assert!(event.get(field).is_some(), "{name} lacks {field}");
        }
    }
}

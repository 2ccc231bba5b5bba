//! Decides whether what is left of a run is whole, and true of what happened.
//!
//! Knows results, events and the world of probes; refuses to know what the run was about.

use std::{collections::BTreeMap, sync::Arc};

use runtime_kernel::engine::{CancelReport, Event, RunEvent, RunResult, RunStatus, ToolRecord};
use runtime_ports::{CommitDisposition, ModelContent, ModelMessage};

use crate::probe::World;

/// Every call has exactly one result, right behind its message and in call order; no result is
/// without a call.
pub(crate) fn assert_paired(result: &RunResult) {
    let messages: Vec<ModelMessage> = result.history.messages().cloned().collect();
    let mut place = 0;
    while place < messages.len() {
        let calls = ids(&messages[place], call_id);
        assert_eq!(ids(&messages[place], result_id), [] as [String; 0], "a result without a call");
        let behind = messages[place + 1..].iter().take(calls.len());
        let results: Vec<String> = behind.flat_map(|message| ids(message, result_id)).collect();
        assert_eq!(results, calls, "results of message {place}: {messages:#?}");
        place += 1 + calls.len();
    }
}

fn ids(message: &ModelMessage, id: fn(&ModelContent) -> Option<&String>) -> Vec<String> {
    message.content.iter().filter_map(id).cloned().collect()
}

fn call_id(content: &ModelContent) -> Option<&String> {
    match content {
        ModelContent::ToolUse { id, .. } => Some(id),
        _ => None,
    }
}

fn result_id(content: &ModelContent) -> Option<&String> {
    match content {
        ModelContent::ToolResult { tool_use_id, .. } => Some(tool_use_id),
        _ => None,
    }
}

/// What is said of each call, by its id.
pub(crate) fn records(result: &RunResult) -> BTreeMap<String, ToolRecord> {
    let records = result.cycles.iter().flat_map(|cycle| cycle.tool_results.iter().cloned());
    records.map(|record| (record.tool_call_id.to_string(), record)).collect()
}

/// No effect took place twice, and none is said to have taken place, or not to, against the truth.
pub(crate) fn assert_true(result: &RunResult, world: &World) {
    for (id, record) in records(result) {
        let applied = world.applied(&id);
        assert!(applied <= 1, "{id} took effect {applied} times");
        let said = match (&record.error_code, record.commit) {
            (None, _) | (_, Some(CommitDisposition::Committed)) => Some(1),
            (_, Some(CommitDisposition::NotCommitted)) => Some(0),
            (_, Some(CommitDisposition::Unknown) | None) => None,
        };
        assert!(said.is_none_or(|said| said == applied), "{id} took effect {applied}: {record:?}");
    }
}

/// The events of all segments together: gapless, with one terminal event, which is the last.
pub(crate) fn assert_told_whole(events: &[Arc<RunEvent>], status: RunStatus) {
    let sequences: Vec<u64> = events.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, (1..=events.len() as u64).collect::<Vec<_>>());
    let terminal = events.iter().filter(|event| event.event.is_terminal()).count();
    let last = events.last().expect("an event").event.name();
    assert_eq!((terminal, last), (1, terminal_name(status)));
    for (place, event) in events.iter().enumerate() {
        let opens_next = events.get(place + 1).is_none_or(|e| e.event.name() == "run_resumed");
        assert!(!event.event.is_last() || opens_next, "an event after {}", event.event.name());
    }
}

const fn terminal_name(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Completed => "run_completed",
        RunStatus::WaitUser => "run_wait_user",
        RunStatus::MaxCycles => "run_max_cycles",
        RunStatus::Cancelled => "run_cancelled",
        RunStatus::Failed => "run_failed",
        RunStatus::BudgetExhausted => "budget_exhausted",
    }
}

/// Each question has its one answer.
pub(crate) fn assert_questions_closed(events: &[Arc<RunEvent>]) {
    let count = |name: &str| events.iter().filter(|event| event.event.name() == name).count();
    assert_eq!(count("approval_requested"), count("approval_resolved"));
}

/// What a report says of tools agrees with their records, and leaves none of them out that had no
/// result before.
pub(crate) fn assert_report(report: &CancelReport, result: &RunResult, before: &[Arc<RunEvent>]) {
    assert_eq!(report.status, result.status);
    for (id, record) in records(result) {
        let is_named = |names: &[String]| names.iter().filter(|name| is_tool(name, &id)).count();
        let (settled, unknown) = (is_named(&report.settled), is_named(&report.unknown));
        assert!(settled + unknown <= 1, "{id} is named twice in {report:?}");
        let is_unknown = record.commit == Some(CommitDisposition::Unknown);
        assert!(!is_unknown || settled == 0, "{id} is unknown, and settled in {report:?}");
        assert!(is_unknown || unknown == 0, "{id} is known, and unknown in {report:?}");
        let was_told =
            record.error_code.as_deref() == Some("tool_cancelled") && !has_result(before, &id);
        assert!(!was_told || settled + unknown == 1, "{id} was at work, unlike {report:?}");
    }
    let loose = report.still_running.iter().find(|name| !report.unknown.contains(name));
    assert_eq!(loose, None, "it still runs, and is not unknown");
}

fn has_result(events: &[Arc<RunEvent>], id: &str) -> bool {
    events.iter().any(|event| match &event.event {
        Event::ToolResult { tool_call_id, .. } => **tool_call_id == *id,
        _ => false,
    })
}

fn is_tool(name: &str, id: &str) -> bool {
    name.starts_with("tool ") && name.ends_with(&format!(" ({id})"))
}

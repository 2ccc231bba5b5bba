//! What a person sees of sub-agents and of a memory that is compacted.

use std::sync::Arc;

use runtime_kernel::engine::{EVENT_VERSION, Event, ResultStatus, RunEvent, RunIdentity};
use runtime_ports::ToolDirective;
use serde_json::json;

use super::*;
use crate::{
    panel::staging::Paper,
    screen::Screen,
    show::{Manner, Show},
    told::Told,
};

/// A run by its name, below another one.
fn identity(run: &str, parent: Option<&str>) -> Arc<RunIdentity> {
    let root = RunIdentity::root(run, "task", "agent");
    Arc::new(RunIdentity { parent_run_id: parent.map(Into::into), ..root })
}

/// What is shown of these events of these runs.
fn shown(events: impl IntoIterator<Item = (Arc<RunIdentity>, Event)>) -> String {
    let paper = Paper::default();
    let person = Person::new(Arc::new(Screen::above(paper.panel())), Manner::Talk);
    for (identity, event) in events {
        let event = RunEvent {
            version: EVENT_VERSION,
            identity,
            sequence: 1,
            delta: None,
            at_ms: 0,
            cycle: Some(1),
            event,
        };
        person.show(Told::Happened(&event));
    }
    paper.text()
}

fn planned(call: &str, tool: &str) -> Event {
    Event::ToolCallPlanned {
        tool_name: tool.into(),
        tool_arguments: Arc::new(json!({ "path": "a.md" })),
        tool_call_id: call.into(),
    }
}

fn result(call: &str, tool: &str) -> Event {
    Event::ToolResult {
        tool_name: tool.into(),
        tool_arguments: Arc::new(json!({})),
        tool_call_id: call.into(),
        status: ResultStatus::Success,
        directive: ToolDirective::Continue,
        error_code: None,
        content: "done".into(),
        metadata: Arc::default(),
    }
}

fn begins(run: &str, name: &str, background: bool) -> Event {
    Event::SubRunStarted {
        tool_call_id: "c1".into(),
        sub_run_id: run.into(),
        sub_agent_name: name.into(),
        task_id_hint: "check the\u{1b}[2J docs".into(),
        background,
    }
}

fn ends(run: &str, status: Option<RunStatus>) -> Event {
    Event::SubRunCompleted {
        tool_call_id: "c1".into(),
        sub_run_id: run.into(),
        sub_agent_name: "reviewer".into(),
        status,
        final_output: "all\nwell".into(),
    }
}

#[test]
fn what_a_sub_agent_does_is_indented_under_its_parent() {
    let root = || identity("root", None);
    let child = || identity("child", Some("root"));
    let grandchild = || identity("grandchild", Some("child"));
    let words = Event::AssistantDelta { text: "not shown".into() };
    let events = [
        (root(), planned("c1", "create_sub_task")),
        (root(), begins("child", "reviewer", true)),
        (child(), planned("c1", "read_file")),
        (child(), words),
        (child(), begins("grandchild", "reader", false)),
        (grandchild(), planned("c1", "list_files")),
        (grandchild(), Event::RunCompleted { final_answer: "not shown".into() }),
        (child(), result("c1", "tool")),
        (child(), Event::RunCompleted { final_answer: "not shown".into() }),
        (root(), ends("child", Some(RunStatus::Completed))),
        (root(), ends("other", None)),
    ];
    assert_eq!(
        shown(events),
        "[1] create_sub_task {\"path\":\"a.md\"}\n\
         \x20 reviewer begins in the background: check the\u{fffd}[2J docs\n\
         \x20 [2] read_file a.md\n\
         \x20   reader begins: check the\u{fffd}[2J docs\n\
         \x20   [3] list_files a.md\n\
         \x20 [2] ok read_file a.md: done\n\
         \x20 reviewer is done: all well\n\
         \x20 reviewer was lost: all well\n"
    );
}

#[test]
fn a_memory_that_is_compacted_is_told_of() {
    let started = Event::MemoryCompactStarted {
        message_count: 120,
        prompt_tokens: 90_000,
        budget_tokens: Some(80_000),
    };
    let completed = Event::MemoryCompactCompleted {
        messages_before: 120,
        messages_after: 14,
        prompt_tokens: 20_000,
        levels: vec!["micro".into(), "summary".into()],
    };
    let root = || identity("root", None);
    assert_eq!(
        shown([(root(), started), (root(), completed)]),
        "compacting 120 messages, about 90000 of 80000 tokens\n\
         compacted by micro, summary: 120 messages became 14, about 20000 tokens are left\n"
    );
}

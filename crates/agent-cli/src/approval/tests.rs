//! Decides whether the policy asks exactly where it promises to, and a no is told as such.

use std::{sync::Arc, time::Duration};

use runtime_kernel::engine::{
    ApprovalProvider, ApprovalRequest, ProviderDecision, Ruling, RunContext, RunIdentity,
};
use runtime_ports::{
    ApprovalDecision, EffectClass, InteractionRequest, InteractionResponse, InteractionSession,
    OperationContext,
};
use runtime_types::{ExecutionId, OperationId};
use serde_json::{Map, json};
use standard_tools::standard_tools;

use super::{Announced, Attendance, Person, policy, told};
use crate::{
    question::offers_all,
    terminal::{TerminalInteraction, staging::Typewriter},
};

#[test]
fn reading_is_free_writing_may_be_allowed_and_a_command_asks_always() {
    for (allow_writes, asked) in
        [(false, vec!["run_command", "write_file"]), (true, vec!["run_command"])]
    {
        let policy = policy(allow_writes);
        let tools = standard_tools();
        let descriptors = tools.iter().map(|tool| tool.descriptor());
        let asks = descriptors.filter(|tool| *policy.ruling(tool) == Ruling::Ask);
        let mut asks: Vec<&str> = asks.map(|tool| tool.definition.name.as_str()).collect();
        asks.sort_unstable();
        assert_eq!(asks, asked);
    }
}

fn request(effect: EffectClass) -> ApprovalRequest {
    ApprovalRequest {
        request_id: "1".into(),
        cycle: 1,
        tool_call_id: "call-1".into(),
        tool_name: "t".into(),
        effect,
        arguments: Arc::new(json!({})),
        digest: "d".into(),
        preview: "p".into(),
        required: true,
        timeout: Duration::from_secs(1),
        expires_at_ms: 1,
    }
}

fn run() -> RunContext {
    let (id, execution) = (OperationId::new("op").unwrap(), ExecutionId::new("run").unwrap());
    RunContext {
        operation: OperationContext::root(id, execution, Duration::from_secs(5)),
        identity: Arc::new(RunIdentity::root("run", "task", "agent")),
        metadata: Arc::new(Map::new()),
    }
}

#[tokio::test]
async fn without_a_terminal_a_call_is_refused_with_what_to_do() {
    for (effect, hint) in [
        (EffectClass::WorkspaceWrite, "run again with --yes, or from a terminal"),
        (EffectClass::Process, "from a terminal; --yes does not cover commands"),
    ] {
        let (terminal, _said) = TerminalInteraction::new(Typewriter::absent(), offers_all);
        let decided = Attendance(terminal.clone()).decide(&run(), &request(effect)).await.unwrap();
        let ProviderDecision::Denied { reason } = decided else { panic!("{decided:?}") };
        assert!(reason.ends_with(hint), "{reason}");
        assert!(terminal.found_nobody());
    }
}

#[tokio::test]
async fn at_a_terminal_somebody_is_asked() {
    let (terminal, _said) = TerminalInteraction::new(Typewriter::new(), offers_all);
    let asked = request(EffectClass::Process);
    let decided = Attendance(terminal.clone()).decide(&run(), &asked).await;
    assert_eq!(decided, Ok(ProviderDecision::NeedsApproval));
    assert!(!terminal.found_nobody());
}

#[test]
fn a_no_is_told_as_the_word_of_the_user() {
    let denied = |reason: &str| ApprovalDecision::Denied { reason: reason.to_owned() };
    for (decision, expected) in [
        (denied(""), denied("the user said no")),
        (denied("not today"), denied("the user said no: not today")),
        (ApprovalDecision::Approved, ApprovalDecision::Approved),
        (ApprovalDecision::ApprovedForRun, ApprovalDecision::ApprovedForRun),
    ] {
        let response = told(InteractionResponse::decision(decision));
        assert_eq!(response.decision, Some(expected));
    }
}

/// Else the question would stand above the call that it is about.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_waits_for_the_screen() {
    for announce in [|announced: &Announced| announced.note(&"1".into()), Announced::note_a_gap] {
        let typewriter = Typewriter::new();
        let console = Arc::clone(&typewriter) as Arc<dyn crate::console::Console>;
        let (terminal, _said) = TerminalInteraction::new(console, offers_all);
        let announced = Announced::default();
        let person = Person { terminal, announced: announced.clone() };
        let operation = run().operation;
        let asked = InteractionRequest::approval("1", "sure? ", "d");
        let asking = tokio::spawn(async move { person.request(&operation, asked).await });
        announced.note(&"another".into());
        tokio::task::yield_now().await;
        assert!(typewriter.paper().is_empty());
        announce(&announced);
        typewriter.until(1);
        typewriter.type_line("y");
        let decision = asking.await.unwrap().unwrap().decision;
        assert_eq!(decision, Some(ApprovalDecision::Approved));
    }
}

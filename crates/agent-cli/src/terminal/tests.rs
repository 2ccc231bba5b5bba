//! Decides whether each line that is typed goes where it was meant, and questions are asked once,
//! one at a time, and only when somebody is there.

use std::{sync::Arc, time::Duration};

use runtime_ports::{
    ApprovalDecision, InteractionRequest, InteractionSession, OperationContext, PortFailureKind,
};
use runtime_types::{ExecutionId, OperationId};
use tokio::{sync::mpsc, task::JoinHandle};

use super::{TerminalInteraction, staging::Typewriter};
use crate::question::offers_all;

const WRITE: &str = "[y]es, [N]o or why not, [a]ll writes of this run > ";
const COMMAND: &str = "[y]es, [N]o or why not > ";

fn operation() -> OperationContext {
    let (id, run) = (OperationId::new("op").unwrap(), ExecutionId::new("run").unwrap());
    OperationContext::root(id, run, Duration::from_secs(20))
}

fn terminal() -> (Arc<Typewriter>, TerminalInteraction, mpsc::Receiver<String>) {
    let typewriter = Typewriter::new();
    let (terminal, said) = TerminalInteraction::new(Arc::clone(&typewriter) as Arc<_>, offers_all);
    (typewriter, terminal, said)
}

type Asked = JoinHandle<Result<runtime_ports::InteractionResponse, runtime_ports::PortFailure>>;

fn ask(terminal: &TerminalInteraction, request: InteractionRequest) -> Asked {
    let terminal = terminal.clone();
    tokio::spawn(async move { terminal.request(&operation(), request).await })
}

#[test]
fn the_staged_choices_are_those_of_the_command() {
    assert!(offers_all(WRITE) && !offers_all(COMMAND));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decisions_are_read_from_a_line() {
    let denied = |reason: &str| ApprovalDecision::Denied { reason: reason.into() };
    for (question, typed, expected) in [
        (WRITE, "y", ApprovalDecision::Approved),
        (WRITE, "YES", ApprovalDecision::Approved),
        (WRITE, " a ", ApprovalDecision::ApprovedForRun),
        (WRITE, "", denied("")),
        (WRITE, "n", denied("")),
        (WRITE, "use another name", denied("use another name")),
        (WRITE, "yep", denied("yep")),
        (COMMAND, "yes", ApprovalDecision::Approved),
        (COMMAND, "all", denied("an answer for all covers writes alone")),
    ] {
        let (typewriter, terminal, _said) = terminal();
        let asked = ask(&terminal, InteractionRequest::approval("1", question, "d"));
        typewriter.until(1);
        typewriter.type_line(typed);
        let response = asked.await.unwrap().unwrap();
        assert_eq!(response.decision, Some(expected), "{typed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_asked_once_and_answered_to_every_wait() {
    let (typewriter, terminal, _said) = terminal();
    let request = InteractionRequest::question("1", "colour?\x1b[2J");
    terminal.prepare(&operation(), request.clone()).await.unwrap();
    terminal.prepare(&operation(), request.clone()).await.unwrap();
    let asked = ask(&terminal, request);
    typewriter.until(1);
    typewriter.type_line("blue");
    assert_eq!(asked.await.unwrap().unwrap().text, "blue");
    assert_eq!(terminal.wait(&operation(), "1").await.unwrap().text, "blue");
    assert_eq!(typewriter.paper(), ["colour?\u{fffd}[2J\n> "]);
    let other = InteractionRequest::question("1", "other?");
    let failure = terminal.prepare(&operation(), other).await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::Conflict);
    let failure = terminal.wait(&operation(), "2").await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::NotFound);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_without_a_question_is_a_remark_and_no_later_answer() {
    let (typewriter, terminal, mut said) = terminal();
    typewriter.type_line("look into docs first");
    typewriter.type_line("  ");
    assert_eq!(said.recv().await.unwrap(), "look into docs first");
    let asked = ask(&terminal, InteractionRequest::approval("1", WRITE, "d"));
    typewriter.until(1);
    assert!(!asked.is_finished());
    typewriter.type_line("n");
    let denied = ApprovalDecision::Denied { reason: String::new() };
    assert_eq!(asked.await.unwrap().unwrap().decision, Some(denied));
    assert!(said.try_recv().is_err(), "an answer is no remark, and an empty line is nothing");
}

/// What the reader has not taken yet when a question comes is no answer either.
#[tokio::test]
async fn what_was_typed_and_not_read_before_a_question_is_a_remark() {
    let typewriter = Typewriter::new();
    let (terminal, mut said) =
        TerminalInteraction::new(Arc::clone(&typewriter) as Arc<_>, offers_all);
    typewriter.jam(true);
    typewriter.type_line("y");
    let asked = ask(&terminal, InteractionRequest::approval("1", WRITE, "d"));
    let remark = tokio::time::timeout(Duration::from_secs(5), said.recv()).await;
    assert_eq!(remark.unwrap().unwrap(), "y");
    typewriter.until(1);
    typewriter.jam(false);
    typewriter.type_line("n");
    let denied = ApprovalDecision::Denied { reason: String::new() };
    assert_eq!(asked.await.unwrap().unwrap().decision, Some(denied));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_are_shown_one_after_the_other() {
    let (typewriter, terminal, _said) = terminal();
    let first = ask(&terminal, InteractionRequest::approval("1", "first? ", "d"));
    typewriter.until(1);
    let second = ask(&terminal, InteractionRequest::approval("2", "second? ", "d"));
    tokio::task::yield_now().await;
    assert_eq!(typewriter.paper(), ["first? "]);
    typewriter.type_line("y");
    typewriter.until(2);
    typewriter.type_line("n");
    assert_eq!(first.await.unwrap().unwrap().decision, Some(ApprovalDecision::Approved));
    let denied = ApprovalDecision::Denied { reason: String::new() };
    assert_eq!(second.await.unwrap().unwrap().decision, Some(denied));
    assert_eq!(typewriter.paper(), ["first? ", "second? "]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_for_all_writes_covers_those_that_wait_but_no_command() {
    let (typewriter, terminal, _said) = terminal();
    let write = ask(&terminal, InteractionRequest::approval("1", WRITE, "d"));
    typewriter.until(1);
    for (id, question) in [("2", COMMAND), ("3", WRITE)] {
        let request = InteractionRequest::approval(id, question, "d");
        terminal.prepare(&operation(), request).await.unwrap();
    }
    let wait = |id: &'static str| {
        let terminal = terminal.clone();
        tokio::spawn(async move { terminal.wait(&operation(), id).await })
    };
    let (command, other) = (wait("2"), wait("3"));
    while terminal.0.desk().questions.iter().any(|question| question.waiting == 0) {
        tokio::task::yield_now().await;
    }
    typewriter.type_line("a");
    for answered in [write, other] {
        let decision = answered.await.unwrap().unwrap().decision;
        assert_eq!(decision, Some(ApprovalDecision::ApprovedForRun));
    }
    typewriter.until(2);
    assert_eq!(typewriter.paper(), [WRITE, COMMAND]);
    command.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_nobody_waits_for_is_not_asked_any_more() {
    let (typewriter, terminal, mut said) = terminal();
    let asked = ask(&terminal, InteractionRequest::approval("1", WRITE, "d"));
    let waits = ask(&terminal, InteractionRequest::approval("2", COMMAND, "d"));
    typewriter.until(1);
    asked.abort();
    waits.abort();
    let _ = (asked.await, waits.await);
    typewriter.type_line("y");
    assert_eq!(said.recv().await.unwrap(), "y", "it answers nothing");
    assert!(typewriter.paper().contains(&"withdrawn".to_owned()));
    // It can be waited for again.
    let again = terminal.clone();
    let again = tokio::spawn(async move { again.wait(&operation(), "1").await });
    while typewriter.paper().last().is_none_or(|last| last != WRITE) {
        tokio::task::yield_now().await;
    }
    typewriter.type_line("yes");
    assert_eq!(again.await.unwrap().unwrap().decision, Some(ApprovalDecision::Approved));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_asked_without_a_terminal_or_after_its_end() {
    let request = InteractionRequest::question("1", "?");
    let (terminal, _said) = TerminalInteraction::new(Typewriter::absent(), offers_all);
    let failure = terminal.request(&operation(), request.clone()).await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::Unavailable);
    assert!(terminal.found_nobody());
    for end in [Typewriter::type_end_of_input, Typewriter::take_away] {
        let typewriter = Typewriter::new();
        let (terminal, _said) =
            TerminalInteraction::new(Arc::clone(&typewriter) as Arc<_>, offers_all);
        let asked = ask(&terminal, request.clone());
        typewriter.until(1);
        end(&typewriter);
        let failure = asked.await.unwrap().unwrap_err();
        assert_eq!(failure.kind, PortFailureKind::Unavailable);
        assert!(terminal.found_nobody());
    }
}

//! Decides whether questions are asked once, safely, and only when somebody is there.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use runtime_ports::{
    ApprovalDecision, InteractionRequest, InteractionSession, OperationContext, PortFailureKind,
};
use runtime_types::{ExecutionId, OperationId};

use super::{Console, TerminalInteraction, shown};

struct Typed {
    lines: Mutex<Vec<Option<&'static str>>>,
    prompts: Mutex<Vec<String>>,
    attended: AtomicBool,
}

fn console(lines: &[Option<&'static str>]) -> Arc<Typed> {
    let lines = Mutex::new(lines.iter().rev().copied().collect());
    Arc::new(Typed { lines, prompts: Mutex::default(), attended: AtomicBool::new(true) })
}

impl Console for Typed {
    fn is_attended(&self) -> bool {
        self.attended.load(Ordering::SeqCst)
    }

    fn ask(&self, request: &InteractionRequest) -> std::io::Result<Option<String>> {
        self.prompts.lock().unwrap().push(shown(request));
        Ok(self.lines.lock().unwrap().pop().expect("asked once too often").map(str::to_owned))
    }
}

fn operation() -> OperationContext {
    let (id, run) = (OperationId::new("op").unwrap(), ExecutionId::new("run").unwrap());
    OperationContext::root(id, run, Duration::from_secs(5))
}

#[tokio::test]
async fn decisions_are_read_from_a_line() {
    let denied = |reason: &str| ApprovalDecision::Denied { reason: reason.into() };
    for (typed, expected) in [
        ("y\n", ApprovalDecision::Approved),
        ("YES\n", ApprovalDecision::Approved),
        ("a\n", ApprovalDecision::ApprovedForRun),
        ("\n", denied("")),
        ("n\n", denied("")),
        ("use another name\n", denied("use another name")),
        ("yep\n", denied("yep")),
    ] {
        let terminal = TerminalInteraction::new(console(&[Some(typed)]));
        let request = InteractionRequest::approval("1", "write a.txt?", "d");
        let response = terminal.request(&operation(), request).await.unwrap();
        assert_eq!(response.decision, Some(expected), "{typed}");
    }
}

#[tokio::test]
async fn a_question_is_asked_once_and_answered_to_every_wait() {
    let console = console(&[Some("blue\n")]);
    let terminal = TerminalInteraction::new(Arc::clone(&console) as Arc<dyn Console>);
    let request = InteractionRequest::question("1", "colour?\x1b[2J");
    terminal.prepare(&operation(), request.clone()).await.unwrap();
    terminal.prepare(&operation(), request).await.unwrap();
    for _ in 0..2 {
        assert_eq!(terminal.wait(&operation(), "1").await.unwrap().text, "blue");
    }
    assert_eq!(*console.prompts.lock().unwrap(), ["colour?\u{fffd}[2J\n> "]);
    let other = InteractionRequest::question("1", "other?");
    let failure = terminal.prepare(&operation(), other).await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::Conflict);
    let failure = terminal.wait(&operation(), "2").await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::NotFound);
}

#[tokio::test]
async fn nobody_is_asked_without_a_terminal_or_after_its_end() {
    let unattended = console(&[]);
    unattended.attended.store(false, Ordering::SeqCst);
    let terminal = TerminalInteraction::new(unattended);
    let request = InteractionRequest::question("1", "?");
    let failure = terminal.request(&operation(), request.clone()).await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::Unavailable);
    let ended = TerminalInteraction::new(console(&[None]));
    let failure = ended.request(&operation(), request).await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::Unavailable);
}

//! Checks that the book stays bounded; what it promises is tried by the conformance suite.

use std::time::Duration;

use runtime_ports::{CommitDisposition, SubagentOutcome};
use runtime_types::{ExecutionId, OperationId};

use super::*;

fn operation() -> OperationContext {
    let (id, execution) = (OperationId::new("call"), ExecutionId::new("run"));
    OperationContext::root(id.unwrap(), execution.unwrap(), Duration::from_secs(60))
}

fn request(id: usize) -> SubagentRequest {
    SubagentRequest { request_id: id.to_string(), prompt: "work".into(), max_model_turns: 1 }
}

/// How the task ends, and whether it ran for that.
async fn run(book: &TaskBook, id: usize, end: End) -> (End, bool) {
    let mut has_run = false;
    let ran = &mut has_run;
    let operation = operation();
    let told = book.once(&operation, request(id), |_| async {
        *ran = true;
        end
    });
    (told.await, has_run)
}

fn done() -> End {
    Ok(SubagentOutcome { answer: "done".into() })
}

fn failed(commit: CommitDisposition) -> End {
    let failure = PortFailure::not_sent(PortFailureKind::Unavailable, "DOWN", "it is down");
    Err(PortFailure { commit, ..failure })
}

#[tokio::test]
async fn the_oldest_is_forgotten_and_nothing_else() {
    let book = TaskBook::default();
    for id in 0..=REMEMBERED {
        assert_eq!(run(&book, id, done()).await, (done(), true));
    }
    assert_eq!(book.book().tasks.len(), REMEMBERED);
    assert_eq!(run(&book, 1, done()).await, (done(), false));
    assert_eq!(run(&book, 0, done()).await, (done(), true), "the first one was forgotten");
    assert_eq!(book.book().ended.len(), REMEMBERED);
}

#[tokio::test]
async fn a_task_without_effect_takes_no_room() {
    let book = TaskBook::default();
    for _ in 0..3 {
        let free = failed(CommitDisposition::NotCommitted);
        assert_eq!(run(&book, 1, free.clone()).await, (free, true));
    }
    assert!(book.book().tasks.is_empty() && book.book().ended.is_empty());
    let stands = failed(CommitDisposition::Unknown);
    assert_eq!(run(&book, 1, stands.clone()).await, (stands.clone(), true));
    assert_eq!(run(&book, 1, done()).await, (stands, false));
}

//! Decides whether a task has one outcome, and a child no longer life than its parent.

use std::time::Duration;

use runtime_ports::{
    CommitDisposition, PortFailure, PortFailureKind, SubagentOutcome, SubagentRequest,
    SubagentSession,
};

use super::{kind_of, operation, outage};
use crate::{FakeSubagent, SubagentCall, SubagentStep};

fn task(id: &str, prompt: &str) -> SubagentRequest {
    SubagentRequest { request_id: id.to_owned(), prompt: prompt.to_owned(), max_model_turns: 5 }
}

fn answer(text: &str) -> SubagentOutcome {
    SubagentOutcome { answer: text.to_owned() }
}

#[tokio::test]
async fn one_task_has_one_outcome() {
    let children = FakeSubagent::new([SubagentStep::answer("4"), SubagentStep::answer("9")]);
    let op = operation("op");
    assert_eq!(children.execute(&op, task("t1", "2*2")).await, Ok(answer("4")));
    assert_eq!(children.execute(&op, task("t1", "2*2")).await, Ok(answer("4")));
    let other = children.execute(&op, task("t1", "3*3")).await;
    assert_eq!(kind_of(other), PortFailureKind::Conflict);
    assert_eq!(children.execute(&op, task("t2", "3*3")).await, Ok(answer("9")));
    assert_eq!(children.calls()[3], SubagentCall::Execute(task("t2", "3*3")));
}

#[tokio::test]
async fn a_task_that_failed_without_effect_may_be_asked_for_again() {
    let refused = PortFailure::not_sent(PortFailureKind::Unavailable, "DOWN", "it is down");
    let steps = [SubagentStep::fail(refused.clone()), SubagentStep::answer("4")];
    let children = FakeSubagent::new(steps);
    let op = operation("op");
    assert_eq!(children.execute(&op, task("t1", "2*2")).await, Err(refused));
    assert_eq!(children.execute(&op, task("t1", "2*2")).await, Ok(answer("4")));
}

#[tokio::test]
async fn a_task_that_may_have_had_an_effect_is_not_run_again() {
    let children = FakeSubagent::new([SubagentStep::fail(outage())]);
    let op = operation("op");
    for _ in 0..2 {
        assert_eq!(children.execute(&op, task("t1", "2*2")).await, Err(outage()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_ends_with_its_parent() {
    let slow = SubagentStep::answer("late").delay(Duration::from_secs(60));
    let children = FakeSubagent::new([slow, SubagentStep::stall()]);
    let brief = operation("op").within(Duration::from_secs(5));
    let failure = children.execute(&brief, task("t1", "x")).await.unwrap_err();
    assert_eq!(
        (failure.kind, failure.commit),
        (PortFailureKind::Timeout, CommitDisposition::Unknown)
    );
    let op = operation("op");
    let cancel = async { op.cancellation.cancel() };
    let (outcome, ()) = tokio::join!(children.execute(&op, task("t2", "x")), cancel);
    assert_eq!(kind_of(outcome), PortFailureKind::Canceled);
}

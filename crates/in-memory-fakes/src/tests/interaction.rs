//! Decides whether questions are registered first, answered once, and waited for with an end.

use std::time::Duration;

use runtime_ports::{
    ApprovalDecision, CommitDisposition, InteractionRequest, InteractionResponse,
    InteractionSession, OperationContext, PortFailureKind,
};
use tokio::time::Instant;

use super::{kind_of, operation, panic_of, run, verdict};
use crate::{FakeInteraction, HumanStep, InteractionCall, InteractionEvent as Event};

fn question(id: &str) -> InteractionRequest {
    InteractionRequest::question(id, "which colour?")
}

fn text(text: &str) -> InteractionResponse {
    InteractionResponse::text(text)
}

#[tokio::test]
async fn a_scripted_human_answers_each_new_question_in_turn() {
    let human = FakeInteraction::new([
        HumanStep::text("blue"),
        HumanStep::approve(),
        HumanStep::approve_for_run(),
        HumanStep::deny("too risky"),
    ]);
    let op = operation("op");
    assert_eq!(human.request(&op, question("q1")).await, Ok(text("blue")));
    let denied = ApprovalDecision::Denied { reason: "too risky".to_owned() };
    let decisions = [ApprovalDecision::Approved, ApprovalDecision::ApprovedForRun, denied];
    for (number, decision) in decisions.into_iter().enumerate() {
        let request = InteractionRequest::approval(format!("a{number}"), "run it?", "digest");
        let answer = human.request(&op, request).await.unwrap();
        assert_eq!(answer.decision, Some(decision));
    }
    human.assert_script_done();
}

#[tokio::test]
async fn a_question_is_prepared_before_it_is_visible_and_answered_once() {
    let human = FakeInteraction::manual();
    let op = operation("op");
    human.prepare(&op, question("q1")).await.unwrap();
    assert_eq!(human.pending(), [question("q1")]);
    human.answer("q1", text("blue")).unwrap();
    assert_eq!(kind_of(human.answer("q1", text("red"))), PortFailureKind::Conflict);
    assert_eq!(kind_of(human.answer("q2", text("red"))), PortFailureKind::NotFound);
    for _ in 0..2 {
        assert_eq!(human.wait(&op, "q1").await, Ok(text("blue")));
    }
    let id = || "q1".to_owned();
    assert_eq!(
        human.events(),
        [Event::Prepared(id()), Event::Visible(id()), Event::Answered(id())]
    );
    assert_eq!(human.calls()[0], InteractionCall::Prepare(question("q1")));
    assert!(human.pending().is_empty());
}

#[tokio::test]
async fn preparing_again_is_ok_and_another_question_under_the_id_is_a_conflict() {
    let human = FakeInteraction::new([HumanStep::silence()]);
    let op = operation("op");
    human.prepare(&op, question("q1")).await.unwrap();
    human.prepare(&op, question("q1")).await.unwrap();
    let other = InteractionRequest::question("q1", "which size?");
    assert_eq!(kind_of(human.prepare(&op, other).await), PortFailureKind::Conflict);
    assert_eq!(kind_of(human.wait(&op, "q2").await), PortFailureKind::NotFound);
    assert_eq!(human.pending().len(), 1);
}

#[tokio::test]
async fn executions_do_not_see_the_questions_of_others() {
    let human = FakeInteraction::manual();
    let mine = operation("op");
    let theirs = OperationContext { execution_id: run("run-2"), ..operation("op") };
    human.prepare(&mine, question("q1")).await.unwrap();
    assert_eq!(kind_of(human.wait(&theirs, "q1").await), PortFailureKind::NotFound);
    human.prepare(&theirs, InteractionRequest::question("q1", "other")).await.unwrap();
    human.answer_in(&run("run-2"), "q1", text("two")).unwrap();
    human.answer("q1", text("one")).unwrap();
    assert_eq!(human.wait(&mine, "q1").await, Ok(text("one")));
    assert_eq!(human.wait(&theirs, "q1").await, Ok(text("two")));
}

#[tokio::test(start_paused = true)]
async fn every_waiter_gets_the_answer_that_comes_later() {
    let human = FakeInteraction::manual();
    let op = operation("op");
    human.prepare(&op, question("q1")).await.unwrap();
    let answer = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        human.answer("q1", text("blue"))
    };
    let (first, second, answered) =
        tokio::join!(human.wait(&op, "q1"), human.wait(&op, "q1"), answer);
    assert_eq!((first, second, answered), (Ok(text("blue")), Ok(text("blue")), Ok(())));
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_its_operation_and_leaves_the_question_pending() {
    let human = FakeInteraction::manual();
    let op = operation("op").within(Duration::from_secs(5));
    human.prepare(&op, question("q1")).await.unwrap();
    let began = Instant::now();
    let outcome = human.wait(&op, "q1").await;
    let expected = ("DEADLINE_EXCEEDED".to_owned(), CommitDisposition::NotCommitted);
    assert_eq!(verdict(outcome), expected);
    assert_eq!(began.elapsed(), Duration::from_secs(5));

    let op = operation("op");
    let cancel = async { op.cancellation.cancel() };
    let (outcome, ()) = tokio::join!(human.wait(&op, "q1"), cancel);
    assert_eq!(kind_of(outcome), PortFailureKind::Canceled);
    human.answer("q1", text("late")).unwrap();
    assert_eq!(human.wait(&operation("op"), "q1").await, Ok(text("late")));
}

#[tokio::test]
async fn when_nobody_can_be_asked_preparing_is_unavailable() {
    let human = FakeInteraction::unavailable();
    let outcome = human.request(&operation("op"), question("q1")).await;
    assert_eq!(kind_of(outcome), PortFailureKind::Unavailable);
    assert!(human.events().is_empty());
}

#[tokio::test]
async fn an_approval_takes_no_answer_without_a_decision() {
    let human = FakeInteraction::manual();
    let request = InteractionRequest::approval("a1", "run it?", "digest");
    human.prepare(&operation("op"), request).await.unwrap();
    assert_eq!(kind_of(human.answer("a1", text("sure"))), PortFailureKind::Invalid);
    assert_eq!(human.pending().len(), 1);
}

#[tokio::test]
async fn the_check_shows_questions_beside_reactions() {
    let human = FakeInteraction::new([HumanStep::text("blue"), HumanStep::approve()]);
    human.request(&operation("op"), question("q1")).await.unwrap();
    let message = panic_of(|| drop(human));
    assert!(message.contains(r#"text "blue" | Question q1: which colour?"#), "{message}");
    assert!(message.contains("Approved    | (never asked)"), "{message}");
}

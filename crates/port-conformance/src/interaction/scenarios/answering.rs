//! Which answer a wait gets.
//!
//! Knows nothing about who answers.

use runtime_ports::{
    ApprovalDecision, CommitDisposition, InteractionRequest, InteractionResponse,
    PortFailureKind as Kind,
};
use tokio::time::sleep;

use super::{ID, question, staged};
use crate::{
    Proof,
    claim::{BRIEFLY, PATIENCE, claim, equal, eventually, failure, operation, success, within},
    interaction::InteractionHarness,
};

pub(crate) async fn an_answer_ends_the_wait(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    staged.prepare(&operation, question()).await?;
    let answering = async {
        sleep(BRIEFLY / 8).await;
        staged.answer(&operation, "blue").await;
    };
    let both = async { tokio::join!(staged.wait(&operation), answering) };
    let (answer, ()) = within("the wait", PATIENCE, both).await?;
    equal("the answer", &answer?, &InteractionResponse::text("blue"))
}

pub(crate) async fn an_early_answer_is_kept(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    staged.prepare(&operation, question()).await?;
    staged.answer(&operation, "early").await;
    let answer = within("the wait", PATIENCE, staged.wait(&operation)).await??;
    equal("the answer", &answer, &InteractionResponse::text("early"))
}

pub(crate) async fn every_wait_gets_the_same_answer(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    staged.prepare(&operation, question()).await?;
    staged.answer(&operation, "blue").await;
    for _ in 0..3 {
        let answer = within("the wait", PATIENCE, staged.wait(&operation)).await??;
        equal("the answer", &answer, &InteractionResponse::text("blue"))?;
    }
    Ok(())
}

pub(crate) async fn waits_at_once_all_get_the_answer(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    staged.prepare(&operation, question()).await?;
    let waits = async {
        tokio::join!(
            staged.wait(&operation),
            staged.wait(&operation),
            staged.wait(&operation),
            async {
                sleep(BRIEFLY / 8).await;
                staged.answer(&operation, "blue").await;
            }
        )
    };
    let (first, second, third, ()) = within("three waits", PATIENCE, waits).await?;
    for answer in [first?, second?, third?] {
        equal("the answer", &answer, &InteractionResponse::text("blue"))?;
    }
    Ok(())
}

pub(crate) async fn the_first_answer_counts(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    staged.prepare(&operation, question()).await?;
    staged.answer(&operation, "first").await;
    staged.answer(&operation, "second").await;
    for _ in 0..2 {
        let answer = within("the wait", PATIENCE, staged.wait(&operation)).await??;
        equal("the answer", &answer, &InteractionResponse::text("first"))?;
        staged.answer(&operation, "third").await;
    }
    Ok(())
}

pub(crate) async fn a_decision_arrives_as_it_was_made(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    let decisions = [
        ApprovalDecision::Approved,
        ApprovalDecision::ApprovedForRun,
        ApprovalDecision::Denied { reason: "not on a friday".into() },
    ];
    for (number, decision) in decisions.into_iter().enumerate() {
        let id = format!("approval-{number}");
        let made = InteractionResponse { text: "words beside it".into(), decision: Some(decision) };
        let asked = InteractionRequest::approval(&id, "run this?", "digest-1");
        staged.prepare(&operation, asked).await?;
        staged.human.answers(&operation.execution_id, &id, made.clone()).await;
        let waiting = within("the wait", PATIENCE, staged.session.wait(&operation, &id)).await?;
        equal("the decision", &success("the wait", waiting)?.decision, &made.decision)?;
    }
    Ok(())
}

pub(crate) async fn asking_is_preparing_and_waiting(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    let answering = async {
        let seen = eventually("the question", || staged.human.sees() == [question()]).await;
        staged.answer(&operation, "blue").await;
        seen
    };
    let asking = staged.session.request(&operation, question());
    let both = async { tokio::join!(asking, answering) };
    let (answer, seen) = within("the request", 2 * PATIENCE, both).await?;
    seen?;
    equal("the answer", &success("the request", answer)?, &InteractionResponse::text("blue"))
}

pub(crate) async fn answers_go_to_their_questions(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    let ids: Vec<_> = (0..4).map(|number| format!("question-{number}")).collect();
    for id in &ids {
        staged.prepare(&operation, InteractionRequest::question(id, "which?")).await?;
    }
    for id in ids.iter().rev() {
        let response = InteractionResponse::text(format!("answer to {id}"));
        staged.human.answers(&operation.execution_id, id, response).await;
    }
    for id in &ids {
        let waiting = within("the wait", PATIENCE, staged.session.wait(&operation, id)).await?;
        let answer = success("the wait", waiting)?;
        equal("the answer", answer.text.as_str(), format!("answer to {id}").as_str())?;
    }
    Ok(())
}

pub(crate) async fn executions_do_not_mix(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let (one, other) = (operation(), operation());
    let of_the_other = InteractionRequest::question(ID, "which animal?");
    staged.prepare(&one, question()).await?;
    staged.prepare(&other, of_the_other).await?;
    staged.answer(&other, "a crab").await;
    staged.answer(&one, "blue").await;
    for (operation, expected) in [(&one, "blue"), (&other, "a crab")] {
        let answer = within("the wait", PATIENCE, staged.wait(operation)).await??;
        equal("the answer", answer.text.as_str(), expected)?;
    }
    Ok(())
}

pub(crate) async fn an_unprepared_wait_is_not_found(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    staged.prepare(&operation, question()).await?;
    let not_committed = CommitDisposition::NotCommitted;
    let wait = staged.session.wait(&operation, "question-2");
    let waited = within("a wait for nothing", PATIENCE, wait).await?;
    failure("a wait for nothing", waited, Kind::NotFound, not_committed)?;
    claim(staged.human.sees() == [question()], || "the first question is gone".into())
}

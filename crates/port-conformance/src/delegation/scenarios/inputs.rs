//! What an input reaches, and how often.
//!
//! Knows nothing about leases beyond that they make ports.

use std::sync::Arc;

use runtime_ports::{
    ApprovalDecision, CommitDisposition, InteractionRequest, InteractionResponse,
    PortFailureKind as Kind,
};
use runtime_types::OperationId;
use tokio::task::JoinSet;

use crate::{
    Broken, Proof,
    claim::{BRIEFLY, claim, equal, failure, success},
    delegation::{
        DelegationHarness,
        sample::{Office, caller, named, new_id, office, question, scope, text},
    },
};

const NOT_COMMITTED: CommitDisposition = CommitDisposition::NotCommitted;
const ID: &str = "question-1";

/// The input of a fresh operation is refused like this.
async fn is_refused(office: &Office, id: &str, response: InteractionResponse, kind: Kind) -> Proof {
    let submitted = office.submit(&new_id(), id, response).await;
    failure("the input", submitted, kind, NOT_COMMITTED).map(drop)
}

pub(crate) async fn an_input_answers_a_question(harness: &dyn DelegationHarness) -> Proof {
    let office = office(harness).await?;
    let ports = office.opened().await?;
    let denied = ApprovalDecision::Denied { reason: "not on a friday".into() };
    let decided =
        InteractionResponse { text: "words\nbeside 漢字".into(), decision: Some(denied) };
    let approval = InteractionRequest::approval("approval-1", "run this?", "digest");
    office.asks(&ports, question()).await?;
    office.asks(&ports, approval).await?;
    for (id, response) in [("approval-1", decided), (ID, text("blue"))] {
        success("the input", office.submit(&new_id(), id, response.clone()).await)?;
        office.hears(&ports, id, &response).await?;
    }
    // Also one for which the execution waits already.
    office.asks(&ports, InteractionRequest::question("question-2", "and which shape?")).await?;
    let submitting = async {
        tokio::time::sleep(BRIEFLY / 8).await;
        success("the input", office.submit(&new_id(), "question-2", text("round")).await)
    };
    let answer = text("round");
    let hearing = office.hears(&ports, "question-2", &answer);
    let (heard, submitted) = tokio::join!(hearing, submitting);
    submitted?;
    heard
}

pub(crate) async fn the_same_input_again_is_delivered_once(
    harness: &dyn DelegationHarness,
) -> Proof {
    let office = office(harness).await?;
    let ports = office.opened().await?;
    office.asks(&ports, question()).await?;
    let id = new_id();
    for _ in 0..3 {
        success("the input", office.submit(&id, ID, text("blue")).await)?;
        office.hears(&ports, ID, &text("blue")).await?;
    }
    Ok(())
}

pub(crate) async fn another_input_of_an_operation_is_conflict(
    harness: &dyn DelegationHarness,
) -> Proof {
    let office = office(harness).await?;
    let ports = office.opened().await?;
    office.asks(&ports, question()).await?;
    office.asks(&ports, InteractionRequest::question("question-2", "and which shape?")).await?;
    let other = office.with_another_execution();
    let other_ports = other.opened().await?;
    other.asks(&other_ports, question()).await?;
    let id = new_id();
    success("the input", office.submit(&id, ID, text("blue")).await)?;
    for submitted in [
        office.submit(&id, ID, text("red")).await,
        office.submit(&id, "question-2", text("blue")).await,
        other.submit(&id, ID, text("blue")).await,
    ] {
        failure("another input", submitted, Kind::Conflict, NOT_COMMITTED)?;
    }
    office.hears(&ports, ID, &text("blue")).await?;
    // Neither of the others has an answer.
    success("the input", office.submit(&new_id(), "question-2", text("round")).await)?;
    success("the input", other.submit(&new_id(), ID, text("green")).await)?;
    other.hears(&other_ports, ID, &text("green")).await
}

pub(crate) async fn an_answered_question_takes_no_input(harness: &dyn DelegationHarness) -> Proof {
    let office = office(harness).await?;
    let ports = office.opened().await?;
    office.asks(&ports, question()).await?;
    success("the input", office.submit(&new_id(), ID, text("blue")).await)?;
    is_refused(&office, ID, text("red"), Kind::Conflict).await?;
    office.hears(&ports, ID, &text("blue")).await?;
    is_refused(&office, ID, text("blue"), Kind::Conflict).await?;
    office.hears(&ports, ID, &text("blue")).await
}

pub(crate) async fn an_input_without_a_question_is_conflict(
    harness: &dyn DelegationHarness,
) -> Proof {
    let office = office(harness).await?;
    let ports = office.opened().await?;
    let id = new_id();
    for request_id in [ID, "", "question-2"] {
        let submitted = office.submit(&id, request_id, text("secret-blue")).await;
        let told = failure("an input for nothing", submitted, Kind::Conflict, NOT_COMMITTED)?;
        let repeats = format!("{told:?}").contains("secret-blue");
        claim(!repeats, || "the failure repeats the input".into())?;
    }
    office.asks(&ports, question()).await?;
    success("the input", office.submit(&id, ID, text("red")).await)?;
    office.hears(&ports, ID, &text("red")).await
}

pub(crate) async fn an_approval_wants_a_decision(harness: &dyn DelegationHarness) -> Proof {
    let office = office(harness).await?;
    let ports = office.opened().await?;
    office.asks(&ports, InteractionRequest::approval(ID, "run this?", "digest")).await?;
    is_refused(&office, ID, text("yes"), Kind::Invalid).await?;
    let approved = InteractionResponse::decision(ApprovalDecision::Approved);
    success("the input", office.submit(&new_id(), ID, approved.clone()).await)?;
    office.hears(&ports, ID, &approved).await
}

pub(crate) async fn another_callers_execution_is_not_found(
    harness: &dyn DelegationHarness,
) -> Proof {
    let office = office(harness).await?;
    let ports = office.opened().await?;
    office.asks(&ports, question()).await?;
    let with = |caller, scope| Office { factory: Arc::clone(&office.factory), caller, scope };
    let elsewhere =
        runtime_types::CallerScope { project_id: Some(named("other")), ..caller("ada") };
    for stranger in [
        with(caller("eve"), office.scope.clone()),
        with(elsewhere, office.scope.clone()),
        with(caller("ada"), scope()),
    ] {
        is_refused(&stranger, ID, text("red"), Kind::NotFound).await?;
    }
    success("the input", office.submit(&new_id(), ID, text("blue")).await)?;
    office.hears(&ports, ID, &text("blue")).await
}

pub(crate) async fn executions_have_questions_of_their_own(
    harness: &dyn DelegationHarness,
) -> Proof {
    let one = office(harness).await?;
    let other = one.with_another_execution();
    let (ports, other_ports) = (one.opened().await?, other.opened().await?);
    one.asks(&ports, question()).await?;
    is_refused(&other, ID, text("red"), Kind::Conflict).await?;
    other.asks(&other_ports, question()).await?;
    success("the input", other.submit(&new_id(), ID, text("green")).await)?;
    success("the input", one.submit(&new_id(), ID, text("blue")).await)?;
    one.hears(&ports, ID, &text("blue")).await?;
    other.hears(&other_ports, ID, &text("green")).await
}

/// How many of these inputs at once are taken; the others are Conflict.
async fn taken_at_once(
    office: Office,
    inputs: impl Iterator<Item = (OperationId, InteractionResponse)>,
) -> Result<usize, Broken> {
    let ports = office.opened().await?;
    office.asks(&ports, question()).await?;
    let office = Arc::new(office);
    let mut submitting = JoinSet::new();
    for (id, answer) in inputs {
        let office = Arc::clone(&office);
        submitting.spawn(async move { office.submit(&id, ID, answer).await });
    }
    let mut taken = 0;
    for submitted in submitting.join_all().await {
        match submitted {
            Ok(()) => taken += 1,
            lost => drop(failure("a losing input", lost, Kind::Conflict, NOT_COMMITTED)?),
        }
    }
    let waiting = ports.interaction.wait(&office.own_operation(), ID).await;
    success("the wait", waiting)?;
    Ok(taken)
}

pub(crate) async fn the_same_input_at_once_is_delivered_once(
    harness: &dyn DelegationHarness,
) -> Proof {
    let id = new_id();
    let same = (0..16).map(|_| (id.clone(), text("blue")));
    let taken = taken_at_once(office(harness).await?, same).await?;
    equal("the number of inputs that were taken", &taken, &16)
}

pub(crate) async fn inputs_at_once_have_one_winner(harness: &dyn DelegationHarness) -> Proof {
    let others = (0..16).map(|number| (new_id(), text(&format!("blue {number}"))));
    let taken = taken_at_once(office(harness).await?, others).await?;
    equal("the number of inputs that were taken", &taken, &1)
}

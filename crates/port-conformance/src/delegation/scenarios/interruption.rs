//! What a call does whose operation is over before it began.
//!
//! Knows nothing about what the call would have done.

use runtime_ports::{CommitDisposition, Interruption, PortFailure, PortFailureKind as Kind};

use crate::{
    Proof,
    claim::{equal, failure, interrupted_operation, success},
    delegation::{
        DelegationHarness,
        sample::{new_id, office, question, text},
    },
};

async fn changes_nothing(harness: &dyn DelegationHarness, why: Interruption, kind: Kind) -> Proof {
    let office = office(harness).await?;
    let over = interrupted_operation(why);
    let refused = |what: &str, failed: Result<(), PortFailure>| {
        failure(what, failed, kind, CommitDisposition::NotCommitted).map(drop)
    };
    refused("establishing", office.try_establish(&over).await.map(drop))?;
    let lease = office.establish().await?;
    refused("making ports", office.try_create(&over, &lease).await.map(drop))?;
    let id = new_id();
    // No ports were made, so that nobody knows the execution.
    let unknown = office.submit(&id, "question-1", text("blue")).await;
    failure("the input", unknown, Kind::NotFound, CommitDisposition::NotCommitted)?;
    let ports = office.create(&lease).await?;
    office.asks(&ports, question()).await?;
    refused("renewing", office.try_renew(&over, &lease).await.map(drop))?;
    refused("revoking", office.try_revoke(&over, &lease).await)?;
    let input = office.submit_under(&over, &id, "question-1", text("blue")).await;
    refused("the input", input)?;
    let renewed = office.renew(&lease).await?;
    equal("the revision", &renewed.revision, &2)?;
    success("the input", office.submit(&id, "question-1", text("red")).await)?;
    office.hears(&ports, "question-1", &text("red")).await
}

pub(crate) async fn a_cancelled_call_changes_nothing(harness: &dyn DelegationHarness) -> Proof {
    changes_nothing(harness, Interruption::Canceled, Kind::Canceled).await
}

pub(crate) async fn a_late_call_changes_nothing(harness: &dyn DelegationHarness) -> Proof {
    changes_nothing(harness, Interruption::DeadlineExceeded, Kind::Timeout).await
}

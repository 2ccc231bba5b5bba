//! How a lease lives, and what ends it.
//!
//! Knows nothing about whose it is.

use runtime_ports::{CommitDisposition, ExecutionDelegationLease, PortFailureKind as Kind};
use tokio::time::sleep;

use crate::{
    Proof,
    claim::{BRIEFLY, claim, equal, failure, operation, success},
    delegation::{
        DelegationHarness,
        sample::{Office, new_id, office, office_with, question, text},
    },
};

const NOT_COMMITTED: CommitDisposition = CommitDisposition::NotCommitted;

/// The lease neither renews nor makes ports.
async fn is_refused(office: &Office, lease: &ExecutionDelegationLease, kind: Kind) -> Proof {
    let renewed = office.try_renew(&operation(), lease).await;
    failure("the renewal", renewed, kind, NOT_COMMITTED)?;
    let ports = office.try_create(&operation(), lease).await;
    failure("making ports", ports, kind, NOT_COMMITTED).map(drop)
}

pub(crate) async fn a_lease_begins_with_its_first_revision(
    harness: &dyn DelegationHarness,
) -> Proof {
    let office = office(harness).await?;
    let lease = office.establish().await?;
    equal("the revision", &lease.revision, &1)?;
    claim(lease.expires_at_seconds > 0, || "it expires at the epoch".into())?;
    office.create(&lease).await.map(drop)
}

pub(crate) async fn each_lease_is_one_of_its_own(harness: &dyn DelegationHarness) -> Proof {
    let office = office(harness).await?;
    let (one, other) = (office.establish().await?, office.establish().await?);
    let is_same = one.lease_ref.expose() == other.lease_ref.expose();
    claim(!is_same, || "two leases have one reference".into())?;
    office.revoke(&one).await?;
    is_refused(&office, &one, Kind::Forbidden).await?;
    office.create(&other).await?;
    office.renew(&other).await.map(drop)
}

pub(crate) async fn a_renewal_is_the_next_revision(harness: &dyn DelegationHarness) -> Proof {
    let office = office(harness).await?;
    let mut lease = office.establish().await?;
    for revision in 2..6 {
        let renewed = office.renew(&lease).await?;
        equal("the revision", &renewed.revision, &revision)?;
        let is_same = renewed.lease_ref.expose() == lease.lease_ref.expose();
        claim(is_same, || "the renewal is another lease".into())?;
        let is_later = renewed.expires_at_seconds >= lease.expires_at_seconds;
        claim(is_later, || "the renewal expires earlier".into())?;
        office.create(&renewed).await?;
        lease = renewed;
    }
    Ok(())
}

pub(crate) async fn an_older_revision_is_conflict(harness: &dyn DelegationHarness) -> Proof {
    let office = office(harness).await?;
    let first = office.establish().await?;
    let second = office.renew(&first).await?;
    is_refused(&office, &first, Kind::Conflict).await?;
    let third = office.renew(&second).await?;
    equal("the revision", &third.revision, &3)?;
    is_refused(&office, &first, Kind::Conflict).await?;
    is_refused(&office, &second, Kind::Conflict).await?;
    office.create(&third).await.map(drop)
}

pub(crate) async fn ports_are_made_any_number_of_times(harness: &dyn DelegationHarness) -> Proof {
    let office = office(harness).await?;
    let lease = office.establish().await?;
    let first = office.create(&lease).await?;
    office.asks(&first, question()).await?;
    let second = office.create(&lease).await?;
    let other_lease = office.establish().await?;
    let third = office.create(&other_lease).await?;
    success("the input", office.submit(&new_id(), "question-1", text("blue")).await)?;
    for ports in [&third, &second, &first] {
        office.hears(ports, "question-1", &text("blue")).await?;
    }
    Ok(())
}

pub(crate) async fn a_revoked_lease_is_forbidden(harness: &dyn DelegationHarness) -> Proof {
    let office = office(harness).await?;
    let first = office.establish().await?;
    let second = office.renew(&first).await?;
    office.revoke(&second).await?;
    is_refused(&office, &second, Kind::Forbidden).await?;
    is_refused(&office, &first, Kind::Forbidden).await
}

pub(crate) async fn revoking_is_idempotent(harness: &dyn DelegationHarness) -> Proof {
    let office = office(harness).await?;
    let first = office.establish().await?;
    let second = office.renew(&first).await?;
    office.revoke(&first).await?;
    is_refused(&office, &second, Kind::Forbidden).await?;
    for lease in [&second, &first, &second] {
        office.revoke(lease).await?;
    }
    Ok(())
}

pub(crate) async fn an_expired_lease_is_forbidden(harness: &dyn DelegationHarness) -> Proof {
    let office = office_with(harness, BRIEFLY / 2).await?;
    let lease = office.establish().await?;
    sleep(BRIEFLY).await;
    is_refused(&office, &lease, Kind::Forbidden).await?;
    office.revoke(&lease).await?;
    is_refused(&office, &lease, Kind::Forbidden).await
}

pub(crate) async fn a_renewed_lease_lives_on(harness: &dyn DelegationHarness) -> Proof {
    let office = office_with(harness, 2 * BRIEFLY).await?;
    let mut lease = office.establish().await?;
    for _ in 0..4 {
        sleep(BRIEFLY).await;
        lease = office.renew(&lease).await?;
    }
    office.create(&lease).await.map(drop)
}

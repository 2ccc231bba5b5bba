//! Whose a lease is, and what for.
//!
//! Knows nothing about how it ends.

use runtime_ports::{CommitDisposition, ExecutionDelegationLease, PortFailureKind as Kind};
use runtime_types::{CallerScope, DelegationLeaseRef};

use crate::{
    Proof,
    claim::{claim, failure, operation},
    delegation::{
        DelegationHarness,
        sample::{caller, named, office},
    },
};

const NOT_COMMITTED: CommitDisposition = CommitDisposition::NotCommitted;

fn others() -> [CallerScope; 4] {
    let ada = caller("ada");
    [
        caller("eve"),
        CallerScope { tenant_id: Some(named("other")), ..ada.clone() },
        CallerScope { project_id: Some(named("other")), ..ada.clone() },
        CallerScope { tenant_id: None, project_id: None, ..ada },
    ]
}

pub(crate) async fn a_lease_is_its_callers_alone(harness: &dyn DelegationHarness) -> Proof {
    let office = office(harness).await?;
    let lease = office.establish().await?;
    let (factory, scope, operation) = (&office.factory, &office.scope, operation());
    for other in others() {
        let renewed = factory.renew_delegation(&operation, &other, &lease).await;
        failure("the renewal by another", renewed, Kind::Forbidden, NOT_COMMITTED)?;
        let ports = factory.create(&operation, &other, &lease, scope).await;
        failure("making ports by another", ports, Kind::Forbidden, NOT_COMMITTED)?;
        let revoked = factory.revoke_delegation(&operation, &other, &lease).await;
        failure("the revocation by another", revoked, Kind::Forbidden, NOT_COMMITTED)?;
    }
    office.create(&lease).await?;
    office.renew(&lease).await.map(drop)
}

pub(crate) async fn capabilities_do_not_make_a_caller(harness: &dyn DelegationHarness) -> Proof {
    let mut office = office(harness).await?;
    let lease = office.establish().await?;
    office.caller.capabilities.clear();
    office.create(&lease).await?;
    let lease = office.renew(&lease).await?;
    office.caller.capabilities.insert("more".into());
    office.revoke(&lease).await
}

pub(crate) async fn a_lease_is_for_its_execution_alone(harness: &dyn DelegationHarness) -> Proof {
    let office = office(harness).await?;
    let lease = office.establish().await?;
    let other = office.with_another_execution();
    let ports = other.try_create(&operation(), &lease).await;
    failure("making ports of another execution", ports, Kind::Forbidden, NOT_COMMITTED)?;
    office.create(&lease).await.map(drop)
}

pub(crate) async fn an_unknown_lease_is_forbidden(harness: &dyn DelegationHarness) -> Proof {
    let office = office(harness).await?;
    let lease = office.establish().await?;
    for reference in ["nobody's-reference", "1", "../1"] {
        let lease_ref = DelegationLeaseRef::new(reference);
        let unknown = ExecutionDelegationLease { lease_ref, ..lease.clone() };
        let renewed = office.try_renew(&operation(), &unknown).await;
        let told = failure("the renewal", renewed, Kind::Forbidden, NOT_COMMITTED)?;
        let ports = office.try_create(&operation(), &unknown).await;
        failure("making ports", ports, Kind::Forbidden, NOT_COMMITTED)?;
        let revoked = office.try_revoke(&operation(), &unknown).await;
        failure("the revocation", revoked, Kind::Forbidden, NOT_COMMITTED)?;
        let repeats = reference.len() > 2 && format!("{told:?}").contains(reference);
        claim(!repeats, || "the failure repeats the reference".into())?;
    }
    Ok(())
}

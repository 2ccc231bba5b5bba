//! Decides how the audit of contexts is kept in memory.
//!
//! Knows nothing about how contexts come about. Invariant: what was audited is never changed; only
//! an invocation goes on, from prepared to one end. Each message is kept once.

use std::collections::BTreeMap;

use async_trait::async_trait;
use runtime_ports::{
    ContextAuditDerivation, ContextAuditSession, ContextAuditSnapshot, Digest,
    ModelInvocationAudit, ModelInvocationAuditState, OperationContext, PortFailure,
    PortFailureKind, Transcript,
};

use crate::{
    fake_port::{FakePort, fake_port},
    kept_prefixes::KeptPrefixes,
};

/// A [`ContextAuditSession`] in memory. Clones share it.
///
/// Names for a [`FaultPlan`](crate::FaultPlan): `context_audit.snapshot`,
/// `context_audit.derivation`, `context_audit.model_invocation`.
#[derive(Clone)]
pub struct FakeContextAudit {
    port: FakePort<Audit, AuditCall>,
}

/// What a [`FakeContextAudit`] was asked to keep.
#[derive(Debug, Clone, PartialEq)]
pub enum AuditCall {
    /// A context.
    Snapshot(ContextAuditSnapshot),
    /// A step between two contexts.
    Derivation(ContextAuditDerivation),
    /// How far an invocation has come.
    Invocation(ModelInvocationAudit),
}

#[derive(Default)]
struct Audit {
    messages: KeptPrefixes,
    snapshots: BTreeMap<String, KeptSnapshot>,
    derivations: BTreeMap<String, ContextAuditDerivation>,
    invocations: BTreeMap<String, ModelInvocationAudit>,
}

/// A snapshot whose messages are elsewhere, by their digest.
#[derive(PartialEq)]
struct KeptSnapshot {
    rest: ContextAuditSnapshot,
    messages: Digest,
}

impl KeptSnapshot {
    fn of(snapshot: ContextAuditSnapshot) -> Self {
        let messages = snapshot.messages.digest();
        Self { rest: ContextAuditSnapshot { messages: Transcript::new(), ..snapshot }, messages }
    }
}

fake_port!(FakeContextAudit, AuditCall);

impl FakeContextAudit {
    /// An empty audit.
    #[must_use]
    pub fn new() -> Self {
        Self { port: FakePort::new(Audit::default()) }
    }

    /// The snapshots that were kept, by id.
    #[must_use]
    pub fn snapshots(&self) -> BTreeMap<String, ContextAuditSnapshot> {
        let world = self.port.world();
        let whole = |(id, kept): (&String, &KeptSnapshot)| {
            let messages = world.messages.transcript(kept.messages);
            (id.clone(), ContextAuditSnapshot { messages, ..kept.rest.clone() })
        };
        world.snapshots.iter().map(whole).collect()
    }

    /// How many different messages all snapshots together are made of.
    #[must_use]
    pub fn message_count(&self) -> usize {
        self.port.world().messages.message_count()
    }

    /// The derivations that were kept, by id.
    #[must_use]
    pub fn derivations(&self) -> BTreeMap<String, ContextAuditDerivation> {
        self.port.world().derivations.clone()
    }

    /// The invocations that were kept, by id, each as far as it came.
    #[must_use]
    pub fn invocations(&self) -> BTreeMap<String, ModelInvocationAudit> {
        self.port.world().invocations.clone()
    }
}

impl Default for FakeContextAudit {
    fn default() -> Self {
        Self::new()
    }
}

/// Keeps `value` under `id` unless another value is there that it may not follow.
fn keep<V: PartialEq>(
    kept: &mut BTreeMap<String, V>,
    id: String,
    value: V,
    may_follow: impl Fn(&V, &V) -> bool,
) -> Result<(), PortFailure> {
    if kept.get(&id).is_some_and(|before| *before != value && !may_follow(before, &value)) {
        let message = "another value was audited under this id; use a new id";
        let kind = PortFailureKind::Conflict;
        return Err(PortFailure::rejected(kind, "AUDIT_CONFLICT", message));
    }
    kept.insert(id, value);
    Ok(())
}

fn is_end_of(prepared: &ModelInvocationAudit, end: &ModelInvocationAudit) -> bool {
    prepared.state == ModelInvocationAuditState::Prepared
        && end.state != ModelInvocationAuditState::Prepared
        && prepared.request_snapshot_id == end.request_snapshot_id
        && prepared.model == end.model
}

#[async_trait]
impl ContextAuditSession for FakeContextAudit {
    async fn snapshot(
        &self,
        operation: &OperationContext,
        snapshot: ContextAuditSnapshot,
    ) -> Result<(), PortFailure> {
        let call = AuditCall::Snapshot(snapshot.clone());
        let effect = |audit: &mut Audit| {
            let (id, messages) = (snapshot.id.clone(), snapshot.messages.clone());
            keep(&mut audit.snapshots, id, KeptSnapshot::of(snapshot), |_, _| false)?;
            audit.messages.keep(&messages);
            Ok(())
        };
        self.port.call(operation, "context_audit.snapshot", call, effect).await
    }

    async fn derivation(
        &self,
        operation: &OperationContext,
        derivation: ContextAuditDerivation,
    ) -> Result<(), PortFailure> {
        let call = AuditCall::Derivation(derivation.clone());
        let effect = |audit: &mut Audit| {
            keep(&mut audit.derivations, derivation.id.clone(), derivation, |_, _| false)
        };
        self.port.call(operation, "context_audit.derivation", call, effect).await
    }

    async fn model_invocation(
        &self,
        operation: &OperationContext,
        invocation: ModelInvocationAudit,
    ) -> Result<(), PortFailure> {
        let call = AuditCall::Invocation(invocation.clone());
        let effect = |audit: &mut Audit| {
            keep(&mut audit.invocations, invocation.id.clone(), invocation, is_end_of)
        };
        self.port.call(operation, "context_audit.model_invocation", call, effect).await
    }
}

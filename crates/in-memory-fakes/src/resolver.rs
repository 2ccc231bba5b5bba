//! Decides what runtime instances stand for, and who may see them.
//!
//! Knows nothing about how they are configured.

use std::collections::BTreeMap;

use async_trait::async_trait;
use runtime_ports::{
    OperationContext, PortFailure, PortFailureKind, ResolvedExecutionContext,
    RuntimeInstanceResolver,
};
use runtime_types::{CallerScope, RuntimeInstanceId, SubjectId};

use crate::fake_port::{FakePort, fake_port};

/// A [`RuntimeInstanceResolver`] in memory. Clones share it.
///
/// Name for a [`FaultPlan`](crate::FaultPlan): `resolver.resolve`.
#[derive(Clone)]
pub struct FakeResolver {
    port: FakePort<BTreeMap<RuntimeInstanceId, Instance>, ResolverCall>,
}

/// What a [`FakeResolver`] was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolverCall {
    /// Resolve this instance for this caller.
    Resolve(CallerScope, RuntimeInstanceId),
}

struct Instance {
    context: ResolvedExecutionContext,
    only_for: Option<SubjectId>,
}

fake_port!(FakeResolver, ResolverCall);

impl FakeResolver {
    /// Knows these instances; everybody may see them.
    #[must_use]
    pub fn new(contexts: impl IntoIterator<Item = ResolvedExecutionContext>) -> Self {
        let instances = contexts.into_iter().map(|context| {
            let id = context.runtime_instance_id.clone();
            (id, Instance { context, only_for: None })
        });
        Self { port: FakePort::new(instances.collect()) }
    }

    /// Also knows this instance; only `subject` may see it.
    #[must_use]
    pub fn with_private(self, subject: SubjectId, context: ResolvedExecutionContext) -> Self {
        let id = context.runtime_instance_id.clone();
        self.port.world().insert(id, Instance { context, only_for: Some(subject) });
        self
    }
}

impl Default for FakeResolver {
    fn default() -> Self {
        Self::new([])
    }
}

impl Instance {
    fn is_seen_by(&self, caller: &CallerScope) -> bool {
        self.only_for.as_ref().is_none_or(|subject| *subject == caller.subject)
    }
}

#[async_trait]
impl RuntimeInstanceResolver for FakeResolver {
    async fn resolve(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        id: &RuntimeInstanceId,
    ) -> Result<ResolvedExecutionContext, PortFailure> {
        let call = ResolverCall::Resolve(caller.clone(), id.clone());
        let effect = |instances: &mut BTreeMap<RuntimeInstanceId, Instance>| {
            let seen = instances.get(id).filter(|instance| instance.is_seen_by(caller));
            seen.map(|instance| instance.context.clone()).ok_or_else(|| {
                let message = "no such runtime instance; check its id";
                PortFailure::rejected(PortFailureKind::NotFound, "INSTANCE_NOT_FOUND", message)
            })
        };
        self.port.call(operation, "resolver.resolve", call, effect).await
    }
}

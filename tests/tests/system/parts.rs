//! Decides whether the factory over parts, and the inbox that comes with it, keep the promises of
//! their ports.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use in_memory_fakes::FakeSessions;
use port_conformance::{
    Unstageable,
    delegation::{DelegationCapabilities, DelegationHarness},
    interaction::{
        Audience, Human, InteractionCapabilities, InteractionHarness, StagedInteraction,
    },
};
use runtime_kernel::{AnswerSink as _, Inbox, PartsFactory};
use runtime_ports::{
    ExecutionSessionFactory, ExecutionSessions, InteractionRequest, InteractionResponse,
    InteractionSession, OperationContext, PortFailure,
};
use runtime_types::{ExecutionId, OperationId};
use uuid::Uuid;

mod factory {
    port_conformance::delegation_conformance!(super::PartsHarness);
}

mod inbox {
    port_conformance::interaction_conformance!(super::InboxHarness);
}

/// A factory over parts whose questions wait in an inbox.
struct PartsHarness;

#[async_trait]
impl DelegationHarness for PartsHarness {
    fn capabilities(&self) -> DelegationCapabilities {
        DelegationCapabilities::ALL
    }

    async fn stage(&self, ttl: Duration) -> Result<Arc<dyn ExecutionSessionFactory>, Unstageable> {
        let (inbox, fakes) = (Inbox::new(), FakeSessions::default().ports());
        let parts = ExecutionSessions { interaction: Arc::new(inbox.clone()), ..fakes };
        let factory = PartsFactory::new(move |_, _| Ok(parts.clone()), Arc::new(inbox));
        Ok(Arc::new(factory.ttl(ttl)))
    }
}

/// An inbox, and somebody who looks into it.
struct InboxHarness;

#[async_trait]
impl InteractionHarness for InboxHarness {
    fn capabilities(&self) -> InteractionCapabilities {
        InteractionCapabilities {
            can_be_alone: false,
            outlives_its_process: false,
            ..InteractionCapabilities::ALL
        }
    }

    async fn stage(&self, audience: Audience) -> Result<StagedInteraction, Unstageable> {
        if audience == Audience::Nobody {
            return Err(Unstageable::because("an inbox does not know who looks into it"));
        }
        let known = Arc::default();
        let clerk = Arc::new(Clerk { inbox: Inbox::new(), known });
        Ok(StagedInteraction { session: clerk.clone(), human: clerk })
    }
}

/// Looks into an inbox for all executions that it has seen.
struct Clerk {
    inbox: Inbox,
    known: Arc<std::sync::Mutex<Vec<ExecutionId>>>,
}

#[async_trait]
impl InteractionSession for Clerk {
    async fn prepare(
        &self,
        operation: &OperationContext,
        request: InteractionRequest,
    ) -> Result<(), PortFailure> {
        {
            let mut known = self.known.lock().unwrap();
            if !known.contains(&operation.execution_id) {
                known.push(operation.execution_id.clone());
            }
        }
        self.inbox.prepare(operation, request).await
    }

    async fn wait(
        &self,
        operation: &OperationContext,
        request_id: &str,
    ) -> Result<InteractionResponse, PortFailure> {
        self.inbox.wait(operation, request_id).await
    }
}

#[async_trait]
impl Human for Clerk {
    fn sees(&self) -> Vec<InteractionRequest> {
        let known = self.known.lock().unwrap().clone();
        known.iter().flat_map(|execution| self.inbox.pending(execution)).collect()
    }

    async fn answers(&self, execution: &ExecutionId, id: &str, response: InteractionResponse) {
        let (operation, run) = (OperationId::from(Uuid::new_v4()), execution.clone());
        let operation = OperationContext::root(operation, run, Duration::from_secs(60));
        // A second answer is refused, as it should be; the scenario looks at what the waits get.
        let _ = self.inbox.answer(&operation, execution, id, response).await;
    }

    async fn after_death(&self) -> Result<StagedInteraction, Unstageable> {
        Err(Unstageable::because("an inbox in memory dies with its process"))
    }
}

//! Decides how processes share and leave a `FakeConversation`, and what befalls it.
//!
//! Knows nothing about what the scenarios expect.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::{ConversationCall, FakeConversation, FaultPlan};
use port_conformance::{
    Trouble, Unstageable,
    conversation::{
        ConversationCapabilities, ConversationHarness, ConversationWorld, StagedConversation,
    },
};
use runtime_ports::ConversationSession;

use super::trouble;

/// A `FakeConversation` behind every scenario.
pub(crate) struct FakeConversationHarness;

#[async_trait]
impl ConversationHarness for FakeConversationHarness {
    fn capabilities(&self) -> ConversationCapabilities {
        ConversationCapabilities::ALL
    }

    async fn stage(&self) -> Result<StagedConversation, Unstageable> {
        let plan = FaultPlan::new();
        plan.unchecked();
        let fake = FakeConversation::default().with_faults(&plan);
        let session = Arc::new(fake.clone());
        Ok(StagedConversation { session, world: Box::new(FakeMemory { fake, plan }) })
    }
}

/// The memory of the fake is its durable part: each process gets another handle on it.
struct FakeMemory {
    fake: FakeConversation,
    plan: FaultPlan,
}

#[async_trait]
impl ConversationWorld for FakeMemory {
    async fn second_process(&mut self) -> Result<Arc<dyn ConversationSession>, Unstageable> {
        Ok(Arc::new(self.fake.clone()))
    }

    async fn after_death(
        &mut self,
        session: Arc<dyn ConversationSession>,
    ) -> Result<Arc<dyn ConversationSession>, Unstageable> {
        drop(session);
        self.second_process().await
    }

    async fn another_conversation(&mut self) -> Result<Arc<dyn ConversationSession>, Unstageable> {
        Ok(Arc::new(FakeConversation::default()))
    }

    async fn befalls(&mut self, trouble: Trouble) -> Result<(), Unstageable> {
        let is_append = |call: &ConversationCall| matches!(call, ConversationCall::Append(_));
        let appends = self.fake.calls().iter().filter(|call| is_append(call)).count();
        trouble::plan(&self.plan, "conversation.append", appends, trouble);
        Ok(())
    }
}

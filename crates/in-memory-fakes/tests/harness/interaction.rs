//! Decides how a test plays the human before a `FakeInteraction`.
//!
//! Knows nothing about what the scenarios expect.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::FakeInteraction;
use port_conformance::{
    Unstageable,
    interaction::{
        Audience, Human, InteractionCapabilities, InteractionHarness, StagedInteraction,
    },
};
use runtime_ports::{InteractionRequest, InteractionResponse};
use runtime_types::ExecutionId;

/// A `FakeInteraction` behind every scenario.
pub(crate) struct FakeInteractionHarness;

#[async_trait]
impl InteractionHarness for FakeInteractionHarness {
    fn capabilities(&self) -> InteractionCapabilities {
        InteractionCapabilities::ALL
    }

    async fn stage(&self, audience: Audience) -> Result<StagedInteraction, Unstageable> {
        Ok(staged(match audience {
            Audience::Human => FakeInteraction::manual(),
            Audience::Nobody => FakeInteraction::unavailable(),
        }))
    }
}

fn staged(fake: FakeInteraction) -> StagedInteraction {
    StagedInteraction { session: Arc::new(fake.clone()), human: Arc::new(PlayedHuman(fake)) }
}

struct PlayedHuman(FakeInteraction);

#[async_trait]
impl Human for PlayedHuman {
    fn sees(&self) -> Vec<InteractionRequest> {
        self.0.pending()
    }

    async fn answers(
        &self,
        execution: &ExecutionId,
        request_id: &str,
        response: InteractionResponse,
    ) {
        // A second answer is refused, as it should be; the scenario looks at what the waits get.
        let _ = self.0.answer_in(execution, request_id, response);
    }

    /// The memory of the fake is its durable part: the next process gets another handle on it.
    async fn after_death(&self) -> Result<StagedInteraction, Unstageable> {
        Ok(staged(self.0.clone()))
    }
}

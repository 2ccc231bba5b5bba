//! A conversation that completes in the background what its caller has left.
//!
//! Does nothing wrong: holds that the suite demands no more than the contract does. Says of an
//! interrupted append what it knows, which is nothing.

use std::sync::Arc;

use async_trait::async_trait;
use port_conformance::{
    Trouble, Unstageable,
    conversation::{
        ConversationCapabilities, ConversationHarness, ConversationWorld, SCENARIOS,
        StagedConversation,
    },
};
use runtime_ports::{
    ConversationMessage, ConversationSession, Interruption, OperationContext, PortFailure,
    PortFailureKind,
};

use super::{Session, deaf};
use crate::{harness::FakeConversationHarness, matrix::all_hold};

#[test]
fn a_store_that_completes_in_the_background_holds_everything() {
    all_hold(SCENARIOS, &BackgroundHarness as &dyn ConversationHarness);
}

struct BackgroundHarness;

#[async_trait]
impl ConversationHarness for BackgroundHarness {
    fn capabilities(&self) -> ConversationCapabilities {
        ConversationCapabilities::ALL
    }

    async fn stage(&self) -> Result<StagedConversation, Unstageable> {
        let StagedConversation { session, world } = FakeConversationHarness.stage().await?;
        let world = Box::new(BackgroundWorld(world));
        Ok(StagedConversation { session: in_background(session), world })
    }
}

fn in_background(session: Session) -> Session {
    Arc::new(InBackground(session))
}

struct BackgroundWorld(Box<dyn ConversationWorld>);

#[async_trait]
impl ConversationWorld for BackgroundWorld {
    async fn second_process(&mut self) -> Result<Session, Unstageable> {
        self.0.second_process().await.map(in_background)
    }

    async fn after_death(&mut self, session: Session) -> Result<Session, Unstageable> {
        self.0.after_death(session).await.map(in_background)
    }

    async fn another_conversation(&mut self) -> Result<Session, Unstageable> {
        self.0.another_conversation().await.map(in_background)
    }

    async fn befalls(&mut self, trouble: Trouble) -> Result<(), Unstageable> {
        self.0.befalls(trouble).await
    }
}

struct InBackground(Session);

#[async_trait]
impl ConversationSession for InBackground {
    async fn load_recent(
        &self,
        operation: &OperationContext,
        limit: usize,
    ) -> Result<Vec<ConversationMessage>, PortFailure> {
        self.0.load_recent(operation, limit).await
    }

    async fn append(
        &self,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        let (session, deaf, messages) = (self.0.clone(), deaf(operation), messages.to_vec());
        let append = tokio::spawn(async move { session.append(&deaf, &messages).await });
        match operation.bounded(append).await.map_err(Interruption::in_flight)? {
            Ok(outcome) => outcome,
            Err(_) => Err(PortFailure::in_flight_unknown(
                PortFailureKind::Internal,
                "APPEND_LOST",
                "the task of the append ended early",
            )),
        }
    }
}

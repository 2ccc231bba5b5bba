//! What the saboteur does wrong when it loads.
//!
//! Knows nothing about how it was appended.

use std::time::Duration;

use runtime_ports::{ConversationMessage, ModelRole, OperationContext, PortFailure};
use tokio::time::sleep;

use super::{ConversationFault as Fault, SabotagedSession, deaf, refused};

impl SabotagedSession {
    pub(super) async fn load_badly(
        &self,
        operation: &OperationContext,
        limit: usize,
    ) -> Result<Vec<ConversationMessage>, PortFailure> {
        match self.fault {
            Fault::LoadsAnyway => return self.honest.load_recent(&deaf(operation), limit).await,
            // Whoever is dropped here never leaves.
            Fault::BreaksWhenDropped => {
                if !self.begins_loading() {
                    return Err(refused());
                }
                sleep(Duration::from_millis(1)).await;
                self.ends_loading();
            }
            _ => {}
        }
        let loaded = self.honest.load_recent(operation, self.mistaken(limit)).await?;
        Ok(self.spoiled(loaded, limit))
    }

    fn mistaken(&self, limit: usize) -> usize {
        match self.fault {
            Fault::GivesTheOldest => usize::MAX,
            Fault::TakesZeroForAll if limit == 0 => usize::MAX,
            Fault::TakesHugeForNone if isize::try_from(limit).is_err() => 0,
            _ => limit,
        }
    }

    fn spoiled(
        &self,
        mut loaded: Vec<ConversationMessage>,
        limit: usize,
    ) -> Vec<ConversationMessage> {
        match self.fault {
            Fault::InventsAGreeting if loaded.is_empty() => {
                let (role, text) = (ModelRole::Assistant, "how can I help?".into());
                loaded.push(ConversationMessage { role, text });
            }
            Fault::TurnsAround => loaded.reverse(),
            Fault::SortsMessages => loaded.sort_by(|one, other| one.text.cmp(&other.text)),
            Fault::GivesTheOldest => loaded.truncate(limit),
            _ => {}
        }
        loaded
    }
}

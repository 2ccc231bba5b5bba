//! Decides what of a turn's stream is shown while it runs.
//!
//! Knows deltas only; everything else reaches the host through the loop.

use std::sync::Arc;

use router_adapter::TurnObserver;
use runtime_ports::AgentTurnEvent;
use uuid::Uuid;

use crate::{event::Event, show::Show};

/// Shows deltas of text and reasoning.
pub(crate) struct ShowDeltas(pub(crate) Arc<dyn Show>);

impl TurnObserver for ShowDeltas {
    fn observed(&self, _turn: Uuid, event: &AgentTurnEvent) {
        match event {
            AgentTurnEvent::TextDelta(text) => {
                self.0.show(&Event::TextDelta { text: text.clone() });
            }
            AgentTurnEvent::ReasoningDelta(text) => {
                self.0.show(&Event::ReasoningDelta { text: text.clone() });
            }
            _ => {}
        }
    }
}

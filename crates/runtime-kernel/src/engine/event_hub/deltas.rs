//! Decides how the pieces of an answer become events.
//!
//! Knows nothing about the answer. Invariant: a delta has the sequence of the event before it and
//! its place after it; it is made only when somebody wants it.

use std::{fmt, sync::Arc};

use runtime_decision::{EVENT_VERSION, Event, RunEvent, RunIdentity};
use runtime_ports::{DeltaSink, ModelDelta};

use super::EventHub;
use crate::engine::clock::Clock;

/// Tells the deltas of one model call to those who watch. Nothing is put together: each delta is
/// an event.
pub(crate) struct DeltaEvents {
    /// That of the run, then those above.
    hubs: Vec<EventHub>,
    identity: Arc<RunIdentity>,
    cycle: u32,
    clock: Arc<dyn Clock>,
}

impl DeltaEvents {
    pub(super) fn new(
        hubs: Vec<EventHub>,
        identity: Arc<RunIdentity>,
        cycle: u32,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { hubs, identity, cycle, clock }
    }
}

impl DeltaSink for DeltaEvents {
    fn delta(&self, delta: ModelDelta<'_>) {
        // Code of the embedder, so not under the lock.
        let at_ms = self.clock.unix_ms();
        let make = |sequence, place| RunEvent {
            version: EVENT_VERSION,
            identity: Arc::clone(&self.identity),
            sequence,
            delta: Some(place),
            at_ms,
            cycle: Some(self.cycle),
            event: event(delta),
        };
        let Some((own, above)) = self.hubs.split_first() else { return };
        let is_wanted = above.iter().any(EventHub::is_watched_with_deltas);
        let told = own.change(|inner, woken| inner.publish_delta(woken, is_wanted, make));
        let told = told.filter(|_| is_wanted);
        told.iter().for_each(|event| above.iter().for_each(|hub| hub.pass_on(event)));
    }
}

impl fmt::Debug for DeltaEvents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DeltaEvents").field("cycle", &self.cycle).finish_non_exhaustive()
    }
}

fn event(delta: ModelDelta<'_>) -> Event {
    match delta {
        ModelDelta::Text(text) => Event::AssistantDelta { text: text.into() },
        ModelDelta::Reasoning(text) => Event::ReasoningDelta { text: text.into() },
        ModelDelta::ToolCall { index, id, name } => {
            Event::ToolCallDelta { index, tool_call_id: id.into(), tool_name: name.into() }
        }
        ModelDelta::ToolArguments { index, fragment } => {
            Event::ToolArgumentsDelta { index, fragment: fragment.into() }
        }
        ModelDelta::Restarted => Event::AnswerRestarted,
    }
}

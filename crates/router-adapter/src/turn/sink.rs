//! Decides which deltas of a model call a host sees.
//!
//! Shows text and reasoning. Calls are surfaced when they are whole, so their deltas are not shown.
//! When an answer starts again, what the host has not read is taken back, and a diagnostic record
//! says that the rest is void.

use runtime_ports::{AgentTurnEvent, DeltaSink, ModelDelta};
use serde_json::{Value, json};

use crate::mailbox::Mailbox;

/// Posts deltas as events.
pub(super) struct EventSink<'a>(pub(super) &'a Mailbox<AgentTurnEvent>);

impl DeltaSink for EventSink<'_> {
    fn delta(&self, delta: ModelDelta<'_>) {
        match delta {
            ModelDelta::Text("") | ModelDelta::Reasoning("") => {}
            ModelDelta::Text(text) => self.0.post(AgentTurnEvent::TextDelta(text.to_owned())),
            ModelDelta::Reasoning(text) => {
                self.0.post(AgentTurnEvent::ReasoningDelta(text.to_owned()));
            }
            ModelDelta::Restarted => self.restart(),
            ModelDelta::ToolCall { .. } | ModelDelta::ToolArguments { .. } => {}
        }
    }
}

impl EventSink<'_> {
    fn restart(&self) {
        self.0.retain(|event| !is_delta(event) && !is_mark(event));
        self.0.post(AgentTurnEvent::TransportInput(mark()));
    }
}

/// Says that the answer starts again. One unread mark is enough, since it voids what was before.
fn mark() -> Value {
    json!({ "router": "answer_restarted" })
}

fn is_mark(event: &AgentTurnEvent) -> bool {
    matches!(event, AgentTurnEvent::TransportInput(record) if *record == mark())
}

const fn is_delta(event: &AgentTurnEvent) -> bool {
    matches!(event, AgentTurnEvent::TextDelta(_) | AgentTurnEvent::ReasoningDelta(_))
}

//! Decides what is told of where the messages of a request come from.
//!
//! Knows nothing about who wants to know it.

use runtime_ports::Transcript;

use crate::Machine;

/// What a request is based on, as long as it is being made. Cloning it costs reference counts.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestOrigin {
    /// The complete history.
    pub history: Transcript,
    /// What stands for it; the history itself while nothing else does.
    pub context: Transcript,
    /// How many messages of the context stand for the oldest ones of the history.
    pub head: usize,
    /// How many messages of the history those stand for.
    pub covered: usize,
    /// How many messages behind the agent's own system message are loaded resources.
    pub resources: usize,
    /// Their estimated tokens.
    pub resource_tokens: u64,
}

impl RequestOrigin {
    /// Whether a part of the history stands in the context in a shorter form, or not at all.
    #[must_use]
    pub fn is_compacted(&self) -> bool {
        let whole = self.history.estimated_tokens().saturating_add(self.resource_tokens);
        self.context.estimated_tokens() < whole
    }
}

impl Machine {
    /// What the open model call, or the next one, is based on. Costs reference counts.
    #[must_use]
    pub fn request_origin(&self) -> RequestOrigin {
        let kept = self.state.context.as_deref();
        let resource_tokens = self.state.resources.as_ref().map_or(0, |loaded| loaded.tokens);
        RequestOrigin {
            history: self.state.history.clone(),
            context: self.context().clone(),
            head: kept.map_or(0, |context| context.head),
            covered: kept.map_or(0, |context| context.covered),
            resources: usize::from(resource_tokens > 0),
            resource_tokens,
        }
    }
}

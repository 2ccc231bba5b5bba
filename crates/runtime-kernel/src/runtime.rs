//! Decides what the two host-driven loops share: the intelligence that they run on.
//!
//! Knows nothing about rounds, tools or hosts; each loop is in a file of its own.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use runtime_ports::{Intelligence, ResolvedAgentModel};

/// What a host's callback gives back. The loops await it to its end and race it against nothing.
pub type HostFuture<'a, T> = Pin<Box<dyn Future<Output = anyhow::Result<T>> + Send + 'a>>;

/// Runs the host-driven loops over one [`Intelligence`]. Cloning costs a reference count.
#[derive(Clone)]
pub struct AgentRuntime {
    pub(crate) intelligence: Arc<dyn Intelligence>,
}

impl AgentRuntime {
    /// A runtime over `intelligence`.
    pub fn new(intelligence: Arc<dyn Intelligence>) -> Self {
        Self { intelligence }
    }

    /// Finds the model that `requested` names: an exact identifier or a catalogue alias.
    ///
    /// # Errors
    /// The [`PortFailure`](runtime_ports::PortFailure) of the intelligence; `NotFound` for an
    /// unknown model.
    pub async fn resolve_model(&self, requested: &str) -> anyhow::Result<ResolvedAgentModel> {
        Ok(self.intelligence.resolve_agent_model(requested).await?)
    }
}

impl fmt::Debug for AgentRuntime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AgentRuntime").finish_non_exhaustive()
    }
}

//! Decides how memory providers and the summariser are called.
//!
//! Knows nothing about where memory is kept. Invariant: a provider that fails or panics costs a
//! warning, never the run.

use std::sync::Arc;

use async_trait::async_trait;
use runtime_decision::{Collected, MemoryCall, MemoryDeclaration, MemoryMoment};
use runtime_ports::ModelMessage;

use super::callback::{CallbackError, RunContext, Unanswered, answered};

/// Memory beside the history of a run: it gives messages that shape the requests of a cycle, and is
/// told when the context is compacted.
///
/// # Contract
/// - The declaration never changes; only the methods that it names are called.
/// - What it recalls shapes the requests of this cycle and never enters the history. It stands
///   behind the system message; giving the same each time keeps the prefix of requests the same.
/// - An error is a warning in the result of the run, which goes on without what was recalled.
/// - Each method may be called again for the same moment, after a suspension or a crash.
///
/// # Cancellation
/// The future is dropped when the run ends, and when it goes on after it was told to stop.
///
/// # Examples
/// ```
/// # use async_trait::async_trait;
/// # use runtime_kernel::engine::{CallbackError, MemoryCall, MemoryDeclaration, MemoryProvider, RunContext};
/// # use runtime_ports::{ModelMessage, ModelRole};
/// struct Notes(String);
///
/// #[async_trait]
/// impl MemoryProvider for Notes {
///     fn declaration(&self) -> MemoryDeclaration {
///         MemoryDeclaration { name: "notes".into(), recalls: true, observes: false }
///     }
///
///     async fn recall(
///         &self,
///         _run: &RunContext,
///         _call: &MemoryCall,
///     ) -> Result<Vec<ModelMessage>, CallbackError> {
///         Ok(vec![ModelMessage::text(ModelRole::User, &*self.0)])
///     }
/// }
/// ```
#[async_trait]
pub trait MemoryProvider: Send + Sync {
    /// Its name, and what it wants to be called for.
    fn declaration(&self) -> MemoryDeclaration;

    /// Messages for the requests of this cycle, oldest first.
    async fn recall(
        &self,
        run: &RunContext,
        call: &MemoryCall,
    ) -> Result<Vec<ModelMessage>, CallbackError> {
        let _ = (run, call);
        Ok(Vec::new())
    }

    /// The context is about to be compacted: what matters can be kept elsewhere first.
    async fn before_compact(
        &self,
        run: &RunContext,
        call: &MemoryCall,
    ) -> Result<(), CallbackError> {
        let _ = (run, call);
        Ok(())
    }

    /// The context was compacted and has changed.
    async fn after_compact(
        &self,
        run: &RunContext,
        call: &MemoryCall,
    ) -> Result<(), CallbackError> {
        let _ = (run, call);
        Ok(())
    }
}

/// Calls a provider at the moment that `call` names. Never panics.
pub(crate) async fn consult_memory(
    provider: Arc<dyn MemoryProvider>,
    call: MemoryCall,
    run: RunContext,
) -> Collected {
    let asked = async {
        match call.moment {
            MemoryMoment::Recall => provider.recall(&run, &call).await,
            MemoryMoment::BeforeCompact => {
                provider.before_compact(&run, &call).await.map(|()| Vec::new())
            }
            MemoryMoment::AfterCompact => {
                provider.after_compact(&run, &call).await.map(|()| Vec::new())
            }
        }
    };
    match answered(&run.operation, asked).await {
        Ok(messages) => Collected::Messages(messages),
        Err(Unanswered::Interrupted) => Collected::Interrupted,
        Err(Unanswered::Failed(message)) => {
            tracing::warn!(provider = call.provider, moment = ?call.moment, "a memory provider failed");
            Collected::Failed(message)
        }
    }
}

//! Decides who is told, while a model call is on its way, that it is sent again or goes elsewhere.
//!
//! Knows nothing about what is done with it, and changes nothing. The receipt has the same, later.

use std::time::Duration;

use uuid::Uuid;

/// A model and who serves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedModel {
    /// Name of the provider, as the router's builder has it.
    pub provider: String,
    /// The model in the provider's words.
    pub model: String,
}

/// A model call does not go as planned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detour {
    /// The same model is asked again.
    SentAgain {
        /// The model.
        served: ServedModel,
        /// Code of the failure.
        code: String,
        /// How long is waited before.
        wait: Duration,
    },
    /// A fallback is asked instead.
    Moved {
        /// Who failed.
        from: ServedModel,
        /// Who is asked now.
        to: ServedModel,
        /// Code of the failure.
        code: String,
    },
    /// A model is left out, because its endpoint failed too often just now.
    LeftOut {
        /// Who is left out.
        from: ServedModel,
        /// Who is asked in its place.
        to: ServedModel,
    },
    /// A fallback is asked as well, because the first is slow.
    Hedged {
        /// Who is slow.
        from: ServedModel,
        /// Who is asked as well.
        to: ServedModel,
    },
}

/// Watches the model calls of a router, for example to tell a person.
pub trait CallObserver: Send + Sync {
    /// The call of this operation takes a detour. Must return quickly and must not panic: the call
    /// waits for it.
    fn detour(&self, operation: Uuid, detour: &Detour);
}

impl<F: Fn(Uuid, &Detour) + Send + Sync> CallObserver for F {
    fn detour(&self, operation: Uuid, detour: &Detour) {
        self(operation, detour);
    }
}

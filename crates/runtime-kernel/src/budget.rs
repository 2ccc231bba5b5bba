//! Decides what a host may know of the room that is left in a subagent's context.
//!
//! Knows lengths, never texts.

use std::{fmt, sync::Arc};

use crate::projection::Ledger;

/// The projection of a subagent run as it stood when the host was called.
///
/// A view: making and cloning one costs a reference count, and what happens to the run later does
/// not change it.
#[derive(Clone)]
pub struct ContextBudget {
    ledger: Arc<Ledger>,
}

impl ContextBudget {
    pub(crate) const fn new(ledger: Arc<Ledger>) -> Self {
        Self { ledger }
    }

    /// Tokens that the projection is taken for: a quarter of its Unicode scalars, rounded up, and
    /// 4,096 in reserve for the protocol.
    #[must_use]
    pub fn estimated_tokens(&self) -> u64 {
        self.ledger.estimated_tokens()
    }

    /// Most tokens of input that the model takes.
    #[must_use]
    pub fn max_input_tokens(&self) -> u64 {
        self.ledger.max_input_tokens()
    }

    /// Whether the projection still fits when the value of `key` is replaced by `text`, results
    /// that show the old value become markers, and nothing else is added.
    #[must_use]
    pub fn fits_state(&self, key: impl Into<String>, text: impl Into<String>) -> bool {
        self.ledger.admits_state(&key.into(), &text.into())
    }
}

impl fmt::Debug for ContextBudget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ContextBudget")
            .field("estimated_tokens", &self.estimated_tokens())
            .field("max_input_tokens", &self.max_input_tokens())
            .finish()
    }
}

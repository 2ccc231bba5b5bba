//! Decides what is returned when a turn's receipt cannot be settled or recorded.
//!
//! Knows nothing about receipts themselves. Invariant: neither the failed accounting nor what went
//! wrong before it is swallowed.

use thiserror::Error;

/// The receipt of a turn that had already failed could not be settled or recorded.
///
/// It displays the accounting's failure with its causes, and stands in the chain of the returned
/// [`anyhow::Error`] right before its source: what went wrong first. Downcasting that error finds
/// this one, or the types of the first failure. When nothing had gone wrong before, the failure of
/// the accounting is returned as it is.
///
/// # Examples
/// ```
/// use runtime_kernel::AccountingError;
///
/// # fn returned() -> anyhow::Error { anyhow::anyhow!("x") }
/// # let error = returned();
/// if let Some(accounting) = error.downcast_ref::<AccountingError>() {
///     eprintln!("not recorded: {}", accounting.accounting());
/// }
/// ```
#[derive(Debug, Error)]
#[error("{accounting:#}")]
pub struct AccountingError {
    accounting: anyhow::Error,
}

impl AccountingError {
    /// What kept the receipt from being settled or recorded.
    #[must_use]
    pub const fn accounting(&self) -> &anyhow::Error {
        &self.accounting
    }

    /// The error to return when accounting failed while `first` was about to be returned.
    pub(crate) fn during(accounting: anyhow::Error, first: anyhow::Error) -> anyhow::Error {
        first.context(Self { accounting })
    }
}

#[cfg(test)]
mod tests;

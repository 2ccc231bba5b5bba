//! Decides what a port may say when the world failed.
//!
//! Knows nothing about which port failed. Invariant: every failure names whether its effect was
//! committed, and its message carries neither payload nor secret.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::RequestMeter;

/// Whether the effect of a failed call took place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommitDisposition {
    /// It certainly did not. The call may be repeated without doubling anything.
    NotCommitted,
    /// It certainly did; only the reply is missing or unusable.
    Committed,
    /// Nobody knows: the call was in flight. Never repeat it silently.
    Unknown,
}

/// What went wrong, in terms that a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortFailureKind {
    /// The request is malformed; sending it again changes nothing.
    Invalid,
    /// What was named does not exist.
    NotFound,
    /// The caller may not do this.
    Forbidden,
    /// The call contradicts the present state: a duplicate, a stale revision, a second answer.
    Conflict,
    /// Too many calls; wait for `retry_after`.
    RateLimited,
    /// The deadline passed.
    Timeout,
    /// The operation was cancelled.
    Canceled,
    /// The other side cannot be reached, or cannot serve at present.
    Unavailable,
    /// The other side broke its protocol.
    Protocol,
    /// A fault of the implementation.
    Internal,
    /// The prompt does not fit the model's context window: make it smaller.
    ContextOverflow,
    /// The requested `max_output_tokens` is too big for this model. Never a reason to compact.
    OutputLimit,
}

/// A failed port call.
///
/// `Display` prints `code: message`. The message is lower case, says what to do where it can, and
/// holds no payload and no secret.
#[derive(Debug, Error, Clone, PartialEq, Serialize, Deserialize)]
#[error("{code}: {message}")]
#[serde(rename_all = "camelCase")]
pub struct PortFailure {
    /// What went wrong.
    pub kind: PortFailureKind,
    /// Stable identifier of the exact reason.
    pub code: String,
    /// For a human.
    pub message: String,
    /// Whether the same call may succeed later. Says nothing about whether repeating is safe:
    /// that is `commit`.
    pub retryable: bool,
    /// Whether the effect took place.
    pub commit: CommitDisposition,
    /// How long the other side asked to wait; milliseconds when serialised.
    #[serde(default, rename = "retryAfterMs", with = "optional_millis")]
    pub retry_after: Option<Duration>,
    /// The requests that reached a provider before the call failed, in order.
    #[serde(default)]
    pub attempts: Vec<RequestMeter>,
}

impl PortFailure {
    /// A failure of something that was **never sent**: not committed, not retryable.
    pub fn new(kind: PortFailureKind, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::with(kind, code.into(), message.into(), CommitDisposition::NotCommitted)
    }

    /// The deadline passed before anything was sent.
    #[must_use]
    pub fn timeout() -> Self {
        Self::new(PortFailureKind::Timeout, "DEADLINE_EXCEEDED", "operation deadline exceeded")
    }

    /// The operation was cancelled before anything was sent.
    #[must_use]
    pub fn canceled() -> Self {
        Self::new(PortFailureKind::Canceled, "CANCELED", "operation canceled")
    }

    /// The request never left this process: not committed.
    pub fn not_sent(
        kind: PortFailureKind,
        code: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self::new(kind, code, message)
    }

    /// The other side answered that it refuses the request: not committed.
    pub fn rejected(
        kind: PortFailureKind,
        code: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self::with(kind, code.into(), message.into(), CommitDisposition::NotCommitted)
    }

    /// The request was on its way and no conclusive answer came: unknown.
    pub fn in_flight_unknown(
        kind: PortFailureKind,
        code: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self::with(kind, code.into(), message.into(), CommitDisposition::Unknown)
    }

    /// The effect took place; what follows it failed: committed.
    pub fn committed(
        kind: PortFailureKind,
        code: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self::with(kind, code.into(), message.into(), CommitDisposition::Committed)
    }

    /// The same failure, marked as one that may pass.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// The same failure, retryable after `wait`.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retryable = true;
        self.retry_after = Some(wait);
        self
    }

    /// The same failure with the requests that reached a provider.
    #[must_use]
    pub fn with_attempts(mut self, attempts: Vec<RequestMeter>) -> Self {
        self.attempts = attempts;
        self
    }

    fn with(
        kind: PortFailureKind,
        code: String,
        message: String,
        commit: CommitDisposition,
    ) -> Self {
        let (retryable, retry_after, attempts) = (false, None, Vec::new());
        Self { kind, code, message, retryable, commit, retry_after, attempts }
    }
}

mod optional_millis {
    //! Writes an optional duration as whole milliseconds, rounded up: a wait never gets shorter.

    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        value: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let millis = |wait: Duration| wait.as_nanos().div_ceil(1_000_000);
        let millis = value.map(|wait| u64::try_from(millis(wait)).unwrap_or(u64::MAX));
        millis.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}

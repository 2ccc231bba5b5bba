//! Decides what is recorded about every turn that started.
//!
//! Knows nothing about where receipts are kept. Invariant: unknown is `None` or `Unavailable`,
//! never zero, and a total that misses a part says that it is a lower bound.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{AgentProvider, PortFailureKind, TokenUsage};

/// What a provider reported about the size of its work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum Metering {
    /// Counted in tokens; fields may be unknown.
    Tokens(TokenUsage),
    /// Counted in seconds of work.
    DurationSeconds(f64),
    /// Nothing was reported.
    Unavailable,
}

/// How a turn, or one request of it, ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// With a whole answer.
    Completed,
    /// With a failure.
    Failed,
    /// Because its time was up.
    TimedOut,
    /// Because it was cancelled.
    Cancelled,
    /// Because its host went away, gave it up, or died.
    Interrupted,
}

/// One request that reached a provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestMeter {
    /// The provider's own name for the request or response.
    pub provider_request_id: Option<String>,
    /// What the provider reported.
    pub metering: Metering,
    /// How the request ended.
    pub end: TurnEnd,
    /// Cost in nano-dollars; `None` when unknown.
    pub cost_nano_usd: Option<u64>,
}

/// The one record of a started turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageReceipt {
    /// [`UsageReceipt::VERSION`] when written by this release.
    pub version: u16,
    /// The turn; the key of the receipt.
    pub operation_id: Uuid,
    /// The operation that caused the turn.
    pub parent_operation_id: Option<Uuid>,
    /// Who is billed.
    pub user_id: String,
    /// The model as it was asked for: an identifier or an alias.
    pub requested_model: String,
    /// Who served it.
    pub provider: AgentProvider,
    /// The model that served it, in the provider's words.
    pub provider_model: String,
    /// The provider's thread, when known.
    pub thread_id: Option<String>,
    /// Start, in Unix milliseconds.
    pub started_at_ms: u64,
    /// End, in Unix milliseconds; the start while the turn is open.
    pub ended_at_ms: u64,
    /// How the turn ended; `Interrupted` while it is open.
    pub end: TurnEnd,
    /// Every request of the turn, in order.
    pub requests: Vec<RequestMeter>,
    /// The sum over `requests` of what is known; `Unavailable` when nothing is.
    pub metering: Metering,
    /// Whether something is missing from `metering`, so that the truth may be higher.
    pub is_lower_bound: bool,
    /// Cost in nano-dollars; `None` when the cost of any request is unknown.
    pub cost_nano_usd: Option<u64>,
    /// What was lost on the way, one sentence each; empty in good order.
    pub losses: Vec<String>,
}

impl Metering {
    /// The tokens that were reported; `None` when the work was not counted in tokens.
    ///
    /// ```
    /// use runtime_ports::{Metering, TokenUsage};
    ///
    /// let usage = TokenUsage { input_tokens: Some(3), ..TokenUsage::default() };
    /// assert_eq!(Metering::Tokens(usage).tokens(), Some(usage));
    /// assert_eq!(Metering::Unavailable.tokens(), None);
    /// ```
    #[must_use]
    pub const fn tokens(&self) -> Option<TokenUsage> {
        match self {
            Self::Tokens(usage) => Some(*usage),
            Self::DurationSeconds(_) | Self::Unavailable => None,
        }
    }
}

impl TurnEnd {
    /// How a turn or request ended that failed in this way.
    ///
    /// ```
    /// use runtime_ports::{PortFailureKind, TurnEnd};
    ///
    /// assert_eq!(TurnEnd::of_failure(PortFailureKind::Timeout), TurnEnd::TimedOut);
    /// assert_eq!(TurnEnd::of_failure(PortFailureKind::Protocol), TurnEnd::Failed);
    /// ```
    #[must_use]
    pub const fn of_failure(kind: PortFailureKind) -> Self {
        match kind {
            PortFailureKind::Timeout => Self::TimedOut,
            PortFailureKind::Canceled => Self::Cancelled,
            _ => Self::Failed,
        }
    }
}

impl RequestMeter {
    /// A request of which nothing is known but how it ended.
    ///
    /// ```
    /// use runtime_ports::{Metering, RequestMeter, TurnEnd};
    ///
    /// let lost = RequestMeter::unreported(TurnEnd::Interrupted);
    /// assert_eq!((lost.metering, lost.cost_nano_usd), (Metering::Unavailable, None));
    /// ```
    #[must_use]
    pub const fn unreported(end: TurnEnd) -> Self {
        let metering = Metering::Unavailable;
        Self { provider_request_id: None, metering, end, cost_nano_usd: None }
    }
}

impl UsageReceipt {
    /// The form that this release writes.
    pub const VERSION: u16 = 1;
}

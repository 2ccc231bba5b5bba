//! Decides for which reasons of its own a subagent run fails.
//!
//! Knows nothing about failures of the provider or the host, which are returned as they are.

use thiserror::Error;

/// Why a subagent run gave no answer, though neither provider nor host failed. Downcast the
/// [`anyhow::Error`] of [`run`](crate::AgentRuntime::run) to find it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SubagentError {
    /// Context and task alone are too large. Nothing was recorded and nothing was sent.
    #[error(
        "context and task take {estimated_tokens} tokens and the model takes {max_input_tokens}; \
         shorten them or choose a model with a larger input"
    )]
    InputTooLarge {
        /// Tokens that they are taken for, the protocol's reserve included.
        estimated_tokens: u64,
        /// Most tokens of input that the model takes.
        max_input_tokens: u64,
    },
    /// The turn ended without a terminal event.
    #[error("the provider ended its turn without a terminal event; try again")]
    NoTerminalEvent,
    /// The model answered nothing, and called no tool.
    #[error("the model gave an empty answer and called no tool; try again or say more in the task")]
    EmptyAnswer,
    /// The model answered nothing after it had called tools, whose effects stand.
    #[error(
        "the model gave an empty answer after calling tools; look at what they did before you try \
         again"
    )]
    EmptyAnswerAfterTools,
    /// A tool asked for the final answer as contents, and the model answered nothing.
    #[error("the model gave no contents for the capture that a tool asked for; try again")]
    EmptyCapture,
    /// The host took the contents and reported a failure.
    #[error("the host could not complete the capture: {reason}")]
    CaptureFailed {
        /// The text of its outcome.
        reason: String,
    },
    /// The host completed the capture with an empty text, which is no answer.
    #[error("the host completed the capture with an empty text; give the text of the answer")]
    EmptyCaptureResult,
    /// The text with which the host completed the capture does not fit into the context.
    #[error("the host completed the capture with a text that does not fit; give a shorter one")]
    CaptureTooLarge,
}

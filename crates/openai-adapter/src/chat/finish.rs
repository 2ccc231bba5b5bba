//! Decides what the reason for the end of a chat answer means, in the words of every vendor.
//!
//! Knows nothing about what the answer says. Invariant: of several reasons the one that lets less
//! happen counts, whichever came last.

use runtime_ports::ModelFinish;

/// Why an answer ended. Later ones weigh more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Finish {
    Stop,
    ToolCalls,
    Other,
    ContentFilter,
    Length,
    /// The provider failed in the middle of the answer.
    Error,
}

impl Finish {
    /// The meaning of a vendor's word; `None` when it says that the answer goes on.
    pub(super) fn of(reason: &str) -> Option<Self> {
        let word = reason.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        let word = word.strip_prefix("finish_reason_").unwrap_or(&word);
        Some(match word {
            "" | "null" | "none" | "unspecified" => return None,
            "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "stop_token"
            | "completed" | "complete" | "end" | "done" | "finished" => Self::Stop,
            "tool_calls" | "tool_call" | "tool_use" | "function_call" | "function_calls" => {
                Self::ToolCalls
            }
            "length"
            | "max_tokens"
            | "model_length"
            | "max_output_tokens"
            | "max_length"
            | "max_new_tokens"
            | "max_completion_tokens"
            | "context_length"
            | "context_length_exceeded"
            | "model_context_window_exceeded"
            | "truncated"
            | "incomplete" => Self::Length,
            "content_filter"
            | "content_filtered"
            | "safety"
            | "refusal"
            | "sensitive"
            | "recitation"
            | "prohibited_content"
            | "blocklist"
            | "spii"
            | "guardrail_intervened" => Self::ContentFilter,
            word if word.starts_with("error") || word.ends_with("error") || word == "failed" => {
                Self::Error
            }
            _ => Self::Other,
        })
    }

    /// The meaning of the word of a server behind a gateway, in so far as it is bad: gateways say
    /// `stop` for words that they do not know.
    pub(super) fn behind(reason: &str) -> Option<Self> {
        let is_about_a_call = |word: &str| word.contains("FUNCTION_CALL") || word.contains("TOOL");
        match Self::of(reason)? {
            worse @ (Self::Length | Self::ContentFilter) => Some(worse),
            Self::Other if is_about_a_call(&reason.to_ascii_uppercase()) => Some(Self::Other),
            _ => None,
        }
    }

    /// The port's word; `None` for a failure of the provider.
    pub(super) const fn of_port(self) -> Option<ModelFinish> {
        Some(match self {
            Self::Stop => ModelFinish::Stop,
            Self::ToolCalls => ModelFinish::ToolCalls,
            Self::Other => ModelFinish::Other,
            Self::ContentFilter => ModelFinish::ContentFilter,
            Self::Length => ModelFinish::Length,
            Self::Error => return None,
        })
    }
}

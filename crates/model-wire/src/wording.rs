//! Decides whether a refusal means that the prompt is too long, that the answer's limit is too
//! high, or that the caller is too fast.
//!
//! Knows nothing about HTTP. The three are worded alike and must be answered differently:
//! compacting a history because of a throttle destroys it for nothing.

use crate::refusal::Refusal;

/// What the size of a request has to do with its refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// The prompt does not fit the window.
    PromptTooLong,
    /// The requested `max_output_tokens` is too big.
    AnswerTooLong,
    /// It is about a rate, whatever the words say.
    Throttled,
}

/// Throttles that speak of tokens. Asked first.
const THROTTLES: &[&str] = &[
    "too many tokens, please wait",
    "too many tokens per",
    "tokens per minute",
    "tokens per day",
    "rate limit",
    "rate_limit",
];

/// What only the answer's limit can mean.
const ANSWER_LIMITS: &[&str] = &[
    "in the output)",
    "max_tokens is too large",
    "max_completion_tokens is too large",
    "max_output_tokens is too large",
    "maxoutputtokens value of",
    "maximum allowed number of output tokens",
    "cannot be greater than max_model_len",
    "max_tokens must be less than or equal to",
    "max_completion_tokens must be less than or equal to",
    "`max_tokens` must be less than or equal to",
    "`max_completion_tokens` must be less than or equal to",
];

/// What means that the prompt is too long.
const OVERFLOWS: &[&str] = &[
    "maximum context length",
    "exceed_context_size",
    "exceeds the available context size",
    "exceeds model's maximum context",
    "exceeds the model's maximum context",
    "exceed context limit",
    "exceeds the context window",
    "exceeds the context limit",
    "context_length_exceeded",
    "context length exceeded",
    "context window exceeded",
    "prompt is too long",
    "input is too long",
    "input token count exceeds",
    "exceeds the maximum number of tokens",
    "reduce the length of the messages",
    "reduce your prompt",
];

const OVERFLOW_CODES: &[&str] =
    &["context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"];

impl Size {
    /// What `refusal` says about size; `None` when it is about something else.
    pub fn of(refusal: &Refusal) -> Option<Self> {
        if refusal.is_any(OVERFLOW_CODES) {
            return Some(Self::of_overflow(&refusal.text));
        }
        if refusal.mentions(THROTTLES) {
            return Some(Self::Throttled);
        }
        if refusal.mentions(ANSWER_LIMITS) {
            return Some(Self::AnswerTooLong);
        }
        let overflows = refusal.mentions(OVERFLOWS) || is_prompt_above_maximum(&refusal.text);
        overflows.then(|| Self::of_overflow(&refusal.text))
    }

    /// An overflow that no shorter prompt can mend is one of the answer's limit.
    fn of_overflow(text: &str) -> Self {
        let window = number_after(text, "maximum context length is ");
        let asked = number_before(text, " output tokens")
            .or_else(|| number_before(text, " in the completion"))
            .or_else(|| number_before(text, " in the output"));
        let hopeless = window.zip(asked).is_some_and(|(window, asked)| asked >= window);
        let ours = text.contains("in the output)") || hopeless;
        if ours { Self::AnswerTooLong } else { Self::PromptTooLong }
    }
}

/// `prompt is too long: N tokens > M maximum`, in the words of whoever passes it on.
fn is_prompt_above_maximum(text: &str) -> bool {
    text.contains("prompt") && text.contains(" tokens > ") && text.contains(" maximum")
}

fn number_after(text: &str, words: &str) -> Option<u64> {
    let (_, rest) = text.split_once(words)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn number_before(text: &str, words: &str) -> Option<u64> {
    let (head, _) = text.split_once(words)?;
    let start = head.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    head.get(start..)?.parse().ok()
}

#[cfg(test)]
mod tests;

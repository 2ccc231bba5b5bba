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
    "tokens per min",
    "tokens per day",
    "rate limit",
    "rate_limit",
];

/// What only the answer's limit can mean.
const ANSWER_LIMITS: &[&str] = &[
    "max_tokens is too large",
    "max_completion_tokens is too large",
    "max_output_tokens is too large",
    "maxoutputtokens value of",
    "max_new_tokens is too large",
    "maximum allowed number of output tokens",
    "cannot be greater than max_model_len",
    "max_tokens must be less than or equal to",
    "max_completion_tokens must be less than or equal to",
    "max_output_tokens must be less than or equal to",
    "range of max_tokens",
    "maximum tokens you requested exceeds",
];

/// What means that the prompt is too long.
const OVERFLOWS: &[&str] = &[
    "maximum context length",
    "max context length",
    "maximum prompt length",
    "maximum model length",
    "models context length",
    "greater than the context length",
    "context length of only",
    "exceed_context_size",
    "exceeds the available context size",
    "exceeds models maximum context",
    "exceeds the models maximum context",
    "exceed context limit",
    "exceeds context limit",
    "exceeds the context window",
    "exceeds the context length",
    "exceeds the context limit",
    "exceed max_num_tokens",
    "context size has been exceeded",
    "context window exceeds limit",
    "context_length_exceeded",
    "context length exceeded",
    "context window exceeded",
    "exceeded model token limit",
    "prompt contains at least",
    "prompt is too long",
    "prompt too long",
    "prompt exceeds max length",
    "prompt cannot exceed",
    "prompt token count of",
    "input is too long",
    "input token count exceeds",
    "inputs tokens + max_new_tokens must be",
    "inputs must have less than",
    "exceeds the maximum number of tokens",
    "reduce the length of the messages",
    "reduce your prompt",
    "longer than the models context length",
    "maximum allowed input length",
    "maximum input length",
    "maximum sequence length",
    "greater than max_seq_len",
    "tokens exceed the configured limit",
    "range of input length should be",
    "exceed max message tokens",
    ">= n_ctx",
    "prompt超长",
    "prompt 超长",
];

/// What is exceeded, or too small for it, when a prompt is too long, in the words of whoever says
/// it.
const WINDOWS: &[&str] =
    &["context window", "context_window", "context length", "context size", "context limit"];

/// How it is said.
const EXCESSES: &[&str] = &["exceed", "too long", "too large", "longer than", "larger than"];

const OVERFLOW_CODES: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "model_max_prompt_tokens_exceeded",
    "1261",
];

impl Size {
    /// What `refusal` says about size; `None` when it is about something else.
    pub fn of(refusal: &Refusal) -> Option<Self> {
        let text = unquoted(&refusal.text);
        let mentions = |needles: &[&str]| needles.iter().any(|needle| text.contains(needle));
        if refusal.is_any(OVERFLOW_CODES) {
            return Some(Self::of_overflow(&text));
        }
        if mentions(THROTTLES) {
            return Some(Self::Throttled);
        }
        if mentions(ANSWER_LIMITS) {
            return Some(Self::of_answer_limit(&text));
        }
        let is_ours = text.contains("in the output)");
        let is_window = mentions(WINDOWS) && mentions(EXCESSES);
        let is_named = mentions(OVERFLOWS) || is_window || is_prompt_above_maximum(&text);
        (is_named || is_ours).then(|| Self::of_overflow(&text))
    }

    /// A limit that is too high only because of what the prompt takes of the window, as in
    /// `(4000 > 32768 - 30000)`, is mended by a shorter prompt.
    fn of_answer_limit(text: &str) -> Self {
        let asked = number_after(text, "(").filter(|_| text.contains(" - "));
        let window = number_after(text, " > ");
        let fits_alone = asked.zip(window).is_some_and(|(asked, window)| asked < window);
        if fits_alone { Self::PromptTooLong } else { Self::AnswerTooLong }
    }

    /// An overflow that no shorter prompt can mend is one of the answer's limit. One that splits
    /// the request into input and output is, too, unless the input alone does not fit.
    fn of_overflow(text: &str) -> Self {
        let window = number_after(text, "maximum context length is ");
        let asked = number_before(text, " output tokens")
            .or_else(|| number_before(text, " in the completion"))
            .or_else(|| number_before(text, " in the output"));
        let hopeless = window.zip(asked).is_some_and(|(window, asked)| asked >= window);
        let inputs = [" of text input", " of tool input", " of image input"];
        let input = inputs.into_iter().filter_map(|words| number_before(text, words));
        let input = input.fold(0, u64::saturating_add);
        let fits_alone = window.is_none_or(|window| input < window);
        let ours = hopeless || (text.contains("in the output)") && fits_alone);
        if ours { Self::AnswerTooLong } else { Self::PromptTooLong }
    }
}

/// The text without quotation marks, which servers put around names and leave out as they like.
fn unquoted(text: &str) -> String {
    text.replace(['\'', '`', '"', '\u{2019}'], "")
}

/// `prompt is too long: N tokens > M maximum`, in the words of whoever passes it on.
fn is_prompt_above_maximum(text: &str) -> bool {
    text.contains("prompt") && text.contains(" tokens > ") && text.contains(" maximum")
}

/// The number that stands behind `words`.
pub(crate) fn number_after(text: &str, words: &str) -> Option<u64> {
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

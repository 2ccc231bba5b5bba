//! Decides which headers of an answer are read.
//!
//! Refuses to know what they mean. Invariant: no other header is read, so that a tape that keeps
//! these gives a replay all that the answer gave.

use reqwest::header::HeaderMap;

/// All of them.
pub(crate) const READ: [&str; 15] = [
    "content-type",
    "retry-after",
    "retry-after-ms",
    "x-request-id",
    "request-id",
    "x-litellm-call-id",
    "x-litellm-response-cost",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-tokens-reset",
    "anthropic-ratelimit-input-tokens-remaining",
    "anthropic-ratelimit-input-tokens-reset",
    "anthropic-ratelimit-output-tokens-remaining",
    "anthropic-ratelimit-output-tokens-reset",
];

/// The value of one of them; `None` for any other.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let name = READ.into_iter().find(|read| *read == name)?;
    headers.get(name)?.to_str().ok()
}

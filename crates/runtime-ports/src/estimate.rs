//! Decides how many tokens a text is taken for before a provider has counted it.
//!
//! Knows no tokenizer: an estimate is linear, deterministic, and the same for every model.

/// Tokens that a message is taken to cost beside its content.
pub const MESSAGE_OVERHEAD_TOKENS: u64 = 4;

/// Tokens that an image is taken to cost.
pub const IMAGE_TOKENS: u64 = 1_024;

/// A quarter of the Unicode scalar values, rounded up.
///
/// ```
/// assert_eq!(runtime_ports::estimate_text_tokens(""), 0);
/// assert_eq!(runtime_ports::estimate_text_tokens("äöüß!"), 2);
/// ```
#[must_use]
pub fn estimate_text_tokens(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

//! Decides how a result is made to fit its limit and stay whole JSON.
//!
//! Knows nothing about what is cut. Invariant: what is returned serialises within the limit, as
//! long as the parts that cannot be cut do.

use serde_json::Value;

/// Renders with ever smaller budgets of text bytes until the result fits.
pub(crate) fn fitted(limit: usize, render: impl Fn(usize) -> Value) -> Value {
    let mut budget = limit;
    loop {
        let result = render(budget);
        if budget == 0 || result.to_string().len() <= limit {
            return result;
        }
        budget /= 2;
    }
}

/// The beginning of a text, at most `max_bytes`, cut between characters.
pub(crate) fn head(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// Beginning and end of a text, at most `max_bytes` of it, with a line for what is between.
pub(crate) fn head_and_tail(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let half = max_bytes / 2;
    let (head, tail) = (head(text, half), &text[text.ceil_char_boundary(text.len() - half)..]);
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[{left_out} bytes left out]\n{tail}")
}

#[cfg(test)]
mod tests;

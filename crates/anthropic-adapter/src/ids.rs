//! Decides how the names of another provider are written so that this API takes them.
//!
//! Knows nothing about what they name. Invariant: the same name is always written the same way, so
//! that a result still finds its call, and a name that fits is written as it is.

use std::borrow::Cow;

use runtime_ports::Digest;

/// Longest identity of a call. The API states none; this one every server in front of it takes.
const LONGEST_ID: usize = 64;
/// Longest name of a tool.
const LONGEST_NAME: usize = 128;

/// The identity of a call. One with other characters than letters, digits, `_` and `-` is refused,
/// and with it every later request of its thread.
pub(crate) fn call_id(id: &str) -> Cow<'_, str> {
    if fits(id, LONGEST_ID) {
        return Cow::Borrowed(id);
    }
    let digest = Digest::of(id.as_bytes()).to_string();
    Cow::Owned(format!("call_{}", &digest[..32]))
}

/// The name of a tool that was called. A model may have made up any.
pub(crate) fn tool_name(name: &str) -> Cow<'_, str> {
    if fits(name, LONGEST_NAME) {
        return Cow::Borrowed(name);
    }
    let plain = name.chars().map(|c| if is_plain(c) { c } else { '_' });
    let name: String = plain.take(LONGEST_NAME).collect();
    Cow::Owned(if name.is_empty() { "unnamed".to_owned() } else { name })
}

/// Whether a tool can be offered under this name: it stays the same when it was called.
pub(crate) fn is_tool_name(name: &str) -> bool {
    fits(name, LONGEST_NAME)
}

fn fits(name: &str, longest: usize) -> bool {
    !name.is_empty() && name.len() <= longest && name.chars().all(is_plain)
}

const fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

#[cfg(test)]
mod tests;

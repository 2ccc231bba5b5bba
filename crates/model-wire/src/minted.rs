//! Decides the id of a tool call that the server gave none.
//!
//! Knows nothing about the call.

use runtime_ports::Digest;

/// An id for the call at position `at` of the answer that `seed` names. Nine letters and digits:
/// the strictest form that a known server takes back.
pub fn minted(seed: &str, at: usize) -> String {
    let digest = Digest::of_parts(&[seed.as_bytes(), b"/call/", &at.to_be_bytes()]).to_string();
    digest[..9].to_owned()
}

/// Whether `text` could be such an id.
pub(crate) fn has_form_of_minted(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 9 && text.bytes().all(is_digit)
}

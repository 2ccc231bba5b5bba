//! Decides what counts as JSON: a little more than the standard does.
//!
//! Knows nothing about what it says. Servers cut characters in two, as bytes and as escapes; the
//! rest of such a text is good.

use serde_json::Value;

/// Why a text is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoJson {
    /// It ends early.
    Cut,
    /// It is something else.
    Malformed,
}

/// The value of a text. Halves of characters become U+FFFD.
pub fn read(bytes: &[u8]) -> Result<Value, NoJson> {
    let error = match serde_json::from_slice(bytes) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    if error.is_eof() {
        return Err(NoJson::Cut);
    }
    let text = String::from_utf8_lossy(bytes);
    serde_json::from_str(&without_lone_surrogates(&text)).map_err(|error| match error.is_eof() {
        true => NoJson::Cut,
        false => NoJson::Malformed,
    })
}

/// Replaces escapes of surrogates that have no partner.
fn without_lone_surrogates(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = escape_length(rest);
        let lone = length == 6 && unit(rest).is_some_and(|unit| (0xd800..0xe000).contains(&unit));
        clean.push_str(if lone { "\\ufffd" } else { &rest[..length] });
        rest = &rest[length..];
    }
    clean.push_str(rest);
    clean
}

/// Bytes of the escape that `text` begins with; a pair of surrogates counts as one.
fn escape_length(text: &str) -> usize {
    match unit(text) {
        Some(0xd800..0xdc00)
            if unit(&text[6..]).is_some_and(|low| (0xdc00..0xe000).contains(&low)) =>
        {
            12
        }
        Some(_) => 6,
        None => 1 + text[1..].chars().next().map_or(0, char::len_utf8),
    }
}

/// The code unit of the escape `\uXXXX` that `text` begins with.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests;

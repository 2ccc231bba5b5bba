//! Decides what counts as JSON: a little more than the standard does.
//!
//! Knows nothing about what it says. Servers cut characters in two, as bytes and as escapes, and
//! write numbers that no value holds; the rest of such a text is good.

use serde_json::Value;

use crate::verbatim::Verbatim;

/// Why a text is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoJson {
    /// It ends early.
    Cut,
    /// It is something else.
    Malformed,
}

/// The value of a text, some values of which are taken as the text that they were sent in.
pub(crate) fn read_with(bytes: &[u8], verbatim: &Verbatim) -> Result<Value, NoJson> {
    let texts = verbatim.with_texts(bytes);
    let bytes = texts.as_deref().unwrap_or(bytes);
    whole(bytes)?.map_or_else(|| mended(&verbatim.with_halves(bytes)), Ok)
}

/// The value of a text. Halves of characters become U+FFFD, and numbers beyond all others `null`.
pub fn read(bytes: &[u8]) -> Result<Value, NoJson> {
    whole(bytes)?.map_or_else(|| mended(bytes), Ok)
}

/// The value of a text as the standard has it; `None` where something in it may be mended.
fn whole(bytes: &[u8]) -> Result<Option<Value>, NoJson> {
    match serde_json::from_slice(bytes) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_eof() => Err(NoJson::Cut),
        Err(_) => Ok(None),
    }
}

fn mended(bytes: &[u8]) -> Result<Value, NoJson> {
    let text = String::from_utf8_lossy(bytes);
    let text = without_odd_numbers(&with_lone_surrogates(&text, |_| "\\ufffd".to_owned()));
    serde_json::from_str(&text).map_err(|error| match error.is_eof() {
        true => NoJson::Cut,
        false => NoJson::Malformed,
    })
}

/// Replaces numbers that are larger than any, and the words that some servers write for none.
fn without_odd_numbers(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => text_length(rest),
            _ => word_length(rest).max(first.len_utf8()),
        };
        let (word, tail) = rest.split_at(length);
        clean.push_str(if is_odd_number(word) { "null" } else { word });
        rest = tail;
    }
    clean
}

fn is_odd_number(word: &str) -> bool {
    let is_number = word.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    matches!(word, "NaN" | "Infinity" | "-Infinity")
        || (is_number && word.parse().is_ok_and(f64::is_infinite))
}

/// Bytes of the text, with its quotation marks, that `rest` begins with.
fn text_length(rest: &str) -> usize {
    let mut escaped = true;
    let end = rest.bytes().position(|byte| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    });
    end.map_or(rest.len(), |end| end + 1)
}

/// Bytes of the number or word that `rest` begins with.
fn word_length(rest: &str) -> usize {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
    rest.find(|c| !is_part(c)).unwrap_or(rest.len())
}

/// Replaces escapes of surrogates that have no partner by what `other` makes of them.
pub(crate) fn with_lone_surrogates(text: &str, other: impl Fn(&str) -> String) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = escape_length(rest);
        let lone = length == 6 && unit(rest).is_some_and(|unit| (0xd800..0xe000).contains(&unit));
        let (escape, tail) = rest.split_at(length);
        if lone {
            clean.push_str(&other(escape))
        } else {
            clean.push_str(escape)
        }
        rest = tail;
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

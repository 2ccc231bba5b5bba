//! Decides whether bytes say anywhere that an answer is finished.
//!
//! Knows the fields and words with which a format says so, and reads them without its decoder: a
//! field without a value, or with one that says "not yet", says nothing. Refuses to know where they
//! may stand.

/// Values with which a field says that more is to come.
const NOT_YET: [&[u8]; 5] = [b"null", b"false", b"\"\"", b"\"in_progress\"", b"\"queued\""];

/// How a format says that an answer is finished.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    /// Fields that say it with their value.
    pub(crate) fields: &'static [&'static str],
    /// Words that say it wherever they stand, in large letters or small ones.
    pub(crate) words: &'static [&'static str],
}

impl Terminal {
    /// Whether it is said. A document is finished by its end, and a name can be written with
    /// escapes; both are rare enough to be left out.
    pub(crate) fn stands_in(&self, bytes: &[u8]) -> bool {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
        let is_document = text.starts_with(b"{") || text.starts_with(b"[");
        is_document
            || places(bytes, b"\\u").next().is_some()
            || self.words.iter().any(|word| is_said(bytes, word.as_bytes()))
            || self.fields.iter().any(|field| has_value(bytes, field))
    }
}

fn places<'a>(bytes: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let windows = bytes.windows(word.len()).enumerate();
    windows.filter(move |(_, window)| *window == word).map(|(at, _)| at)
}

fn is_said(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

fn has_value(bytes: &[u8], field: &str) -> bool {
    let name = format!("\"{field}\"");
    places(bytes, name.as_bytes()).any(|at| {
        let rest = bytes[at + name.len()..].trim_ascii_start();
        let value = rest.strip_prefix(b":").unwrap_or_default().trim_ascii_start();
        !value.is_empty() && !NOT_YET.iter().any(|open| value.starts_with(open))
    })
}

#[cfg(test)]
mod tests;

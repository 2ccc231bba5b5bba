//! Decides which JSON value a model means that was asked for one and wrote text.
//!
//! Knows JSON, fences and prose; refuses to know any schema. Invariants: a value is taken only where
//! no other could be meant; it has no key twice and can be stored; the work is proportional to the
//! text.

mod unambiguous;

use serde_json::{Error, Value, error::Category};

use self::unambiguous::read;
use crate::wording::bounded;

/// Longest words of a reader of JSON that are repeated to the model, in bytes.
const MAX_WORDS_BYTES: usize = 300;
/// How often prose may be gone through, brackets that are never closed included.
const MOST_PASSES: usize = 8;

const NO_VALUE: &str = "holds no JSON value";
const SEVERAL: &str = "holds several JSON values, where one is wanted";

/// The one value that a text holds: the whole of it, else what stands between fences, else what
/// stands in the prose. Of several, the one object is meant; without an object, the one array.
///
/// # Errors
/// Why there is none; reads on after "the answer".
pub(crate) fn value_in(text: &str) -> Result<Value, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let unread = match read(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    if unread.classify() == Category::Data {
        return Err(flaw(&unread));
    }
    let mut found = Found::default();
    for block in blocks(text) {
        found.take(block);
    }
    if found.is_empty() {
        found.take_from_prose(text);
    }
    if found.is_empty() && text.starts_with(['{', '[']) {
        return Err(format!("is no JSON: {}", flaw(&unread)));
    }
    found.only()
}

/// What a reader found wrong.
fn flaw(error: &Error) -> String {
    bounded(&error.to_string(), MAX_WORDS_BYTES).to_owned()
}

/// What a text holds.
#[derive(Default)]
struct Found {
    objects: Candidates,
    others: Candidates,
}

/// Values of one kind; those that are equal are one.
#[derive(Default)]
struct Candidates {
    first: Option<Result<Value, String>>,
    has_others: bool,
}

impl Found {
    const fn is_empty(&self) -> bool {
        self.objects.first.is_none() && self.others.first.is_none()
    }

    /// Takes a text that is JSON, though it may be none that can be accepted; says whether it is.
    fn take(&mut self, text: &str) -> bool {
        let value = match read(text) {
            Ok(value) => Ok(value),
            Err(error) if error.classify() == Category::Data => Err(flaw(&error)),
            Err(_) => return false,
        };
        match text.trim_start().starts_with('{') {
            true => self.objects.take(value),
            false => self.others.take(value),
        }
        true
    }

    fn take_from_prose(&mut self, text: &str) {
        let (mut at, mut steps) = (0, text.len().saturating_mul(MOST_PASSES));
        while let Some(start) = text[at..].find(['{', '[']).map(|offset| at + offset) {
            let Some(length) = enclosed(&text.as_bytes()[start..], &mut steps) else {
                at = start + 1;
                continue;
            };
            let end = start + length;
            at = if self.take(&text[start..end]) { end } else { start + 1 };
        }
    }

    fn only(self) -> Result<Value, String> {
        let meant = if self.objects.first.is_some() { self.objects } else { self.others };
        match meant.first {
            None => Err(NO_VALUE.to_owned()),
            Some(_) if meant.has_others => Err(SEVERAL.to_owned()),
            Some(first) => first,
        }
    }
}

impl Candidates {
    fn take(&mut self, value: Result<Value, String>) {
        match &self.first {
            None => self.first = Some(value),
            Some(first) => self.has_others |= *first != value,
        }
    }
}

/// What stands between fences that are marked as JSON or as nothing. The last fence may be missing.
fn blocks(text: &str) -> Vec<&str> {
    let (mut blocks, mut opened, mut at) = (Vec::new(), None, 0);
    for line in text.split_inclusive('\n') {
        if let Some(mark) = line.trim().strip_prefix("```") {
            match opened.take() {
                None => opened = Some((is_json(mark), at + line.len())),
                Some((true, start)) => blocks.push(&text[start..at]),
                Some((false, _)) => {}
            }
        }
        at += line.len();
    }
    if let Some((true, start)) = opened {
        blocks.push(&text[start..]);
    }
    blocks
}

fn is_json(mark: &str) -> bool {
    mark.is_empty() || mark.eq_ignore_ascii_case("json")
}

/// Length of what the bracket at the beginning encloses; none when it is not closed, or when no step
/// is left.
fn enclosed(text: &[u8], steps: &mut usize) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (place, byte) in text.iter().enumerate() {
        *steps = steps.checked_sub(1)?;
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(place + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests;

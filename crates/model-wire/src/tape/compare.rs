//! Decides whether a request is the one that was recorded.
//!
//! Knows JSON, blots, and the form of ids that this side mints. Refuses to know any API.
//! Invariants: nothing of a request is told but where it differs; ids have new names
//! consistently, one for one, and none that a server gave has.

use std::collections::HashMap;

use serde_json::Value;

use super::secrets::{BLOT, SHORTEST};
use crate::minted::has_form_of_minted;

/// What ids of the recording are called in the replay.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    now: HashMap<String, String>,
    then: HashMap<String, String>,
}

/// A place that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    /// Like `$.messages[2].content`.
    pub(super) path: String,
    /// How many values were equal before it.
    pub(super) equal: usize,
}

/// Compares requests. `is_ours` tells ids of the recording that no server gave.
pub(super) struct Comparison<'a> {
    pub(super) names: Names,
    pub(super) has_blots: bool,
    pub(super) is_ours: &'a dyn Fn(&str) -> bool,
    pub(super) equal: usize,
}

impl Comparison<'_> {
    /// Compares the request of the recording with one of now.
    pub(super) fn check(&mut self, then: &Value, now: &Value) -> Result<(), Difference> {
        let mut path = "$".to_owned();
        self.values(then, now, &mut path).map_err(|()| Difference { path, equal: self.equal })
    }

    /// When it fails, `path` leads to the place.
    fn values(&mut self, then: &Value, now: &Value, path: &mut String) -> Result<(), ()> {
        match (then, now) {
            (Value::Object(then), Value::Object(now)) => {
                let names = then.keys().chain(now.keys().filter(|name| !then.contains_key(*name)));
                for name in names {
                    let length = path.len();
                    path.push_str(&step(name));
                    let (then, now) = (then.get(name).ok_or(())?, now.get(name).ok_or(())?);
                    self.values(then, now, path)?;
                    path.truncate(length);
                }
                Ok(())
            }
            (Value::Array(then), Value::Array(now)) => {
                for place in 0..then.len().max(now.len()) {
                    let length = path.len();
                    path.push_str(&format!("[{place}]"));
                    let (then, now) = (then.get(place).ok_or(())?, now.get(place).ok_or(())?);
                    self.values(then, now, path)?;
                    path.truncate(length);
                }
                Ok(())
            }
            (Value::String(then), Value::String(now)) => {
                let same = self.texts(then, now);
                self.count(same)
            }
            (then, now) => self.count(then == now),
        }
    }

    fn count(&mut self, same: bool) -> Result<(), ()> {
        self.equal += usize::from(same);
        if same { Ok(()) } else { Err(()) }
    }

    /// New names and blots are as long as what they stand for.
    fn texts(&mut self, then: &str, now: &str) -> bool {
        if then == now && self.names.now.is_empty() {
            return true;
        }
        if then.len() != now.len() {
            return false;
        }
        let mut at = 0;
        while at < then.len() {
            let length = word_length(&then.as_bytes()[at..]).max(1);
            let words = (then.get(at..at + length), now.get(at..at + length));
            let named = words.0.zip(words.1).and_then(|(then, now)| self.word(then, now));
            if !named.unwrap_or_else(|| self.blots(then, now, at, at + length)) {
                return false;
            }
            at += length;
        }
        true
    }

    /// Whether both are the same id, if either is one.
    fn word(&mut self, then: &str, now: &str) -> Option<bool> {
        let known = self.names.now.get(then).map(|name| name == now);
        if known.is_some() || self.names.then.contains_key(now) {
            return known.or(Some(false));
        }
        let has_form = has_form_of_minted(then) && has_form_of_minted(now);
        if then == now || !has_form || !(self.is_ours)(then) {
            return None;
        }
        self.names.now.insert(then.to_owned(), now.to_owned());
        self.names.then.insert(now.to_owned(), then.to_owned());
        Some(true)
    }

    /// Whether both are equal between `from` and `to`, but for what was blotted out.
    fn blots(&self, then: &str, now: &str, from: usize, to: usize) -> bool {
        let (then, now) = (then.as_bytes(), now.as_bytes());
        let is_blot = |at: usize| self.has_blots && is_within_blot(then, at);
        (from..to.min(then.len())).all(|at| then[at] == now[at] || is_blot(at))
    }
}

impl Names {
    /// `bytes` with the names of now; boundaries stay where they are, since names are as long.
    pub(super) fn rename(&self, bytes: &mut [u8]) {
        let mut at = 0;
        while at < bytes.len() && !self.now.is_empty() {
            let length = word_length(&bytes[at..]).max(1);
            let word = std::str::from_utf8(&bytes[at..at + length]).unwrap_or_default();
            if let Some(name) = self.now.get(word) {
                bytes[at..at + length].copy_from_slice(name.as_bytes());
            }
            at += length;
        }
    }
}

/// Whether `at` lies within a run of blots that is long enough to be one.
fn is_within_blot(text: &[u8], at: usize) -> bool {
    let is_blot = |byte: &&u8| **byte == BLOT;
    let before = text[..at].iter().rev().take_while(is_blot).count();
    let after = text[at..].iter().take_while(is_blot).count();
    after > 0 && before + after >= SHORTEST
}

/// Bytes of the word that `bytes` begin with.
fn word_length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
}

/// A step of a path. Names of fields could be a payload; those that look like none are shown.
fn step(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let shown = !name.is_empty() && name.len() <= 40 && name.bytes().all(is_plain);
    if shown { format!(".{name}") } else { "[…]".to_owned() }
}

#[cfg(test)]
mod tests;

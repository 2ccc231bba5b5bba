//! Decides what must not be seen in a tape, and blots it out.
//!
//! Knows the secrets of all endpoints that are recorded. Invariants: an occurrence is found as it is,
//! in base64, with escapes of JSON (also of JSON within JSON) and of URLs, and where the bytes end in
//! the middle of it; what stands for it has as many bytes.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::Url;
use runtime_types::CredentialHandle;
use serde_json::Value;

use crate::endpoint::Endpoint;

/// What stands for a byte of a secret.
pub(super) const BLOT: u8 = b'*';

/// Shortest text that is taken for a secret. Whoever gives a server without keys the key `x` does
/// not want all of them to be blotted out.
pub(super) const SHORTEST: usize = 6;

/// From this many bytes on a secret is looked for within words as well.
const WITHIN_WORDS: usize = 8;

/// From this many bytes on it is looked for in base64 as well.
const WITHIN_BASE64: usize = 12;

/// Headers whose values everybody may know.
const PUBLIC_HEADERS: [&str; 8] = [
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "content-type",
    "http-referer",
    "openai-beta",
    "user-agent",
    "x-title",
];

/// The secrets of all endpoints that one recorder is for.
#[derive(Debug, Default)]
pub(super) struct Known(RwLock<Arc<Secrets>>);

impl Known {
    /// Those of one more endpoint.
    pub(super) fn add(&self, secrets: Secrets) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *known = Arc::new(known.with(secrets));
    }

    pub(super) fn all(&self) -> Arc<Secrets> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Texts that must not be seen.
#[derive(Default)]
pub(crate) struct Secrets(Vec<CredentialHandle>);

impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Secrets({})", self.0.len())
    }
}

impl Secrets {
    /// The key, the values of headers, and what stands in the query of the base URL.
    pub(crate) fn of(endpoint: &Endpoint, base: &Url) -> Self {
        let mut texts = Vec::new();
        if let Some(key) = &endpoint.credential {
            add(key.expose(), &mut texts);
        }
        for (name, value) in &endpoint.headers {
            if !PUBLIC_HEADERS.contains(&name.to_lowercase().as_str()) {
                add(value.expose(), &mut texts);
            }
        }
        for (name, value) in base.query_pairs() {
            if name != "api-version" {
                add(&value, &mut texts);
            }
        }
        Self(texts.into_iter().map(CredentialHandle::new).collect()).in_order()
    }

    fn with(&self, others: Self) -> Self {
        Self(self.0.iter().cloned().chain(others.0).collect()).in_order()
    }

    /// The longest first: one may hold another.
    fn in_order(mut self) -> Self {
        let order = |secret: &CredentialHandle| std::cmp::Reverse(secret.expose().len());
        self.0.sort_by(|one, other| {
            order(one).cmp(&order(other)).then_with(|| one.expose().cmp(other.expose()))
        });
        self.0.dedup_by(|one, other| one.expose() == other.expose());
        self
    }

    /// Blots the secrets out of `bytes`, and says how many occurrences there were.
    pub(super) fn blot(&self, bytes: &mut [u8]) -> u64 {
        self.0.iter().map(|secret| blot_one(secret.expose().as_bytes(), bytes)).sum()
    }

    /// The same for a text.
    pub(super) fn blotted(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        self.blot(&mut bytes);
        // Secrets are ASCII, so that no character is cut.
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The same for every text of a value, names of fields included.
    pub(super) fn blot_value(&self, value: &mut Value) -> u64 {
        match value {
            Value::String(text) => {
                let mut bytes = std::mem::take(text).into_bytes();
                let count = self.blot(&mut bytes);
                *text = String::from_utf8_lossy(&bytes).into_owned();
                count
            }
            Value::Array(list) => list.iter_mut().map(|value| self.blot_value(value)).sum(),
            Value::Object(fields) => {
                let named = std::mem::take(fields).into_iter();
                let mut count = 0;
                *fields = named
                    .map(|(name, mut value)| {
                        count += self.blot_value(&mut value);
                        (self.blotted(&name), value)
                    })
                    .collect();
                count
            }
            _ => 0,
        }
    }
}

/// What base64 makes of the value wherever it stands in what is encoded: three texts, without the
/// letters that depend on its neighbours. For values that are too long to be met by chance.
fn encoded(value: &str) -> impl Iterator<Item = String> {
    let long = Some(value).filter(|value| value.len() >= WITHIN_BASE64);
    long.into_iter().flat_map(|value| {
        (0..3).map(|before| {
            let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(value.bytes()).collect();
            let text = STANDARD.encode(&bytes);
            // Six bits a letter: those that hold bits of others are left out at both ends.
            let (from, to) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
            text[from..to].to_owned()
        })
    })
}

/// The whole value, and each word of it: `Basic …` is echoed without its first word.
fn add(value: &str, texts: &mut Vec<String>) {
    let value = value.trim();
    let words = value.split_whitespace().filter(|word| word.len() >= WITHIN_WORDS);
    let whole = Some(value).filter(|value| value.len() >= SHORTEST);
    let plain: Vec<&str> = whole.into_iter().chain(words).collect();
    texts.extend(plain.iter().flat_map(|value| encoded(value)));
    texts.extend(plain.into_iter().map(str::to_owned));
}

fn blot_one(secret: &[u8], bytes: &mut [u8]) -> u64 {
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        match occurrence(secret, bytes, at) {
            Some(length) => {
                bytes[at..at + length].fill(BLOT);
                at += length;
                count += 1;
            }
            None => at += passed(&bytes[at..]),
        }
    }
    count
}

/// How far on the next occurrence can begin. All of a run of backslashes writes one byte, or none.
fn passed(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|&&byte| byte == b'\\').count().max(1)
}

/// Bytes of the occurrence of `secret` at `start`, if there is one.
fn occurrence(secret: &[u8], bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    for (place, &byte) in secret.iter().enumerate() {
        if at == bytes.len() {
            // Cut off; the beginning of a key is a secret as well.
            return (place >= WITHIN_WORDS).then_some(at - start);
        }
        // One backslash matches all that escapes made of it.
        if byte == b'\\' && place > 0 && secret[place - 1] == b'\\' {
            continue;
        }
        at += written(byte, &bytes[at..])?;
    }
    let is_word = secret.len() < WITHIN_WORDS;
    let touches = |at: Option<&u8>| at.is_some_and(u8::is_ascii_alphanumeric);
    let before = start.checked_sub(1).and_then(|before| bytes.get(before));
    let within_a_word = touches(before) || touches(bytes.get(at));
    (!is_word || !within_a_word).then_some(at - start)
}

/// How many bytes write `byte` at the beginning of `bytes`: itself, an escape of JSON that may have
/// been escaped again, or one of a URL.
fn written(byte: u8, bytes: &[u8]) -> Option<usize> {
    let hex = |digits: &[u8]| {
        let text = std::str::from_utf8(digits).ok()?;
        u32::from_str_radix(text, 16).ok().filter(|&code| code == u32::from(byte))
    };
    let slashes = bytes.iter().take_while(|&&byte| byte == b'\\').count();
    let rest = &bytes[slashes..];
    let escaped = match (bytes.first()?, rest.first()) {
        (b'%', _) => bytes.get(1..3).and_then(hex).map(|_| 3),
        (b'\\', Some(b'u')) => rest.get(1..5).and_then(hex).map(|_| slashes + 5),
        (b'\\', Some(&next)) if next == byte && matches!(byte, b'"' | b'/') => Some(slashes + 1),
        _ => None,
    };
    let all_slashes = (byte == b'\\' && slashes > 0).then_some(slashes);
    escaped.or(all_slashes).or_else(|| (bytes[0] == byte).then_some(1))
}

#[cfg(test)]
mod tests;

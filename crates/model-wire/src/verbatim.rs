//! Decides which values of a frame are taken as the text that they were sent in.
//!
//! Knows nothing about what they say. A value that was read and is written again is another one
//! where a number has more digits than a value holds, where a name stands twice, or where a
//! character is cut; arguments of a call must not change so. Invariant: everything outside of the
//! places stays as it is, and so does a place that holds a text, a word or nothing.

use std::{borrow::Cow, ops::Range};

use memchr::{memchr2, memmem::Finder};

use crate::json::with_lone_surrogates;

/// Where such a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The names of the fields that lead to it; `*` is every element of a list.
    pub path: &'static [&'static str],
    /// A field, and its text, that must stand beside it.
    pub beside: Option<(&'static str, &'static str)>,
}

impl Place {
    /// A place at the end of `path`.
    #[must_use]
    pub const fn at(path: &'static [&'static str]) -> Self {
        Self { path, beside: None }
    }

    /// The same, only where the field `name` beside it is `text`.
    #[must_use]
    pub const fn beside(self, name: &'static str, text: &'static str) -> Self {
        Self { beside: Some((name, text)), ..self }
    }

    /// The place as seen from its field `key`; `None` when it is elsewhere.
    fn below(self, key: &[u8]) -> Option<Self> {
        let (first, path) = self.path.split_first()?;
        (first.as_bytes() == key).then_some(Self { path, ..self })
    }
}

/// The places of one decoder, made ready for many frames.
pub(crate) struct Verbatim {
    places: &'static [Place],
    /// Of the last field of each place; once for those that are called alike.
    names: Vec<Finder<'static>>,
}

impl Verbatim {
    pub(crate) fn new(places: &'static [Place]) -> Self {
        let mut names: Vec<_> = places.iter().filter_map(|place| place.path.last()).collect();
        names.sort_unstable();
        names.dedup();
        Self { places, names: names.into_iter().map(Finder::new).collect() }
    }

    /// The frame with the text of what stands at the places in place of it; `None` where nothing
    /// does.
    pub(crate) fn with_texts(&self, frame: &[u8]) -> Option<Vec<u8>> {
        self.names.iter().any(|name| may_hold(frame, name)).then_some(())?;
        replaced(frame, self.places, Wanted::Values, |value| {
            serde_json::Value::from(lossless(value, "\\")).to_string()
        })
    }

    /// The frame with texts at the places in which halves of characters are escapes of the JSON that
    /// such a text holds. Halves that come in two frames are one character again where the pieces are
    /// put together, and one that stays alone makes no value: nothing is read in its place.
    pub(crate) fn with_halves<'f>(&self, frame: &'f [u8]) -> Cow<'f, [u8]> {
        let escaped = replaced(frame, self.places, Wanted::Texts, |text| {
            with_lone_surrogates(&lossless(text, "\\\\"), |escape| format!("\\{escape}"))
        });
        escaped.map_or(Cow::Borrowed(frame), Cow::Owned)
    }
}

/// Which values at the places are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Lists, objects and numbers.
    Values,
    /// Texts.
    Texts,
}

impl Wanted {
    const fn begins_with(self, first: u8) -> bool {
        match self {
            Self::Values => is_no_text(first),
            Self::Texts => first == b'"',
        }
    }
}

/// The frame with what `other` makes of the values at the places; `None` where none stands there.
fn replaced(
    frame: &[u8],
    places: &[Place],
    wanted: Wanted,
    other: impl Fn(&[u8]) -> String,
) -> Option<Vec<u8>> {
    let mut walk = Walk { frame, at: 0, wanted, spans: Vec::new() };
    walk.frames(places)?;
    let (mut text, mut from) = (Vec::with_capacity(frame.len() + 64), 0);
    for span in &walk.spans {
        text.extend_from_slice(&frame[from..span.start]);
        text.extend(other(&frame[span.clone()]).into_bytes());
        from = span.end;
    }
    text.extend_from_slice(&frame[from..]);
    (!walk.spans.is_empty()).then_some(text)
}

/// The bytes as text. One that is no character becomes half of one, behind `escape`.
fn lossless(bytes: &[u8], escape: &str) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("{escape}udc{byte:02x}"));
        }
    }
    text
}

/// Whether a field of this name stands before something else than a text. Nearly all frames are
/// done with here.
fn may_hold(frame: &[u8], name: &Finder<'_>) -> bool {
    name.find_iter(frame).any(|at| {
        let rest = frame[at + name.needle().len()..].strip_prefix(b"\"");
        let value = rest.and_then(|rest| rest.trim_ascii_start().strip_prefix(b":"));
        let first = value.and_then(|value| value.trim_ascii_start().first());
        first.is_some_and(|first| is_no_text(*first))
    })
}

/// Whether a value that begins so is a list, an object or a number.
const fn is_no_text(first: u8) -> bool {
    matches!(first, b'{' | b'[' | b'-' | b'0'..=b'9' | b'N' | b'I')
}

/// A walk over the text of a frame. Each step is `None` where the text is no JSON.
struct Walk<'a> {
    frame: &'a [u8],
    at: usize,
    wanted: Wanted,
    spans: Vec<Range<usize>>,
}

impl<'a> Walk<'a> {
    /// The frame, or the frames of a list.
    fn frames(&mut self, places: &[Place]) -> Option<()> {
        match self.next()? {
            b'[' => self.list(places),
            _ => self.value(places),
        }
    }

    fn value(&mut self, places: &[Place]) -> Option<()> {
        let (first, start) = (self.next()?, self.at);
        if places.iter().any(|place| place.path.is_empty()) {
            self.skip()?;
            self.spans.extend(self.wanted.begins_with(first).then_some(start..self.at));
            return Some(());
        }
        match first {
            b'{' => self.object(places),
            b'[' => self.list(&below(places, b"*")),
            _ => self.skip(),
        }
    }

    fn object(&mut self, places: &[Place]) -> Option<()> {
        let (mut fields, mut guarded) = (Vec::new(), Vec::new());
        self.at += 1;
        while self.next()? != b'}' {
            if self.frame[self.at] == b',' {
                self.at += 1;
                continue;
            }
            let key = self.text()?;
            (self.next()? == b':').then_some(())?;
            self.at += 1;
            let (_, start, known) = (self.next()?, self.at, self.spans.len());
            let places = below(places, key);
            if places.is_empty() { self.skip() } else { self.value(&places) }?;
            fields.push((key, &self.frame[start..self.at]));
            let is_end = |place: &&Place| place.path.is_empty() && self.spans.len() > known;
            let guard = places.iter().find(is_end).and_then(|place| place.beside);
            guarded.extend(guard.map(|guard| (guard, known)));
        }
        self.at += 1;
        for ((name, text), known) in guarded.into_iter().rev() {
            let field = (name.as_bytes(), &*format!("\"{text}\"").into_bytes());
            if !fields.contains(&field) {
                self.spans.remove(known);
            }
        }
        Some(())
    }

    fn list(&mut self, places: &[Place]) -> Option<()> {
        self.at += 1;
        loop {
            match self.next()? {
                b']' => break,
                b',' => self.at += 1,
                _ if places.is_empty() => self.skip()?,
                _ => self.value(places)?,
            }
        }
        self.at += 1;
        Some(())
    }

    /// The next byte that is no space; the walk stands at it.
    fn next(&mut self) -> Option<u8> {
        let rest = self.frame.get(self.at..)?;
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.frame.get(self.at).copied()
    }

    /// Walks behind a text, and gives what stands between its quotation marks.
    fn text(&mut self) -> Option<&'a [u8]> {
        (self.frame.get(self.at) == Some(&b'"')).then_some(())?;
        let start = self.at + 1;
        self.at = start;
        loop {
            self.at += memchr2(b'"', b'\\', self.frame.get(self.at..)?)?;
            if self.frame[self.at] == b'"' {
                self.at += 1;
                return Some(&self.frame[start..self.at - 1]);
            }
            self.at += 2;
        }
    }

    /// Walks behind a value of any kind.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.next()? {
                b'"' => drop(self.text()?),
                b'{' | b'[' => (depth, self.at) = (depth + 1, self.at + 1),
                b'}' | b']' => (depth, self.at) = (depth.checked_sub(1)?, self.at + 1),
                b',' | b':' if depth > 0 => self.at += 1,
                _ => self.word()?,
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Walks behind a number or a word.
    fn word(&mut self) -> Option<()> {
        let rest = self.frame.get(self.at..)?;
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || b",:]}[{\"".contains(byte);
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then_some(())
    }
}

fn below(places: &[Place], key: &[u8]) -> Vec<Place> {
    places.iter().filter_map(|place| place.below(key)).collect()
}

#[cfg(test)]
mod tests;

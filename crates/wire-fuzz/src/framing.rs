//! Decides what must hold of events: those of the specification, however the bytes are cut, and never
//! more held than the limit.

use std::hash::{DefaultHasher, Hash, Hasher};

use model_wire::{Event, Framer, TooLarge};

use crate::{
    cost,
    cuts::{self, Cuts},
    target::Shape,
};

/// A limit that inputs meet, and one that none does.
const LIMITS: [usize; 2] = [512, usize::MAX / 2];

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Framed {
    events: Vec<(Vec<u8>, Vec<u8>)>,
    too_large: bool,
}

/// What may stand before a field.
const PADDING: [&[u8]; 4] = [b"\0", b" ", b"\t", b"\xef\xbb\xbf"];

pub(crate) fn run(bytes: &[u8]) -> Shape {
    for limit in LIMITS {
        let whole = frame(bytes, Cuts::Whole, limit);
        for cuts in cuts::of(bytes).skip(1) {
            let cut = frame(bytes, cuts, limit);
            assert!(cut == whole, "cut {cuts:?} at {limit}: {cut:?}\nwhole: {whole:?}");
        }
        let held = whole.events.iter().map(|(_, data)| data.len()).max().unwrap_or(0);
        assert!(held <= limit, "an event of {held} bytes passed the limit of {limit}");
    }
    let framed = frame(bytes, Cuts::Whole, LIMITS[1]);
    assert_eq!(framed.events, by_the_book(bytes), "other events than the specification gives");
    shape(&framed)
}

fn frame(bytes: &[u8], cuts: Cuts, limit: usize) -> Framed {
    cost::bounded("the framer", bytes.len(), || {
        let mut framer = Framer::new(limit);
        let mut events = Vec::new();
        let mut take = |event: Event<'_>| -> Result<(), TooLarge> {
            events.push((event.name.to_vec(), event.data.to_vec()));
            Ok(())
        };
        let mut pieces = cuts.pieces(bytes).into_iter();
        let fed = pieces.try_for_each(|piece| framer.feed(piece, &mut take));
        let ended = fed.and_then(|()| framer.finish(&mut take));
        Framed { events, too_large: ended.is_err() }
    })
}

/// The events as the specification words it, line by line over the whole, but for what servers are
/// forgiven: the last event counts also when the bytes end before its empty line, padding before a
/// field and large letters in its name say nothing, an object or a list by itself is data, to the next
/// empty line, and a field named `error` is data of an event of that name.
fn by_the_book(bytes: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut events = Vec::new();
    let (mut name, mut data): (&[u8], Option<Vec<u8>>) = (b"", None);
    let mut is_bare = false;
    for line in lines(bytes).into_iter().chain([&b""[..]]) {
        if line.is_empty() {
            events.extend(data.take().map(|data| (name.to_vec(), data)));
            (name, is_bare) = (b"", false);
            continue;
        }
        let line = without_padding(line);
        is_bare |= line.starts_with(b"{") || line.starts_with(b"[");
        let (field, value) = field(line);
        let more = match field.to_ascii_lowercase().as_slice() {
            b"event" => {
                name = value;
                continue;
            }
            b"error" => {
                name = b"error";
                value
            }
            b"data" => value,
            _ if is_bare => line,
            _ => continue,
        };
        match &mut data {
            None => data = Some(more.to_vec()),
            Some(data) => data.extend([b"\n", more].concat()),
        }
    }
    events
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut rest = bytes;
    let mut lines = Vec::new();
    while let Some(end) = rest.iter().position(|byte| *byte == b'\r' || *byte == b'\n') {
        let length = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        lines.push(&rest[..end]);
        rest = &rest[end + length..];
    }
    lines.push(rest);
    lines
}

fn without_padding(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = PADDING.iter().find_map(|padding| line.strip_prefix(*padding)) {
        line = rest;
    }
    line
}

fn field(line: &[u8]) -> (&[u8], &[u8]) {
    match line.iter().position(|byte| *byte == b':') {
        None => (line, b""),
        Some(colon) => {
            let value = &line[colon + 1..];
            (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
        }
    }
}

fn shape(framed: &Framed) -> Shape {
    let mut hasher = DefaultHasher::new();
    for (name, data) in framed.events.iter().take(4) {
        (name.is_empty(), data.is_empty(), data.contains(&b'\n')).hash(&mut hasher);
    }
    framed.events.len().min(8).hash(&mut hasher);
    Shape(hasher.finish())
}

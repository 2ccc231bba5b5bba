//! Decides which input is tried next: one that worked before, changed in a few places.
//!
//! Knows events and the words of a format, so that changes reach what lies behind the parser.

use std::ops::Range;

use crate::{chance::Chance, frames};

/// Inputs are no longer than this, but for the few that are blown up.
pub(crate) const LONGEST: usize = 16 * 1024;
/// Those are no longer than this, which is more than a whole answer may have.
const BLOWN_UP: usize = 2 * 1024 * 1024;

/// Makes inputs.
pub(crate) struct Mutator {
    pub(crate) chance: Chance,
    pub(crate) vocabulary: &'static [&'static str],
}

type Change = fn(&mut Mutator, &mut Vec<u8>, &[u8]);

const CHANGES: [Change; 16] = [
    flip_a_bit,
    set_a_byte,
    insert_a_word,
    insert_a_word,
    replace_by_a_word,
    delete_a_range,
    repeat_a_range,
    repeat_an_event,
    drop_an_event,
    swap_events,
    take_an_event_of_the_other,
    splice,
    replace_a_value,
    replace_a_value,
    rename_a_field,
    cut_the_end,
];

impl Mutator {
    /// `parent`, changed once or a few times; `other` is where parts may be taken from.
    pub(crate) fn mutate(&mut self, parent: &[u8], other: &[u8]) -> Vec<u8> {
        let mut bytes = parent.to_vec();
        for _ in 0..1 << self.chance.below(4) {
            let change = CHANGES[self.chance.below(CHANGES.len())];
            change(self, &mut bytes, other);
        }
        if self.chance.one_in(24) {
            self.change_line_ends(&mut bytes);
        }
        bytes.truncate(LONGEST);
        if self.chance.one_in(2_000) {
            self.blow_up(&mut bytes);
        }
        bytes
    }

    fn word(&mut self) -> &'static [u8] {
        self.chance.of(self.vocabulary).as_bytes()
    }

    fn range(&mut self, length: usize, longest: usize) -> Range<usize> {
        let start = self.chance.below(length + 1);
        let most = longest.min(length - start);
        start..start + self.chance.below(most + 1)
    }

    fn change_line_ends(&mut self, bytes: &mut Vec<u8>) {
        let end: &[u8] = if self.chance.one_in(2) { b"\r\n" } else { b"\r" };
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        *bytes = lines.join(end);
    }

    /// Repeats a part until the input is very long: what is not linear shows.
    fn blow_up(&mut self, bytes: &mut Vec<u8>) {
        let range = self.range(bytes.len(), 400);
        let part = bytes[range.clone()].to_vec();
        if !part.is_empty() {
            let most = BLOWN_UP >> self.chance.below(6);
            let times = most / part.len();
            bytes.splice(range, part.repeat(times));
        }
    }
}

#[expect(clippy::ptr_arg, reason = "a change may change the length")]
fn flip_a_bit(mutator: &mut Mutator, bytes: &mut Vec<u8>, _: &[u8]) {
    let at = mutator.chance.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << mutator.chance.below(8);
    }
}

#[expect(clippy::ptr_arg, reason = "a change may change the length")]
fn set_a_byte(mutator: &mut Mutator, bytes: &mut Vec<u8>, _: &[u8]) {
    const MARKS: &[u8] = b"\"\\{}[]:,\n\r \t\0\xff\xc3\xef0-.";
    let at = mutator.chance.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte = MARKS[mutator.chance.below(MARKS.len())];
    }
}

fn insert_a_word(mutator: &mut Mutator, bytes: &mut Vec<u8>, _: &[u8]) {
    let at = mutator.chance.below(bytes.len() + 1);
    let word = mutator.word();
    bytes.splice(at..at, word.iter().copied());
}

fn replace_by_a_word(mutator: &mut Mutator, bytes: &mut Vec<u8>, _: &[u8]) {
    let range = mutator.range(bytes.len(), 24);
    let word = mutator.word();
    bytes.splice(range, word.iter().copied());
}

fn delete_a_range(mutator: &mut Mutator, bytes: &mut Vec<u8>, _: &[u8]) {
    let range = mutator.range(bytes.len(), 64);
    bytes.drain(range);
}

fn repeat_a_range(mutator: &mut Mutator, bytes: &mut Vec<u8>, _: &[u8]) {
    let range = mutator.range(bytes.len(), 64);
    let part = bytes[range.clone()].repeat(mutator.chance.between(1, 8));
    bytes.splice(range.end..range.end, part);
}

fn of_events(
    mutator: &mut Mutator,
    bytes: &mut Vec<u8>,
    change: fn(&mut Mutator, &mut Vec<Vec<u8>>),
) {
    let mut events = frames::events(bytes);
    if !events.is_empty() {
        change(mutator, &mut events);
        *bytes = events.concat();
    }
}

fn repeat_an_event(mutator: &mut Mutator, bytes: &mut Vec<u8>, _: &[u8]) {
    of_events(mutator, bytes, |mutator, events| {
        let event = events[mutator.chance.below(events.len())].clone();
        let to = mutator.chance.below(events.len() + 1);
        events.insert(to, event);
    });
}

fn drop_an_event(mutator: &mut Mutator, bytes: &mut Vec<u8>, _: &[u8]) {
    of_events(mutator, bytes, |mutator, events| {
        events.remove(mutator.chance.below(events.len()));
    });
}

fn swap_events(mutator: &mut Mutator, bytes: &mut Vec<u8>, _: &[u8]) {
    of_events(mutator, bytes, |mutator, events| {
        let (one, two) = (mutator.chance.below(events.len()), mutator.chance.below(events.len()));
        events.swap(one, two);
    });
}

fn take_an_event_of_the_other(mutator: &mut Mutator, bytes: &mut Vec<u8>, other: &[u8]) {
    let theirs = frames::events(other);
    let mut events = frames::events(bytes);
    if !theirs.is_empty() {
        let to = mutator.chance.below(events.len() + 1);
        events.insert(to, theirs[mutator.chance.below(theirs.len())].clone());
        *bytes = events.concat();
    }
}

/// The beginning of the one and the end of the other.
fn splice(mutator: &mut Mutator, bytes: &mut Vec<u8>, other: &[u8]) {
    bytes.truncate(mutator.chance.below(bytes.len() + 1));
    bytes.extend_from_slice(&other[mutator.chance.below(other.len() + 1)..]);
}

fn replace_a_value(mutator: &mut Mutator, bytes: &mut Vec<u8>, _: &[u8]) {
    const VALUES: [&str; 19] = [
        "null",
        "\"\"",
        "\"null\"",
        "{}",
        "[]",
        "0",
        "1",
        "-1",
        "1.5",
        "12.0",
        "1e999",
        "true",
        "18446744073709551616",
        "18446744073709551615",
        "\"\\ud83d\"",
        "\"{\\\"a\\\":\"",
        "[{}]",
        "{\"error\":{\"message\":\"m\"}}",
        "\"{}\"",
    ];
    let values = frames::values(bytes);
    if values.is_empty() {
        return;
    }
    let range = values[mutator.chance.below(values.len())].clone();
    let own = values[mutator.chance.below(values.len())].clone();
    // A value of another field is as likely to hit as one of the list.
    let value = match mutator.chance.below(3) {
        0 => bytes[own].to_vec(),
        _ => mutator.chance.of(&VALUES).as_bytes().to_vec(),
    };
    bytes.splice(range, value);
}

fn rename_a_field(mutator: &mut Mutator, bytes: &mut Vec<u8>, _: &[u8]) {
    let names = frames::names(bytes);
    if !names.is_empty() {
        let range = names[mutator.chance.below(names.len())].clone();
        let word = mutator.word();
        bytes.splice(range, word.iter().copied());
    }
}

fn cut_the_end(mutator: &mut Mutator, bytes: &mut Vec<u8>, _: &[u8]) {
    bytes.truncate(mutator.chance.below(bytes.len() + 1));
}

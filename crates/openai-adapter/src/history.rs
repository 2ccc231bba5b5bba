//! Decides in which form each message of a history is written, by where it stands.
//!
//! Knows nothing about the forms themselves. Invariant: a message that stays where it was is
//! written once.

use model_wire::pieces::{Elements, front, joined};
use runtime_ports::{EncodingKey, ModelMessage, ModelRole, Transcript};

/// Where a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the front, or where its place makes no difference.
    Front,
    /// A system message behind others.
    Behind,
}

/// The keys of the encoding slots, for both places.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) front: EncodingKey,
    pub(crate) behind: EncodingKey,
}

/// The elements of the messages from position `start` on. What was written for an earlier request
/// is not written again, but for several system messages at the front, which become one.
pub(crate) fn elements(
    messages: &Transcript,
    start: usize,
    keys: &Keys,
    encode: impl Fn(&ModelMessage, Place) -> Vec<u8>,
) -> Elements {
    let mut elements = Elements::default();
    let front = if start == 0 { front(messages) } else { 0 };
    let mut next = start;
    if front > 1 {
        let one = encode(&joined(messages, front), Place::Front);
        elements.push(ModelRole::System, one.into());
        next = front;
    }
    for (at, entry) in (next..).zip(messages.entries_from(next)) {
        let role = entry.role();
        let (key, place) = match role == ModelRole::System && at > 0 {
            true => (&keys.behind, Place::Behind),
            false => (&keys.front, Place::Front),
        };
        elements.push(role, entry.encoding(key, |message| encode(message, place)));
    }
    elements
}

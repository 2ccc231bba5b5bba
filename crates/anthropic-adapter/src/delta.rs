//! Decides which block of an answer a piece of it adds to, and what it adds.
//!
//! Knows nothing about blocks that are already there.

use model_wire::answer::{filled, text};
use serde_json::Value;
use std::borrow::Cow;

use crate::block::Kind;

/// A piece of a block.
#[derive(Debug)]
pub(crate) struct Delta<'a> {
    pub(crate) of: DeltaOf,
    pub(crate) text: Cow<'a, str>,
}

/// What a piece is a piece of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeltaOf {
    Text,
    Thinking,
    Signature,
    Arguments,
    /// What the server put in the place of what was said before.
    Summary,
}

/// Type, field, and what it is a piece of.
const DELTAS: [(&str, &str, DeltaOf); 5] = [
    ("text_delta", "text", DeltaOf::Text),
    ("thinking_delta", "thinking", DeltaOf::Thinking),
    ("signature_delta", "signature", DeltaOf::Signature),
    ("input_json_delta", "partial_json", DeltaOf::Arguments),
    ("compaction_delta", "content", DeltaOf::Summary),
];

impl<'a> Delta<'a> {
    /// The piece of a `content_block_delta` event; `None` for one of an unknown type, such as a
    /// citation.
    pub(crate) fn of(event: &'a Value) -> Option<Self> {
        let delta = event.get("delta")?;
        let kind = filled(delta, "type");
        let known = |(name, field, _): &&(&str, &str, DeltaOf)| match kind {
            Some(kind) => kind == *name,
            None => delta.get(*field).is_some(),
        };
        let (_, field, of) = DELTAS.iter().find(known)?;
        let text = match delta.get(*field) {
            // Some servers send arguments as the object that they are.
            Some(Value::Object(whole)) if *of == DeltaOf::Arguments => {
                Cow::Owned(Value::Object(whole.clone()).to_string())
            }
            _ => Cow::Borrowed(text(delta, field)?),
        };
        Some(Self { of: *of, text })
    }
}

impl DeltaOf {
    /// The kind of block that is begun for a piece whose block never began.
    pub(crate) const fn kind(self) -> Kind {
        match self {
            Self::Text => Kind::Text,
            Self::Thinking | Self::Signature => Kind::Thinking,
            Self::Arguments => Kind::Call,
            Self::Summary => Kind::Other,
        }
    }
}

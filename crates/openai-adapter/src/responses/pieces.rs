//! Decides which part of an item an event of a Responses stream adds to.
//!
//! Knows nothing about which item that is.

use std::borrow::Cow;

use model_wire::{Place, answer::text};
use serde_json::Value;

/// Where the arguments of calls stand. Those of other items are kept as they are.
pub(super) const VERBATIM: &[Place] = &[
    Place::at(&["arguments"]),
    Place::at(&["delta"]).beside("type", "response.function_call_arguments.delta"),
    Place::at(&["item", "arguments"]).beside("type", "function_call"),
    Place::at(&["output", "*", "arguments"]).beside("type", "function_call"),
    Place::at(&["response", "output", "*", "arguments"]).beside("type", "function_call"),
];

/// Which part of an item an event adds to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceOf {
    Text,
    Refusal,
    Reasoning,
    Summary,
    Arguments,
}

/// A piece of an item: more of it, or (`last`) all of it again.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    pub(super) of: PieceOf,
    pub(super) text: Cow<'a, str>,
    pub(super) last: bool,
}

impl PieceOf {
    /// Whether an item of type `kind` can have such a piece.
    pub(super) fn is_of(self, kind: &str) -> bool {
        match self {
            Self::Text | Self::Refusal => kind == "message",
            Self::Reasoning | Self::Summary => kind == "reasoning",
            Self::Arguments => kind == "function_call",
        }
    }
}

impl<'a> Piece<'a> {
    /// The piece of an event of type `kind`, if it is one of these.
    pub(super) fn of(kind: &str, event: &'a Value) -> Option<Self> {
        let (stem, last) = match kind.strip_suffix(".delta") {
            Some(stem) => (stem, false),
            None => (kind.strip_suffix(".done")?, true),
        };
        let (of, name) = match stem {
            "response.output_text" => (PieceOf::Text, "text"),
            "response.refusal" => (PieceOf::Refusal, "refusal"),
            "response.reasoning_text" => (PieceOf::Reasoning, "text"),
            "response.reasoning_summary_text" => (PieceOf::Summary, "text"),
            "response.function_call_arguments" => (PieceOf::Arguments, "arguments"),
            "response.content_part" | "response.reasoning_summary_part" if last => {
                return Self::of_part(event.get("part")?, stem);
            }
            _ => return None,
        };
        let text = match event.get(if last { name } else { "delta" })? {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            object @ Value::Object(_) if of == PieceOf::Arguments => object.to_string().into(),
            _ => return None,
        };
        Some(Self { of, text, last })
    }

    fn of_part(part: &'a Value, stem: &str) -> Option<Self> {
        let (of, name) = match text(part, "type") {
            Some("refusal") => (PieceOf::Refusal, "refusal"),
            Some("reasoning_text") => (PieceOf::Reasoning, "text"),
            _ if stem == "response.reasoning_summary_part" => (PieceOf::Summary, "text"),
            Some("output_text") => (PieceOf::Text, "text"),
            _ => return None,
        };
        Some(Self { of, text: text(part, name)?.into(), last: true })
    }
}

//! Decides what one content block of an answer says, from how it began and the pieces of it.
//!
//! Knows nothing about the blocks beside it. Invariant: arguments that end early, and a call of
//! which nothing came but its beginning, are no call; reasoning without a signature is shown and
//! never goes back.

use model_wire::{
    answer::{filled, text},
    arguments::Arguments,
};
use runtime_ports::ModelContent;
use serde_json::{Map, Value};

use crate::delta::{Delta, DeltaOf};

/// Least letters of a signature that a piece can repeat; fewer begin alike by chance.
const LEAST_AGAIN: usize = 2;

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Thinking,
    Call,
    /// Redacted reasoning, calls that the server makes by itself, and what is not known yet. Kept
    /// as it came, for its issuer.
    Other,
}

/// A block while it arrives.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) index: Option<u64>,
    pub(crate) kind: Kind,
    /// How it began.
    begun: Value,
    /// The pieces of its text, of its reasoning, or of its arguments.
    pieces: String,
    signature: Option<String>,
    has_pieces: bool,
    pub(crate) is_stopped: bool,
    /// Position among the announced calls.
    pub(crate) announced: Option<u32>,
    /// Whether the sink was told of something in it.
    pub(crate) is_shown: bool,
}

/// What a block turned out to be.
#[derive(Debug)]
pub(crate) enum Made {
    Content(ModelContent),
    Call { id: Option<String>, name: String, arguments: Value },
    CutCall,
    Nothing,
}

impl Kind {
    fn of(block: &Value) -> Self {
        let has = |name: &str| block.get(name).is_some_and(|value| !value.is_null());
        match filled(block, "type") {
            Some("text") => Self::Text,
            Some("thinking") => Self::Thinking,
            Some("tool_use") => Self::Call,
            Some(_) => Self::Other,
            None if has("text") => Self::Text,
            None if has("thinking") => Self::Thinking,
            None if has("name") || has("input") => Self::Call,
            None => Self::Other,
        }
    }
}

impl Block {
    /// A block that began as `block`.
    pub(crate) fn begun(index: Option<u64>, block: &Value) -> Self {
        Self::new(index, Kind::of(block), block.clone())
    }

    /// A block whose beginning was lost.
    pub(crate) fn unbegun(index: Option<u64>, kind: Kind) -> Self {
        Self::new(index, kind, Value::Null)
    }

    const fn new(index: Option<u64>, kind: Kind, begun: Value) -> Self {
        Self {
            index,
            kind,
            begun,
            pieces: String::new(),
            signature: None,
            has_pieces: false,
            is_stopped: false,
            announced: None,
            is_shown: false,
        }
    }

    /// Whether `block` is the beginning of this one, sent again.
    pub(crate) fn began_as(&self, block: &Value) -> bool {
        !self.is_stopped && self.begun == *block
    }

    /// Begins anew as `block`, when that is the same call of which no piece has come yet. Whether it
    /// was.
    pub(crate) fn begin_again(&mut self, block: &Value) -> bool {
        let same = self.kind == Kind::Call && Kind::of(block) == Kind::Call;
        let same = same && self.id().is_some() && self.id() == filled(block, "id");
        let again = same && self.name() == filled(block, "name") && !self.has_pieces;
        if again && !self.is_stopped {
            self.begun = block.clone();
        }
        again && !self.is_stopped
    }

    /// Takes a piece.
    pub(crate) fn add(&mut self, delta: &Delta<'_>) {
        self.has_pieces = true;
        match delta.of {
            DeltaOf::Signature => self.sign(&delta.text),
            _ => self.pieces.push_str(&delta.text),
        }
    }

    /// Whether something of it came, and its end did not.
    pub(crate) const fn is_amid(&self) -> bool {
        self.has_pieces && !self.is_stopped
    }

    /// Signatures come whole, in pieces, twice, or longer each time.
    fn sign(&mut self, piece: &str) {
        let held = self.signature.get_or_insert_default();
        if held.len() >= LEAST_AGAIN && piece.starts_with(held.as_str()) {
            held.clear();
        }
        held.push_str(piece);
    }

    /// The identity that the server gave the call.
    pub(crate) fn id(&self) -> Option<&str> {
        filled(&self.begun, "id")
    }

    /// The name of the tool.
    pub(crate) fn name(&self) -> Option<&str> {
        filled(&self.begun, "name")
    }

    /// The text that it began with.
    pub(crate) fn first_text(&self) -> &str {
        let field = match self.kind {
            Kind::Thinking => "thinking",
            _ if self.is_summary() => "content",
            _ => "text",
        };
        text(&self.begun, field).unwrap_or_default()
    }

    /// Whether the server put it in the place of what was said before.
    fn is_summary(&self) -> bool {
        self.kind == Kind::Other && filled(&self.begun, "type") == Some("compaction")
    }

    /// Whether it takes pieces of this kind: the arguments of calls that the server makes by itself
    /// arrive as those of others do.
    pub(crate) fn takes(&self, of: DeltaOf) -> bool {
        match of {
            DeltaOf::Summary => self.is_summary(),
            DeltaOf::Arguments if self.kind == Kind::Other => !self.is_summary(),
            _ => self.kind == of.kind(),
        }
    }

    /// The arguments that it began with. Nothing, and an empty object, only hold the place.
    pub(crate) fn first_arguments(&self) -> String {
        match self.begun.get("input") {
            Some(Value::String(text)) if is_placeholder(text) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Object(fields)) if fields.is_empty() => String::new(),
            None | Some(Value::Null) => String::new(),
            Some(input) => input.to_string(),
        }
    }

    /// What the block is, after all that came of it.
    pub(crate) fn make(&self, issuer: &str) -> Made {
        match self.kind {
            Kind::Text => {
                let text = format!("{}{}", self.first_text(), self.pieces);
                if text.is_empty() {
                    Made::Nothing
                } else {
                    Made::Content(ModelContent::Text { text })
                }
            }
            Kind::Thinking => self.make_thinking(issuer),
            Kind::Call => self.make_call(),
            Kind::Other => self.make_other(issuer),
        }
    }

    fn make_thinking(&self, issuer: &str) -> Made {
        let text = format!("{}{}", self.first_text(), self.pieces);
        let signature = self.signature.as_deref().or_else(|| filled(&self.begun, "signature"));
        let signature = signature.filter(|signature| !signature.is_empty());
        if text.is_empty() && signature.is_none() {
            return Made::Nothing;
        }
        let opaque = signature.map_or(Value::Null, |signature| {
            let mut block = self.begun.as_object().cloned().unwrap_or_default();
            let fields =
                [("type", "thinking"), ("thinking", text.as_str()), ("signature", signature)];
            block.extend(fields.map(|(name, value)| (name.to_owned(), value.into())));
            Value::Object(block)
        });
        Made::Content(ModelContent::Reasoning { issuer: issuer.to_owned(), text, opaque })
    }

    fn make_call(&self) -> Made {
        let first = self.first_arguments();
        let has_come = self.is_stopped || self.has_pieces || !first.is_empty();
        let Some(name) = self.name().filter(|_| has_come) else { return Made::CutCall };
        let text = format!("{first}{}", self.pieces);
        match Arguments::read(&text) {
            Arguments::Cut => Made::CutCall,
            Arguments::Whole(arguments) => {
                Made::Call { id: self.id().map(str::to_owned), name: name.to_owned(), arguments }
            }
        }
    }

    /// A call of the server's own gets its arguments, and a summary its text; everything else stays
    /// as it began, and is whole then, unless it is a call.
    fn make_other(&self, issuer: &str) -> Made {
        let mut block = self.begun.as_object().cloned().unwrap_or_default();
        let is_whole = self.is_stopped || !block.contains_key("input");
        if !is_whole || !block.get("type").is_some_and(Value::is_string) {
            return Made::Nothing;
        }
        if self.is_summary() && self.has_pieces {
            let text = format!("{}{}", self.first_text(), self.pieces);
            block.insert("content".to_owned(), text.into());
        } else if self.has_pieces {
            match Arguments::read(&self.pieces) {
                Arguments::Whole(Value::Object(input)) => set_input(&mut block, input),
                _ => return Made::Nothing,
            }
        }
        let (issuer, text) = (issuer.to_owned(), String::new());
        Made::Content(ModelContent::Reasoning { issuer, text, opaque: Value::Object(block) })
    }
}

/// Whether a text is an object without fields.
fn is_placeholder(text: &str) -> bool {
    let inner = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

fn set_input(block: &mut Map<String, Value>, input: Map<String, Value>) {
    block.insert("input".to_owned(), Value::Object(input));
}

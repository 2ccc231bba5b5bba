//! Decides what the parts of an answer come to: texts, thoughts, calls, and what only the vendor
//! can read.
//!
//! Knows nothing about frames and about why the answer ended. Invariant: a part that bears a
//! signature is never merged with another; a call is one only when it is whole, and one that is
//! sent again under its id is the same; no part vanishes.

use model_wire::{
    answer::{filled, text},
    arguments::Arguments,
    failure, minted,
};
use runtime_ports::{DeltaSink, ModelContent, ModelDelta, PortFailure};
use serde_json::{Map, Value, json};

use crate::encode::{ON_CALL, ON_TEXT, PART, SIGNATURE, SIGNED};

/// Most pieces that one answer may have.
const MOST_PIECES: usize = 4096;
/// Most calls that one answer may have.
const MOST_CALLS: usize = 512;

/// What a part may hold beside a text, though the API says that it holds one thing.
const PAYLOADS: &[&str] = &[
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "functionResponse",
    "toolCall",
    "toolResponse",
];
/// What a part holds of a tool that the provider runs by itself, after which it goes on.
const ROUNDS: &[&str] = &["executableCode", "codeExecutionResult", "toolCall", "toolResponse"];

/// The parts of one answer while they arrive.
#[derive(Debug)]
pub(crate) struct Parts {
    issuer: String,
    seed: String,
    pieces: Vec<Piece>,
    arrived: usize,
    calls: usize,
    cut: bool,
    rounds: bool,
}

/// What one part is, or several that belong together.
#[derive(Debug)]
enum Piece {
    Text {
        text: String,
        signature: Option<String>,
    },
    Thought {
        text: String,
    },
    Call {
        call: Call,
        signature: Option<String>,
    },
    /// A part that goes back to its issuer as it came, and the text of it that may be shown.
    Opaque {
        part: Value,
        text: String,
    },
}

/// A whole call.
#[derive(Debug, Clone, PartialEq)]
struct Call {
    /// The server's id.
    wire_id: Option<String>,
    /// The id that callers see.
    id: String,
    name: String,
    arguments: Value,
}

/// The parts as pieces of a message.
#[derive(Debug, PartialEq)]
pub(crate) struct Assembled {
    /// Everything but the calls, in order.
    pub(crate) spoken: Vec<ModelContent>,
    /// Everything, in order; `None` when a call is not whole.
    pub(crate) whole: Option<Vec<ModelContent>>,
    /// Whether there is a call, whole or not.
    pub(crate) calls: bool,
}

impl Parts {
    /// No parts yet. Ids that the server does not give are derived from `seed`.
    pub(crate) fn new(issuer: &str, seed: &str) -> Self {
        Self {
            issuer: issuer.to_owned(),
            seed: seed.to_owned(),
            pieces: Vec::new(),
            arrived: 0,
            calls: 0,
            cut: false,
            rounds: false,
        }
    }

    /// Whether nothing arrived.
    pub(crate) const fn is_empty(&self) -> bool {
        self.arrived == 0
    }

    /// How many parts arrived that carry something.
    pub(crate) const fn arrived(&self) -> usize {
        self.arrived
    }

    /// Whether the provider ran a tool of its own: it says that it stopped after each round.
    pub(crate) const fn has_rounds(&self) -> bool {
        self.rounds
    }

    /// Takes the next part. A text beside something else is a part of its own, before it, and the
    /// signature is on the other.
    pub(crate) fn take(&mut self, part: &Value, sink: &dyn DeltaSink) -> Result<(), PortFailure> {
        let Some(fields) = part.as_object() else { return Ok(()) };
        let has = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
        let has_payload = PAYLOADS.iter().any(|name| has(name));
        self.rounds |= ROUNDS.iter().any(|name| has(name));
        let call = fields.get("functionCall").filter(|call| !call.is_null());
        let is_lone = call.is_none() && !has_payload;
        match text(part, "text") {
            Some(text) if is_lone => self.say(text, signature_of(part), part, sink),
            Some(text) => self.say(text, None, part, sink),
            None if is_lone && fields.keys().any(|name| name != "thought" && has(name)) => {
                self.keep(part, String::new());
            }
            None => {}
        }
        if has_payload {
            self.keep(&without(part, &["text", "functionCall"]), String::new());
        }
        if let Some(call) = call {
            self.take_call(call, signature_of(part), sink)?;
        }
        if self.pieces.len() > MOST_PIECES {
            let message = "the answer has more parts than anybody can mean";
            return Err(failure::broken("TOO_MANY_PARTS", message));
        }
        Ok(())
    }

    fn say(&mut self, text: &str, signature: Option<String>, part: &Value, sink: &dyn DeltaSink) {
        let is_thought = part.get("thought") == Some(&Value::Bool(true));
        if !text.is_empty() {
            let delta = if is_thought { ModelDelta::Reasoning } else { ModelDelta::Text };
            sink.delta(delta(text));
        }
        match (signature, is_thought) {
            (Some(_), true) => self.keep(part, text.to_owned()),
            (Some(_), false) if text.is_empty() => self.keep(part, String::new()),
            (None, _) if text.is_empty() => {}
            (signature, false) => self.add_text(text, signature),
            (None, true) => self.add_thought(text),
        }
    }

    fn add_text(&mut self, text: &str, signature: Option<String>) {
        self.arrived += 1;
        match self.pieces.last_mut() {
            Some(Piece::Text { text: held, signature: None }) if signature.is_none() => {
                held.push_str(text);
            }
            _ => self.pieces.push(Piece::Text { text: text.to_owned(), signature }),
        }
    }

    fn add_thought(&mut self, text: &str) {
        self.arrived += 1;
        match self.pieces.last_mut() {
            Some(Piece::Thought { text: held }) => held.push_str(text),
            _ => self.pieces.push(Piece::Thought { text: text.to_owned() }),
        }
    }

    /// A part that bears nothing but its signature is a text without letters to the API.
    fn keep(&mut self, part: &Value, text: String) {
        self.arrived += 1;
        let mut part = part.clone();
        if let Value::Object(fields) = &mut part
            && fields.keys().all(|name| name == SIGNATURE || name == "thought")
        {
            fields.insert("text".to_owned(), "".into());
        }
        self.pieces.push(Piece::Opaque { part, text });
    }

    fn take_call(
        &mut self,
        call: &Value,
        signature: Option<String>,
        sink: &dyn DeltaSink,
    ) -> Result<(), PortFailure> {
        self.arrived += 1;
        if is_in_pieces(call) {
            let message = "the provider sends the arguments of a tool call in pieces, which nobody \
                           asked for; check what stands before it";
            return Err(failure::broken("PARTIAL_ARGUMENTS", message));
        }
        let (Some(name), Some(arguments)) = (filled(call, "name"), arguments_of(call)) else {
            self.cut = true;
            return Ok(());
        };
        let wire_id = filled(call, "id").map(str::to_owned);
        if let Some(held) = wire_id.as_deref().and_then(|id| self.again(id, name, &arguments)) {
            // Where only one of two has it, the signature is on both.
            *held = held.take().or(signature);
            return Ok(());
        }
        if self.calls >= MOST_CALLS {
            let message = "the answer has more tool calls than anybody can mean";
            return Err(failure::broken("TOO_MANY_CALLS", message));
        }
        let id = self.id_for(wire_id.as_deref());
        let index = u32::try_from(self.calls).unwrap_or(u32::MAX);
        sink.delta(ModelDelta::ToolCall { index, id: &id, name });
        sink.delta(ModelDelta::ToolArguments { index, fragment: &arguments.to_string() });
        let call = Call { wire_id, id, name: name.to_owned(), arguments };
        self.pieces.push(Piece::Call { call, signature });
        self.calls += 1;
        Ok(())
    }

    fn listed(&self) -> impl Iterator<Item = &Call> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Call { call, .. } => Some(call),
            _ => None,
        })
    }

    /// The signature of the call that this one is again.
    fn again(
        &mut self,
        wire_id: &str,
        name: &str,
        arguments: &Value,
    ) -> Option<&mut Option<String>> {
        self.pieces.iter_mut().find_map(|piece| match piece {
            Piece::Call { call, signature } => {
                let is_it = call.wire_id.as_deref() == Some(wire_id) && call.name == name;
                (is_it && call.arguments == *arguments).then_some(signature)
            }
            _ => None,
        })
    }

    /// The server's id, unless it has none or gave it to an earlier call.
    fn id_for(&self, wire_id: Option<&str>) -> String {
        let is_taken = |id: &str| self.listed().any(|call| call.id == id);
        let given = wire_id.filter(|id| !is_taken(id));
        given.map_or_else(|| minted(&self.seed, self.calls), str::to_owned)
    }

    /// Ends the assembly.
    pub(crate) fn assemble(&mut self) -> Assembled {
        let pieces = std::mem::take(&mut self.pieces);
        let calls = self.cut || self.calls > 0;
        let is_spoken = |piece: &&Piece| !matches!(piece, Piece::Call { .. });
        let spoken = self.contents(pieces.iter().filter(is_spoken));
        let whole = (!self.cut).then(|| self.contents(pieces.iter()));
        Assembled { spoken, whole, calls }
    }

    fn contents<'p>(&self, pieces: impl Iterator<Item = &'p Piece>) -> Vec<ModelContent> {
        let mut contents = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Thought { text } => contents.push(self.reasoning(text, Value::Null)),
                Piece::Opaque { part, text } => {
                    contents.push(self.reasoning(text, json!({ PART: part })));
                }
                Piece::Text { text, signature } => {
                    self.sign(&mut contents, ON_TEXT, signature.as_deref());
                    contents.push(ModelContent::text(text));
                }
                Piece::Call { call, signature } => {
                    self.sign(&mut contents, ON_CALL, signature.as_deref());
                    let Call { id, name, arguments, .. } = call.clone();
                    contents.push(ModelContent::ToolUse { id, name, arguments });
                }
            }
        }
        contents
    }

    fn reasoning(&self, text: &str, opaque: Value) -> ModelContent {
        let (issuer, text) = (self.issuer.clone(), text.to_owned());
        ModelContent::Reasoning { issuer, text, opaque }
    }

    /// Keeps the signature of the piece that follows: with the thought before it, or by itself.
    fn sign(&self, contents: &mut Vec<ModelContent>, kind: &str, signature: Option<&str>) {
        let Some(signature) = signature else { return };
        let kept = Value::Object(Map::from_iter([
            (SIGNATURE.to_owned(), signature.into()),
            (SIGNED.to_owned(), kind.into()),
        ]));
        match contents.last_mut() {
            Some(ModelContent::Reasoning { opaque, .. }) if opaque.is_null() => *opaque = kept,
            _ => contents.push(self.reasoning("", kept)),
        }
    }
}

/// The part without some of its fields.
fn without(part: &Value, names: &[&str]) -> Value {
    let fields = part.as_object().into_iter().flatten();
    let rest = fields.filter(|(name, _)| !names.contains(&name.as_str()));
    Value::Object(rest.map(|(name, value)| (name.clone(), value.clone())).collect())
}

fn signature_of(part: &Value) -> Option<String> {
    filled(part, SIGNATURE).map(str::to_owned)
}

/// Arguments that come piece by piece are sent to those alone who ask for them.
fn is_in_pieces(call: &Value) -> bool {
    let partial = call.get("partialArgs").is_some_and(|partial| !partial.is_null());
    partial || call.get("willContinue") == Some(&Value::Bool(true))
}

/// The arguments; gateways also send them as text. `None` for a text that ends early.
fn arguments_of(call: &Value) -> Option<Value> {
    let text = match call.get("args") {
        None | Some(Value::Null) => "",
        Some(Value::String(text)) => text,
        Some(whole) => return Some(whole.clone()),
    };
    match Arguments::read(text) {
        Arguments::Whole(arguments) => Some(arguments),
        Arguments::Cut => None,
    }
}

//! Decides which tool call a fragment of a chat stream belongs to.
//!
//! Knows nothing about the rest of the stream. Invariant: ids decide before indices, and indices
//! before nearness; no call is listed twice because it was sent twice.

use model_wire::{
    answer::filled,
    arguments::{Arguments, Balance},
    minted,
};
use runtime_ports::{DeltaSink, ModelContent, ModelDelta};
use serde_json::Value;

/// Most calls that one answer may have.
const MOST_CALLS: usize = 512;

/// The answer has more calls than anybody can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyCalls;

/// One fragment of a call, as it stands in a delta.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fragment {
    index: Option<u64>,
    id: Option<String>,
    name: Option<String>,
    arguments: String,
    extra: Option<Value>,
}

/// One call while it is assembled.
#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    wire_id: Option<String>,
    name: String,
    arguments: String,
    balance: Balance,
    extra: Option<Value>,
    announced: Option<String>,
    /// The frame that began it: two elements of one frame are two calls.
    frame: u64,
}

/// The calls of one answer, in the order in which they began.
#[derive(Debug)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    seed: String,
    frame: u64,
}

/// What became of the calls.
#[derive(Debug, PartialEq)]
pub(crate) enum Assembled {
    /// Every call is whole: the call, and what its issuer needs back beside it.
    Whole(Vec<(ModelContent, Option<Value>)>),
    /// One of them ends early.
    Cut,
}

impl Fragment {
    /// Reads an element of `tool_calls`, or a whole legacy `function_call`.
    pub(crate) fn of(value: &Value) -> Self {
        let function = value.get("function").filter(|function| function.is_object());
        let function = function.unwrap_or(value);
        Self {
            index: value.get("index").and_then(Value::as_u64),
            id: value.get("id").and_then(usable_id),
            name: filled(function, "name").map(str::to_owned),
            arguments: function.get("arguments").map(arguments_text).unwrap_or_default(),
            extra: value.get("extra_content").filter(|extra| !extra.is_null()).cloned(),
        }
    }
}

/// Servers write a missing id as `""`, `"null"` or a number.
fn usable_id(id: &Value) -> Option<String> {
    match id {
        Value::String(id) if !id.trim().is_empty() && id != "null" => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Calls {
    /// No calls yet. Ids that the server does not give are derived from `seed`.
    pub(crate) fn new(seed: &str) -> Self {
        Self { calls: Vec::new(), seed: seed.to_owned(), frame: 0 }
    }

    /// Whether no call began.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes the fragments of one frame.
    pub(crate) fn take(
        &mut self,
        fragments: impl Iterator<Item = Fragment>,
        sink: &dyn DeltaSink,
    ) -> Result<(), TooManyCalls> {
        self.frame += 1;
        for fragment in fragments.filter(|fragment| !fragment.is_empty()) {
            let at = self.route(&fragment).unwrap_or_else(|| self.open(&fragment));
            if at >= MOST_CALLS {
                return Err(TooManyCalls);
            }
            self.calls[at].absorb(&fragment);
            self.announce(at, &fragment.arguments, sink);
        }
        Ok(())
    }

    fn route(&self, fragment: &Fragment) -> Option<usize> {
        match (&fragment.id, fragment.index) {
            (Some(id), _) => self.by_id(id, fragment),
            (None, Some(index)) => self.by_index(index, fragment),
            (None, None) => self.by_nearness(fragment),
        }
    }

    fn by_id(&self, id: &str, fragment: &Fragment) -> Option<usize> {
        let same = |call: &Call| call.wire_id.as_deref() == Some(id);
        if let Some(at) = self.calls.iter().rposition(same) {
            let call = &self.calls[at];
            let other = !call.shares_name(fragment) || call.is_at_another_index(fragment);
            return (!(other && call.is_followed_by(fragment))).then_some(at);
        }
        // The id may come after the head of its call.
        let headless = |call: &Call| call.wire_id.is_none() && call.index == fragment.index;
        let at = self.calls.iter().rposition(headless)?;
        let call = &self.calls[at];
        (call.shares_name(fragment) && !call.is_followed_by(fragment)).then_some(at)
    }

    fn by_index(&self, index: u64, fragment: &Fragment) -> Option<usize> {
        let same = |call: &Call| call.index == Some(index);
        if let Some(at) = self.calls.iter().rposition(same) {
            return (!self.calls[at].is_followed_by(fragment)).then_some(at);
        }
        // Head and tail under different indices: the tail belongs to the call that lacks one.
        let lacks = |call: &Call| !call.balance.is_whole();
        let at = self.calls.iter().rposition(lacks).or(self.calls.len().checked_sub(1))?;
        (fragment.name.is_none() || self.calls[at].name.is_empty()).then_some(at)
    }

    fn by_nearness(&self, fragment: &Fragment) -> Option<usize> {
        let at = self.calls.len().checked_sub(1)?;
        let call = &self.calls[at];
        let sibling = call.frame == self.frame && fragment.name.is_some();
        (!sibling && !call.is_followed_by(fragment)).then_some(at)
    }

    fn open(&mut self, fragment: &Fragment) -> usize {
        let (index, wire_id, frame) = (fragment.index, fragment.id.clone(), self.frame);
        self.calls.push(Call { index, wire_id, frame, ..Call::default() });
        self.calls.len() - 1
    }

    /// Tells the sink about a call once its name is known. A name may come in pieces, so it counts
    /// as known when arguments follow.
    fn announce(&mut self, at: usize, fresh: &str, sink: &dyn DeltaSink) {
        let index = position(at);
        if self.calls[at].announced.is_some() {
            if !fresh.is_empty() {
                sink.delta(ModelDelta::ToolArguments { index, fragment: fresh });
            }
            return;
        }
        if self.calls[at].name.is_empty() || self.calls[at].arguments.is_empty() {
            return;
        }
        let id = self.id_of(at);
        let call = &mut self.calls[at];
        sink.delta(ModelDelta::ToolCall { index, id: &id, name: &call.name });
        sink.delta(ModelDelta::ToolArguments { index, fragment: &call.arguments });
        call.announced = Some(id);
    }

    /// The id that callers see: the server's, unless it has none or gave it to an earlier call.
    fn id_of(&self, at: usize) -> String {
        let call = &self.calls[at];
        if let Some(announced) = &call.announced {
            return announced.clone();
        }
        let earlier = &self.calls[..at];
        let is_taken = |id: &&String| earlier.iter().any(|call| call.wire_id.as_ref() == Some(id));
        let given = call.wire_id.as_ref().filter(|id| !is_taken(id));
        given.cloned().unwrap_or_else(|| minted(&self.seed, at))
    }

    /// Ends the assembly.
    pub(crate) fn assemble(&mut self, sink: &dyn DeltaSink) -> Assembled {
        let mut kept: Vec<(usize, Value)> = Vec::new();
        for at in 0..self.calls.len() {
            let call = &self.calls[at];
            match Arguments::read(&call.arguments) {
                Arguments::Cut => return Assembled::Cut,
                Arguments::Whole(_) if call.name.is_empty() => return Assembled::Cut,
                Arguments::Whole(value) => {
                    let is_again = |(other, held): &(usize, Value)| {
                        call.repeats(&self.calls[*other]) && *held == value
                    };
                    if !kept.iter().any(is_again) {
                        kept.push((at, value));
                    }
                }
            }
        }
        Assembled::Whole(kept.into_iter().map(|(at, value)| self.listed(at, value, sink)).collect())
    }

    fn listed(
        &self,
        at: usize,
        arguments: Value,
        sink: &dyn DeltaSink,
    ) -> (ModelContent, Option<Value>) {
        let (id, call) = (self.id_of(at), &self.calls[at]);
        if call.announced.is_none() {
            sink.delta(ModelDelta::ToolCall { index: position(at), id: &id, name: &call.name });
        }
        let content = ModelContent::ToolUse { id, name: call.name.clone(), arguments };
        (content, call.extra.clone())
    }
}

impl Fragment {
    fn is_empty(&self) -> bool {
        self.id.is_none()
            && self.name.is_none()
            && self.arguments.is_empty()
            && self.extra.is_none()
    }
}

impl Call {
    fn absorb(&mut self, fragment: &Fragment) {
        self.index = self.index.or(fragment.index);
        self.wire_id = self.wire_id.take().or_else(|| fragment.id.clone());
        self.extra = fragment.extra.clone().or_else(|| self.extra.take());
        if let Some(name) = &fragment.name {
            self.absorb_name(name, fragment.id.is_some());
        }
        self.arguments.push_str(&fragment.arguments);
        self.balance.feed(&fragment.arguments);
    }

    /// Most servers repeat the name or leave it out; some cut it in pieces.
    fn absorb_name(&mut self, name: &str, with_id: bool) {
        let is_piece = !with_id && self.arguments.is_empty() && !name.starts_with(&self.name);
        if is_piece {
            self.name.push_str(name);
        } else if self.announced.is_none() {
            name.clone_into(&mut self.name);
        }
    }

    /// Whether `fragment`, though routed here, begins another call: this one has a name and whole
    /// arguments that are no placeholder, and the fragment has a name and arguments that are not
    /// the same again.
    fn is_followed_by(&self, fragment: &Fragment) -> bool {
        let Some(name) = &fragment.name else { return false };
        let complete = !self.name.is_empty() && self.balance.is_whole();
        if *name != self.name {
            return complete;
        }
        let (held, fresh) = (self.arguments.trim(), fragment.arguments.trim());
        complete && held != "{}" && !fresh.is_empty() && fresh != held
    }

    fn shares_name(&self, fragment: &Fragment) -> bool {
        let names = fragment.name.as_ref().filter(|_| !self.name.is_empty());
        names.is_none_or(|name| *name == self.name)
    }

    fn is_at_another_index(&self, fragment: &Fragment) -> bool {
        self.index.zip(fragment.index).is_some_and(|(held, fresh)| held != fresh)
    }

    /// Whether the same call was begun before: under the same id, or under none at one place.
    fn repeats(&self, other: &Self) -> bool {
        let same_place = self.wire_id.is_some() || self.index == other.index;
        self.name == other.name && self.wire_id == other.wire_id && same_place
    }
}

fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;

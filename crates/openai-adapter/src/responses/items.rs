//! Decides what one output item of a Responses answer is, from everything that was said about it.
//!
//! Knows nothing about other items. Invariant: what was said when the item was done outranks the
//! final snapshot, which outranks the deltas, which outrank what was said when it was added; an
//! empty report never erases a filled one.

use std::collections::BTreeMap;

use model_wire::{
    answer::{filled, list, text},
    arguments::Arguments,
};
use runtime_ports::ModelContent;
use serde_json::Value;

use crate::frames::position;

/// One output item while it arrives.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) output_index: Option<u64>,
    /// The ids that events used for it: item ids and call ids.
    pub(super) ids: Vec<String>,
    added: Option<Value>,
    done: Option<Value>,
    snapshot: Option<Value>,
    texts: BTreeMap<u64, String>,
    summaries: BTreeMap<u64, String>,
    arguments: String,
    /// Whether the end of the arguments was reported.
    arguments_ended: bool,
    /// The name of the tool, when a piece told it.
    told_name: Option<String>,
    refused: bool,
    /// Whether it was reported twice, as calls with other arguments.
    is_doubtful: bool,
    /// Position in the final report, once it was listed there.
    pub(super) listed_at: Option<usize>,
    /// Position among the calls, once the sink knows it.
    pub(super) announced: Option<u32>,
    /// Whether the sink has seen a piece of it.
    pub(super) streamed: bool,
}

/// When a whole item was reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    Added,
    Done,
    Snapshot,
}

/// What an item is in the end.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Made {
    /// Text or reasoning.
    Content(ModelContent),
    /// A call, with the server's id for it.
    Call { id: Option<String>, name: String, arguments: Value },
    /// A call that ends early.
    CutCall,
    /// Nothing that anybody could use.
    Nothing,
}

impl Item {
    /// An item of which nothing has arrived, at a place in the output if there is one.
    pub(super) fn at(output_index: Option<u64>) -> Self {
        Self { output_index, ..Self::default() }
    }

    /// Takes a report of the whole item.
    pub(super) fn report(&mut self, when: Report, item: &Value) {
        self.is_doubtful |= self.is_contradicted_by(when, item);
        for name in ["id", "call_id"] {
            let fresh = filled(item, name).filter(|id| !self.ids.iter().any(|held| held == id));
            self.ids.extend(fresh.map(str::to_owned));
        }
        let place = match when {
            Report::Added => &mut self.added,
            Report::Done => &mut self.done,
            Report::Snapshot => &mut self.snapshot,
        };
        let held = place.take();
        *place = Some(fuller(held, item));
    }

    /// Whether a report is one of a call with other arguments, though it is no new item: the end of
    /// it said twice, or a final list that knows none of its ids.
    fn is_contradicted_by(&self, when: Report, item: &Value) -> bool {
        let is_again = match when {
            Report::Added => false,
            Report::Done => self.done.is_some(),
            Report::Snapshot => has_id(item) && !self.ids.is_empty() && !self.shares_id(item),
        };
        let whole = |text: &str| match Arguments::read(text) {
            Arguments::Whole(value) if !is_blank(text) => Some(value),
            _ => None,
        };
        let (held, fresh) = (self.arguments(), arguments_of(item).unwrap_or_default());
        let is_call = self.kind() == Some("function_call");
        let differ = |(held, fresh): (Value, Value)| held != fresh;
        is_again && is_call && whole(&held).zip(whole(&fresh)).is_some_and(differ)
    }

    /// Adds to a part of its text, or replaces the part when the event is the part's last.
    pub(super) fn take_text(&mut self, part: u64, piece: &str, last: bool) {
        put(self.texts.entry(part).or_default(), piece, last);
    }

    /// The same for a part of the summary of its reasoning.
    pub(super) fn take_summary(&mut self, part: u64, piece: &str, last: bool) {
        put(self.summaries.entry(part).or_default(), piece, last);
    }

    /// The same for the arguments of a call.
    pub(super) fn take_arguments(&mut self, piece: &str, last: bool) {
        put(&mut self.arguments, piece, last);
        self.arguments_ended |= last;
    }

    /// Notes the name of the tool that it calls, for items of which no report comes.
    pub(super) fn take_name(&mut self, name: Option<&str>) {
        self.told_name = name.map(str::to_owned).or_else(|| self.told_name.take());
    }

    /// Notes that its text is a refusal.
    pub(super) fn refuse(&mut self) {
        self.refused = true;
    }

    /// Whether its text, or a part of it, is a refusal.
    pub(super) fn is_refusal(&self) -> bool {
        let mut parts = self.reports().flat_map(|item| list(item, "content"));
        self.refused || parts.any(|part| text(part, "type") == Some("refusal"))
    }

    /// Whether it was reported as done.
    pub(super) fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// Whether a whole report of any kind was made.
    pub(super) fn is_reported(&self) -> bool {
        self.reports().next().is_some()
    }

    /// Whether anything of it has arrived.
    pub(super) fn is_begun(&self) -> bool {
        let pieces = self.texts.values().chain(self.summaries.values());
        self.done.is_some() || !self.arguments.is_empty() || pieces.clone().any(|p| !p.is_empty())
    }

    /// Whether it is nothing but the head of a call, under an id of `other`, which is more.
    pub(super) fn is_lone_head_of(&self, other: &Self) -> bool {
        let is_call = self.kind() == Some("function_call");
        let is_head = is_call && self.whole().is_none() && self.arguments.is_empty();
        let shares_id = self.ids.iter().any(|id| other.ids.contains(id));
        is_head && !self.arguments_ended && shares_id && other.is_begun()
    }

    /// Its type, in the words of the best report.
    pub(super) fn kind(&self) -> Option<&str> {
        self.field("type")
    }

    /// Whether `reported` is another item, whatever place and ids say: of another type, or a call
    /// of another tool.
    pub(super) fn is_other_than(&self, reported: &Value) -> bool {
        let differ = |held: Option<&str>, fresh: Option<&str>| {
            held.zip(fresh).is_some_and(|(held, fresh)| held != fresh)
        };
        differ(self.kind(), filled(reported, "type"))
            || differ(self.name(), filled(reported, "name"))
    }

    /// Whether `reported` has an id that was used for this item.
    pub(super) fn shares_id(&self, reported: &Value) -> bool {
        let ids = ["id", "call_id"].into_iter().filter_map(|name| filled(reported, name));
        ids.into_iter().any(|id| self.ids.iter().any(|held| held == id))
    }

    /// Whether it says the same as `reported`, as far as both say something.
    pub(super) fn says_the_same(&self, reported: &Value) -> bool {
        let mut other = Self::at(None);
        other.report(Report::Done, reported);
        match self.kind().unwrap_or_else(|| self.guessed_kind()) {
            "function_call" => {
                let value = |item: &Self| Arguments::read(&item.arguments());
                self.name() == other.name() && value(self) == value(&other)
            }
            "message" => self.text() == other.text(),
            _ => self.whole() == other.whole(),
        }
    }

    /// Whether the server says of itself that it ends early.
    pub(super) fn is_incomplete(&self) -> bool {
        self.whole().is_some_and(|item| text(item, "status") == Some("incomplete"))
    }

    /// The phase of a message, when the server told one.
    pub(super) fn phase(&self) -> Option<&str> {
        self.field("phase").filter(|_| self.kind() == Some("message"))
    }

    /// The name of the tool that it calls.
    pub(super) fn name(&self) -> Option<&str> {
        self.field("name").or(self.told_name.as_deref())
    }

    /// The server's id of the call.
    pub(super) fn call_id(&self) -> Option<&str> {
        self.field("call_id").or_else(|| self.field("id"))
    }

    /// The server's id of the call, if it has one; `None` for what is no call.
    pub(super) fn id_of_call(&self) -> Option<Option<&str>> {
        let kind = self.kind().unwrap_or_else(|| self.guessed_kind());
        (kind == "function_call").then(|| self.field("call_id"))
    }

    /// Whether one of these ids was used for it.
    pub(super) fn has_id_of(&self, ids: &[Option<&str>]) -> bool {
        ids.iter().flatten().any(|id| self.ids.iter().any(|held| held == id))
    }

    /// Whether an event says that it is about another place than the item's.
    pub(super) fn is_moved(&self, event: &Value) -> bool {
        let place = event.get("output_index").and_then(position);
        place.zip(self.output_index).is_some_and(|(fresh, held)| fresh != held)
    }

    /// Some servers give one id to two calls: at another place and with another content it is
    /// another.
    pub(super) fn is_another_call(&self, event: &Value) -> bool {
        let reported = event.get("item").unwrap_or(&Value::Null);
        let arguments = text(reported, "arguments").unwrap_or_default();
        let same = || Arguments::read(&self.arguments()) == Arguments::read(arguments);
        self.is_moved(event) && (self.name() != filled(reported, "name") || !same())
    }

    /// What the item is in the end.
    pub(super) fn make(&self, issuer: &str) -> Made {
        match self.kind().unwrap_or_else(|| self.guessed_kind()) {
            "message" if self.field("role").is_some_and(|role| role != "assistant") => {
                Made::Nothing
            }
            "message" => Self::content(self.text().map(ModelContent::text)),
            "function_call" => self.make_call(),
            "reasoning" => Self::content(self.make_reasoning(issuer)),
            _ => Self::content(self.whole().cloned().map(|opaque| ModelContent::Reasoning {
                issuer: issuer.to_owned(),
                text: String::new(),
                opaque,
            })),
        }
    }

    fn content(content: Option<ModelContent>) -> Made {
        content.map_or(Made::Nothing, Made::Content)
    }

    fn make_call(&self) -> Made {
        let Some(name) = self.name() else { return Made::CutCall };
        let raw = self.arguments();
        if self.is_doubtful {
            return Made::CutCall;
        }
        match Arguments::read(&raw) {
            Arguments::Whole(arguments) if self.is_ended_call(&raw) => Made::Call {
                id: self.call_id().map(str::to_owned),
                name: name.to_owned(),
                arguments,
            },
            _ => Made::CutCall,
        }
    }

    /// Silence is an empty list of arguments only when somebody said that it was all.
    fn is_ended_call(&self, raw: &str) -> bool {
        match self.whole() {
            Some(_) => !self.is_incomplete(),
            None => self.arguments_ended || !raw.is_empty(),
        }
    }

    /// The arguments as text; gateways also send them as an object. An empty object is a
    /// placeholder where something else was said as well.
    pub(super) fn arguments(&self) -> String {
        let [done, snapshot, added] = [&self.done, &self.snapshot, &self.added]
            .map(|report| report.as_ref().and_then(arguments_of));
        let said = [done, snapshot, Some(self.arguments.clone()), added];
        let said: Vec<String> =
            said.into_iter().flatten().filter(|text| !text.trim().is_empty()).collect();
        let filled = said.iter().find(|text| text.trim() != "{}");
        filled.or(said.first()).cloned().unwrap_or_default()
    }

    /// The text of a message.
    pub(super) fn text(&self) -> Option<String> {
        let of = |item: &Value| {
            let parts = list(item, "content").iter();
            let texts = parts.filter_map(|part| {
                part.as_str().or_else(|| filled(part, "text")).or_else(|| filled(part, "refusal"))
            });
            let texts = filled(item, "content").into_iter().chain(texts);
            Some(texts.collect::<String>()).filter(|text| !text.is_empty())
        };
        let streamed = self.texts.values().map(String::as_str).collect::<String>();
        let reported =
            self.done.as_ref().and_then(of).or_else(|| self.snapshot.as_ref().and_then(of));
        reported
            .or(Some(streamed).filter(|text| !text.is_empty()))
            .or_else(|| self.added.as_ref().and_then(of))
    }

    /// Reasoning that was only begun is shown but not sent back: its ciphertext is provisional.
    fn make_reasoning(&self, issuer: &str) -> Option<ModelContent> {
        let opaque = self.whole().map_or(Value::Null, replayable);
        let text = self.reasoning_text();
        if text.is_empty() && opaque.is_null() {
            return None;
        }
        Some(ModelContent::Reasoning { issuer: issuer.to_owned(), text, opaque })
    }

    fn reasoning_text(&self) -> String {
        let of = |name: &str| {
            let parts = self.whole().map(|item| list(item, name)).unwrap_or_default().iter();
            parts.filter_map(|part| filled(part, "text")).collect::<Vec<_>>().join("\n\n")
        };
        let joined = |parts: &BTreeMap<u64, String>| {
            parts.values().map(String::as_str).collect::<Vec<_>>().join("\n\n")
        };
        let candidates =
            [of("summary"), joined(&self.summaries), of("content"), joined(&self.texts)];
        candidates.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
    }

    fn whole(&self) -> Option<&Value> {
        self.done.as_ref().or(self.snapshot.as_ref())
    }

    fn reports(&self) -> impl Iterator<Item = &Value> {
        [&self.done, &self.snapshot, &self.added].into_iter().flatten()
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.reports().find_map(|item| filled(item, name))
    }

    /// For items of which no report came, only pieces.
    fn guessed_kind(&self) -> &'static str {
        match () {
            () if !self.arguments.is_empty() => "function_call",
            () if !self.summaries.is_empty() => "reasoning",
            () => "message",
        }
    }
}

/// The item as its issuer takes it back: with a summary, be it empty, and without a status and
/// what is null.
fn replayable(item: &Value) -> Value {
    let mut item = item.clone();
    if let Value::Object(fields) = &mut item {
        fields.remove("status");
        fields.retain(|_, value| !value.is_null());
        fields.entry("summary").or_insert_with(|| Value::Array(Vec::new()));
    }
    item
}

fn arguments_of(item: &Value) -> Option<String> {
    match item.get("arguments") {
        Some(Value::String(text)) => Some(text.clone()),
        Some(object @ Value::Object(_)) => Some(object.to_string()),
        _ => None,
    }
}

fn has_id(item: &Value) -> bool {
    ["id", "call_id"].into_iter().any(|name| filled(item, name).is_some())
}

/// Whether a text of arguments says nothing, or holds a place.
fn is_blank(arguments: &str) -> bool {
    matches!(arguments.trim(), "" | "{}" | "null")
}

/// The report of an item that says more. One that says nothing erases nothing, but that the item
/// ends early.
fn fuller(held: Option<Value>, item: &Value) -> Value {
    let Some(mut held) = held.filter(|held| is_bare(item) && !is_bare(held)) else {
        return item.clone();
    };
    let is_cut = text(item, "status") == Some("incomplete");
    for name in NAMES.into_iter().filter(|name| filled(item, name).is_some()) {
        if filled(&held, name).is_none() || (name == "status" && is_cut) {
            held[name] = item[name].clone();
        }
    }
    held
}

/// The fields that say which item it is, and nothing of what it says.
const NAMES: [&str; 7] = ["id", "call_id", "type", "role", "name", "status", "phase"];

/// Whether an item has nothing beside its names.
fn is_bare(item: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::String(text) => is_blank(text),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        value => value.is_null(),
    };
    let fields = item.as_object().into_iter().flatten();
    let mut said = fields.filter(|(name, _)| !NAMES.contains(&name.as_str()));
    said.all(|(_, value)| is_empty(value))
}

fn put(held: &mut String, piece: &str, last: bool) {
    if last && !piece.is_empty() {
        held.clear();
    }
    held.push_str(piece);
}

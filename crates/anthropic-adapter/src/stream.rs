//! Decides what an answer of the Messages API says, from the events of its stream or from one
//! document.
//!
//! Knows nothing about bytes and connections. Events are read field by field from JSON values: an
//! unknown event, an unknown block or a missing field never stops an answer; only `message_stop`,
//! or the announced end of everything after a reason to stop, finishes one.

use std::collections::HashSet;

use model_wire::{
    Answer, Decoder, Ending, Meter, Place, Progress, Refusal,
    answer::{error_of, failed_state, filled, list},
    failure, minted,
};
use runtime_ports::{DeltaSink, ModelContent, ModelDelta, ModelFinish, PortFailure};
use serde_json::{Value, json};

use crate::{
    block::{Block, Kind, Made},
    body::Marks,
    delta::{Delta, DeltaOf},
    metering::{self, Moment},
    verbatim::VERBATIM,
};

/// Most blocks that one answer may have.
const MOST_BLOCKS: usize = 1024;

/// Reasons to stop, and what they mean. Below the vendor's, those of servers that pass on another
/// API.
const REASONS: &[(&str, ModelFinish)] = &[
    ("end_turn", ModelFinish::Stop),
    ("stop_sequence", ModelFinish::Stop),
    ("tool_use", ModelFinish::ToolCalls),
    ("max_tokens", ModelFinish::Length),
    ("model_context_window_exceeded", ModelFinish::Length),
    ("refusal", ModelFinish::ContentFilter),
    ("stop", ModelFinish::Stop),
    ("tool_calls", ModelFinish::ToolCalls),
    ("length", ModelFinish::Length),
    ("content_filter", ModelFinish::ContentFilter),
];

/// An answer while it arrives.
#[derive(Debug)]
pub(crate) struct MessageStream {
    issuer: String,
    seed: String,
    /// The provider's name for the answer, or for the request that an error is about.
    response_id: Option<String>,
    blocks: Vec<Block>,
    ids: HashSet<String>,
    calls_announced: u32,
    stop_reason: Option<String>,
    has_begun: bool,
    has_ended: bool,
    /// A message came with all of its blocks.
    is_listed: bool,
    /// Whether the server announced the message; a late announcement is the first one all the same.
    is_announced: bool,
    meter: Meter,
}

impl MessageStream {
    /// An answer of which nothing has arrived, to a request whose prefixes were marked or not.
    /// `seed` makes the ids that the server does not give.
    pub(crate) fn new(issuer: &str, seed: &str, marks: Marks) -> Self {
        Self {
            issuer: issuer.to_owned(),
            seed: seed.to_owned(),
            response_id: None,
            blocks: Vec::new(),
            ids: HashSet::new(),
            calls_announced: 0,
            stop_reason: None,
            has_begun: false,
            has_ended: false,
            is_listed: false,
            is_announced: false,
            meter: metering::meter(marks),
        }
    }

    /// A message begins. Another one within the same stream would be mixed with it: one of another
    /// name, or of none.
    fn begin(&mut self, message: &Value) -> Result<(), PortFailure> {
        let id = filled(message, "id").map(str::to_owned);
        let is_another = self.is_announced && (id.is_none() || id != self.response_id);
        if is_another && !self.blocks.is_empty() {
            return Err(restarted());
        }
        self.is_announced = true;
        self.response_id = id.or_else(|| self.response_id.take());
        self.has_begun = true;
        Ok(())
    }

    /// A message is announced, also one that has blocks already. The same one again amid a block
    /// would be said from its beginning once more, by whoever asked a second time.
    fn announce_message(
        &mut self,
        message: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<(), PortFailure> {
        if self.is_announced && self.blocks.iter().any(Block::is_amid) {
            return Err(restarted());
        }
        self.begin(message)?;
        let begin = |(index, block): (Option<u64>, &Value)| self.begin_block(index, block, sink);
        listed(list(message, "content")).try_for_each(begin)
    }

    fn open(&mut self, block: Block) -> Result<usize, PortFailure> {
        if self.blocks.len() >= MOST_BLOCKS {
            let message = "the answer has more blocks than anybody can mean";
            return Err(failure::broken("TOO_MANY_ITEMS", message));
        }
        self.has_begun = true;
        self.blocks.push(block);
        Ok(self.blocks.len() - 1)
    }

    /// A block begins. Servers begin one twice, and give one index to several that follow each
    /// other.
    fn begin_block(
        &mut self,
        index: Option<u64>,
        begun: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<(), PortFailure> {
        let open = self.blocks.iter().rposition(|block| block.index == index);
        if let Some(block) = open.map(|at| &mut self.blocks[at])
            && (block.began_as(begun) || block.begin_again(begun))
        {
            return Ok(());
        }
        let at = self.open(Block::begun(index, begun))?;
        self.announce(at, sink);
        let block = &mut self.blocks[at];
        let text = block.first_text();
        match block.kind {
            Kind::Text if !text.is_empty() => sink.delta(ModelDelta::Text(text)),
            Kind::Thinking if !text.is_empty() => sink.delta(ModelDelta::Reasoning(text)),
            _ => {}
        }
        Ok(())
    }

    /// Tells the sink about a call, once its name is known.
    fn announce(&mut self, at: usize, sink: &dyn DeltaSink) {
        let block = &self.blocks[at];
        let Some(name) = block.name().filter(|_| block.kind == Kind::Call) else { return };
        let index = self.calls_announced;
        let id = block.id().filter(|id| !self.ids.contains(*id)).map(str::to_owned);
        let id = id.unwrap_or_else(|| minted(&self.seed, at));
        sink.delta(ModelDelta::ToolCall { index, id: &id, name });
        self.ids.insert(id);
        self.blocks[at].announced = Some(index);
        self.calls_announced += 1;
    }

    /// A piece of a block: the last one at its index that takes it, or without an index the last
    /// open one that does. One that never began is begun.
    fn take_delta(&mut self, event: &Value, sink: &dyn DeltaSink) -> Result<(), PortFailure> {
        let Some(delta) = Delta::of(event) else { return Ok(()) };
        let index = index_of(event);
        let is_it = |block: &Block| match index {
            Some(_) => block.index == index && block.takes(delta.of),
            None => !block.is_stopped && block.takes(delta.of),
        };
        let found = self.blocks.iter().rposition(is_it);
        let at = match found {
            Some(at) => at,
            None => self.open(Block::unbegun(index, delta.of.kind()))?,
        };
        let block = &mut self.blocks[at];
        block.add(&delta);
        if delta.text.is_empty() {
            return Ok(());
        }
        let fragment = &*delta.text;
        match (delta.of, block.announced) {
            (DeltaOf::Text, _) => sink.delta(ModelDelta::Text(fragment)),
            (DeltaOf::Thinking, _) => sink.delta(ModelDelta::Reasoning(fragment)),
            (DeltaOf::Arguments, Some(index)) => {
                sink.delta(ModelDelta::ToolArguments { index, fragment });
                block.is_shown = true;
            }
            (DeltaOf::Arguments, None) | (DeltaOf::Signature | DeltaOf::Summary, _) => {}
        }
        Ok(())
    }

    fn stop_block(&mut self, index: Option<u64>, sink: &dyn DeltaSink) {
        let is_it = |block: &Block| !block.is_stopped && (index.is_none() || block.index == index);
        if let Some(at) = self.blocks.iter().rposition(is_it) {
            self.blocks[at].is_stopped = true;
            self.show_arguments(at, sink);
        }
    }

    /// Tells the sink the arguments that came without pieces.
    fn show_arguments(&mut self, at: usize, sink: &dyn DeltaSink) {
        let block = &mut self.blocks[at];
        let Some(index) = block.announced.filter(|_| !block.is_shown) else { return };
        block.is_shown = true;
        let fragment = &block.first_arguments();
        if !fragment.is_empty() {
            sink.delta(ModelDelta::ToolArguments { index, fragment });
        }
    }

    /// The whole answer in one value.
    fn take_message(&mut self, message: &Value, sink: &dyn DeltaSink) -> Result<(), PortFailure> {
        self.begin(message)?;
        // Some servers write a text alone.
        let text = filled(message, "content").map(|text| json!([{"type": "text", "text": text}]));
        let blocks = text.as_ref().and_then(Value::as_array);
        let blocks = blocks.map_or_else(|| list(message, "content"), Vec::as_slice);
        for (index, block) in listed(blocks) {
            self.begin_block(index, block, sink)?;
            self.stop_block(index, sink);
        }
        // Within a stream, a message that has no reason goes on.
        self.has_ended |= filled(message, "stop_reason").is_some();
        self.is_listed = true;
        Ok(())
    }

    /// Reports stand in the event, and in the message that it brings.
    fn take_reports(&mut self, kind: &str, event: &Value) {
        let moment = match kind {
            "message_start" => Moment::BeforeTheAnswer,
            _ => Moment::Later,
        };
        for place in [Some(event), event.get("message"), event.get("delta")].into_iter().flatten() {
            metering::observe(&mut self.meter, place, moment);
            if let Some(reason) = filled(place, "stop_reason") {
                self.stop_for(reason);
            }
        }
    }

    /// Nothing that is said later completes an answer that was cut.
    fn stop_for(&mut self, reason: &str) {
        let cuts = |reason: &str| {
            matches!(meaning(reason), Some(ModelFinish::Length | ModelFinish::ContentFilter))
        };
        if cuts(reason) || !self.stop_reason.as_deref().is_some_and(cuts) {
            self.stop_reason = Some(reason.to_owned());
        }
    }

    fn fail(&mut self, event: &Value) -> PortFailure {
        let id = filled(event, "request_id").map(str::to_owned);
        self.response_id = id.or_else(|| self.response_id.take());
        failure::of_event(&Refusal::of_value(event), !self.blocks.is_empty())
    }

    /// The blocks as contents, in the order of their indices, and whether a call was cut.
    fn contents(&self) -> (Vec<ModelContent>, bool) {
        let mut blocks: Vec<(usize, &Block)> = self.blocks.iter().enumerate().collect();
        if blocks.iter().all(|(_, block)| block.index.is_some()) {
            blocks.sort_by_key(|(_, block)| block.index);
        }
        let mut calls = Calls::default();
        let mut output: Vec<ModelContent> = Vec::new();
        let mut places: Vec<(Option<u64>, usize)> = Vec::new();
        for (at, block) in blocks {
            match block.make(&self.issuer) {
                Made::Content(content) => {
                    // What is said twice at one place was sent twice.
                    let same = |(index, held): &(Option<u64>, usize)| {
                        index.is_some() && *index == block.index && output[*held] == content
                    };
                    if !places.iter().any(same) {
                        places.push((block.index, output.len()));
                        output.push(content);
                    }
                }
                Made::Call { id, name, arguments } => {
                    let spare = || minted(&self.seed, at);
                    output.extend(calls.take(id, name, arguments, spare));
                }
                Made::CutCall => calls.is_cut = true,
                Made::Nothing => {}
            }
        }
        (output, calls.is_cut)
    }
}

/// The calls of an answer so far.
#[derive(Debug, Default)]
struct Calls {
    known: Vec<(Option<String>, String, Value)>,
    ids: HashSet<String>,
    is_cut: bool,
}

impl Calls {
    /// The call as content, under an id of its own; `None` for one that was sent again.
    fn take(
        &mut self,
        id: Option<String>,
        name: String,
        arguments: Value,
        spare: impl FnOnce() -> String,
    ) -> Option<ModelContent> {
        let call = (id.clone(), name.clone(), arguments.clone());
        if id.is_some() && self.known.contains(&call) {
            return None;
        }
        self.known.push(call);
        let id = id.filter(|id| !self.ids.contains(id)).unwrap_or_else(spare);
        self.ids.insert(id.clone());
        Some(ModelContent::ToolUse { id, name, arguments })
    }
}

/// What a reason to stop means; `None` for one that nobody knows.
fn meaning(reason: &str) -> Option<ModelFinish> {
    REASONS.iter().find(|(name, _)| *name == reason).map(|(_, finish)| *finish)
}

/// Whether an event is a whole message: by its type, or by what is in it when it has none.
fn is_message(kind: &str, event: &Value) -> bool {
    let content = event.get("content");
    match kind {
        "message" => {
            let says = content.is_some_and(|content| content.is_array() || content.is_string());
            says || filled(event, "stop_reason").is_some()
        }
        "" => content.is_some_and(Value::is_array),
        _ => false,
    }
}

/// An error in the words of servers that pass this API on and have others for their own failures:
/// `base_resp` with a status, or `success` that is false.
fn foreign_error(event: &Value) -> Option<&Value> {
    let has_failed = event.get("success") == Some(&Value::Bool(false));
    failed_state(event).or_else(|| has_failed.then_some(event))
}

/// The blocks of a message, each with the index that its place gives it.
fn listed(blocks: &[Value]) -> impl Iterator<Item = (Option<u64>, &Value)> {
    (0..).map(Some).zip(blocks)
}

fn restarted() -> PortFailure {
    let text = "a second answer began within the first one";
    failure::broken("ANSWER_RESTARTED", text)
}

fn index_of(event: &Value) -> Option<u64> {
    event.get("index").and_then(Value::as_u64)
}

impl Decoder for MessageStream {
    fn verbatim(&self) -> &'static [Place] {
        VERBATIM
    }

    fn take(
        &mut self,
        name: &str,
        event: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<Progress, PortFailure> {
        let kind = filled(event, "type").unwrap_or(name);
        if kind == "error" || error_of(event).is_some() {
            self.take_reports(kind, event);
            return Err(self.fail(event));
        }
        if let Some(error) = foreign_error(event) {
            return Err(self.fail(error));
        }
        match kind {
            "ping" => return Ok(Progress::Idle),
            "message_start" => {
                self.announce_message(event.get("message").unwrap_or(&Value::Null), sink)?;
            }
            "content_block_start" => {
                let block = event.get("content_block").unwrap_or(&Value::Null);
                self.begin_block(index_of(event), block, sink)?;
            }
            "content_block_delta" => self.take_delta(event, sink)?,
            "content_block_stop" => self.stop_block(index_of(event), sink),
            "message_delta" => {}
            "message_stop" => self.has_ended = true,
            _ if is_message(kind, event) => self.take_message(event, sink)?,
            _ => return Ok(Progress::Idle),
        }
        self.take_reports(kind, event);
        Ok(if self.has_ended { Progress::Over } else { Progress::Open })
    }

    fn finish(&mut self, ending: Ending, _sink: &dyn DeltaSink) -> Result<Answer, PortFailure> {
        let is_whole = self.stop_reason.is_some() || self.is_listed;
        let announced = ending != Ending::Eof && is_whole;
        if !(announced || (self.has_ended && (self.has_begun || self.stop_reason.is_some()))) {
            return Err(failure::truncated());
        }
        let finish = self.stop_reason.as_deref().and_then(meaning).unwrap_or(ModelFinish::Other);
        let (output, is_cut) = self.contents();
        Ok(settled(output, finish, is_cut))
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }

    fn response_id(&self) -> Option<&str> {
        self.response_id.as_deref()
    }
}

/// A whole answer with calls asks for tools, a cut one loses them, and so does one that stopped for
/// any other reason. A promised call that never came is no reason to go on.
fn settled(mut output: Vec<ModelContent>, finish: ModelFinish, is_cut: bool) -> Answer {
    let is_call = |content: &ModelContent| matches!(content, ModelContent::ToolUse { .. });
    let has_calls = output.iter().any(is_call);
    let finish = match finish {
        ModelFinish::Stop | ModelFinish::ToolCalls | ModelFinish::Other if is_cut => {
            ModelFinish::Length
        }
        ModelFinish::Stop | ModelFinish::ToolCalls if has_calls => ModelFinish::ToolCalls,
        ModelFinish::ToolCalls => ModelFinish::Other,
        other => other,
    };
    if finish != ModelFinish::ToolCalls {
        output.retain(|content| !is_call(content));
    }
    Answer { output, finish }
}

#[cfg(test)]
mod tests;

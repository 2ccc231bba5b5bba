//! Decides what a Responses answer says, from the events of its stream or from one document.
//!
//! Knows nothing about bytes and connections. Events are read field by field from JSON values: an
//! unknown event, a missing field or an id that disagrees never stops an answer; only a terminal
//! event finishes one.

use model_wire::{
    Answer, Decoder, Ending, Meter, Progress, Refusal,
    answer::{error_of, filled, list, text},
    failure, minted,
};
use runtime_ports::{DeltaSink, ModelContent, ModelDelta, ModelFinish, PortFailure};
use serde_json::Value;

use crate::{
    metering,
    responses::items::{Item, Made, Report},
};

/// Most items that one answer may have.
const MOST_ITEMS: usize = 1024;

/// A Responses answer while it arrives.
#[derive(Debug)]
pub(crate) struct ResponsesStream {
    issuer: String,
    seed: String,
    response_id: Option<String>,
    items: Vec<Item>,
    calls_announced: u32,
    finish: Option<ModelFinish>,
    meter: Meter,
}

impl ResponsesStream {
    /// An answer of which nothing has arrived. `seed` makes the ids that the server does not give.
    pub(crate) fn new(issuer: &str, seed: &str) -> Self {
        Self {
            issuer: issuer.to_owned(),
            seed: seed.to_owned(),
            response_id: None,
            items: Vec::new(),
            calls_announced: 0,
            finish: None,
            meter: Meter::default(),
        }
    }

    fn delivered(&self) -> bool {
        self.items.iter().any(Item::is_begun)
    }

    /// The item of an event: by its place in the output, then by id, then the open one.
    fn locate(&self, event: &Value, ids: &[Option<&str>]) -> Option<usize> {
        let index = event.get("output_index").and_then(Value::as_u64);
        let at_index = |item: &Item| index.is_some() && item.output_index == index;
        let by_id = |item: &Item| ids.iter().flatten().any(|id| item.ids.iter().any(|i| i == id));
        let by_index = self.items.iter().rposition(at_index);
        by_index.or_else(|| self.items.iter().rposition(by_id))
    }

    fn open(&mut self, event: &Value) -> Result<usize, PortFailure> {
        if self.items.len() >= MOST_ITEMS {
            let message = "the answer has more items than anybody can mean";
            return Err(failure::broken("TOO_MANY_ITEMS", message));
        }
        let output_index = event.get("output_index").and_then(Value::as_u64);
        self.items.push(Item::at(output_index));
        Ok(self.items.len() - 1)
    }

    /// An item was added or is done. Gateways give several items the same place: an item that is
    /// reported after another one was done there is a new one.
    fn take_item(
        &mut self,
        when: Report,
        event: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<(), PortFailure> {
        let Some(reported) = event.get("item").filter(|item| item.is_object()) else {
            return Ok(());
        };
        let ids = [filled(reported, "id"), filled(reported, "call_id")];
        let is_same = |item: &Item| match when {
            Report::Added => !item.is_reported() || shares_id(item, &ids),
            _ => !item.is_done() || (shares_id(item, &ids) && !is_another_call(item, event)),
        };
        let found = self.locate(event, &ids).filter(|at| is_same(&self.items[*at]));
        let found = found.or_else(|| self.open_of_kind(when, event, reported));
        let at = found.map_or_else(|| self.open(event), Ok)?;
        self.items[at].report(when, reported);
        self.announce(at, sink);
        if when == Report::Done {
            self.show_rest(at, sink);
        }
        Ok(())
    }

    /// The last item of the same type that is still open, for an event that names no place.
    fn open_of_kind(&self, when: Report, event: &Value, reported: &Value) -> Option<usize> {
        let placed = event.get("output_index").is_some_and(Value::is_u64);
        let is_open = |item: &Item| !item.is_done() && item.kind() == text(reported, "type");
        if when == Report::Added || placed {
            return None;
        }
        self.items.iter().rposition(is_open)
    }

    /// The item of a piece; one that was never added is opened.
    fn item_of_piece(&mut self, event: &Value) -> Result<usize, PortFailure> {
        let ids = [filled(event, "item_id"), filled(event, "call_id")];
        let placed = event.get("output_index").is_some_and(Value::is_u64);
        let nearest = || self.items.iter().rposition(|item| !item.is_done()).filter(|_| !placed);
        let found = self.locate(event, &ids).or_else(nearest);
        let at = found.map_or_else(|| self.open(event), Ok)?;
        let fresh = ids.into_iter().flatten().filter(|_| found.is_none()).map(str::to_owned);
        self.items[at].ids.extend(fresh);
        Ok(at)
    }

    fn take_piece(
        &mut self,
        piece: &Piece<'_>,
        event: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<(), PortFailure> {
        let at = self.item_of_piece(event)?;
        let item = &mut self.items[at];
        let part = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or(0);
        match piece.of {
            PieceOf::Text => item.take_text(part("content_index"), piece.text, piece.last),
            PieceOf::Refusal => {
                item.refuse();
                item.take_text(part("content_index"), piece.text, piece.last);
            }
            PieceOf::Reasoning => item.take_text(part("content_index"), piece.text, piece.last),
            PieceOf::Summary => item.take_summary(part("summary_index"), piece.text, piece.last),
            PieceOf::Arguments => item.take_arguments(piece.text, piece.last),
        }
        if !piece.last && !piece.text.is_empty() {
            self.show(at, piece, sink);
        }
        Ok(())
    }

    fn show(&mut self, at: usize, piece: &Piece<'_>, sink: &dyn DeltaSink) {
        let item = &mut self.items[at];
        match (piece.of, item.announced) {
            (PieceOf::Text | PieceOf::Refusal, _) => sink.delta(ModelDelta::Text(piece.text)),
            (PieceOf::Reasoning | PieceOf::Summary, _) => {
                sink.delta(ModelDelta::Reasoning(piece.text));
            }
            (PieceOf::Arguments, Some(index)) => {
                sink.delta(ModelDelta::ToolArguments { index, fragment: piece.text });
            }
            (PieceOf::Arguments, None) => return,
        }
        item.streamed = true;
    }

    /// Tells the sink about a call, once its name and its id are known.
    fn announce(&mut self, at: usize, sink: &dyn DeltaSink) {
        let item = &mut self.items[at];
        if item.kind() != Some("function_call") || item.announced.is_some() {
            return;
        }
        let (Some(id), Some(name)) = (item.call_id(), item.name()) else { return };
        let index = self.calls_announced;
        sink.delta(ModelDelta::ToolCall { index, id, name });
        item.announced = Some(index);
        self.calls_announced += 1;
    }

    /// Tells the sink what came without deltas.
    fn show_rest(&mut self, at: usize, sink: &dyn DeltaSink) {
        let item = &mut self.items[at];
        if std::mem::replace(&mut item.streamed, true) {
            return;
        }
        match (item.make(&self.issuer), item.announced) {
            (Made::Content(ModelContent::Text { text }), _) => sink.delta(ModelDelta::Text(&text)),
            (Made::Content(ModelContent::Reasoning { text, .. }), _) if !text.is_empty() => {
                sink.delta(ModelDelta::Reasoning(&text));
            }
            (Made::Call { .. }, Some(index)) => {
                let fragment = &item.arguments();
                sink.delta(ModelDelta::ToolArguments { index, fragment });
            }
            _ => {}
        }
    }

    /// The final report of everything: it completes what the events left out, and erases nothing.
    fn take_snapshot(&mut self, response: &Value, sink: &dyn DeltaSink) -> Result<(), PortFailure> {
        for (position, reported) in list(response, "output").iter().enumerate() {
            let ids = [filled(reported, "id"), filled(reported, "call_id")];
            let by_id = self.items.iter().rposition(|item| shares_id(item, &ids));
            let kind = text(reported, "type");
            let fits = |at: &usize| {
                self.items.get(*at).is_some_and(|item| item.kind().is_none_or(|k| Some(k) == kind))
            };
            let at = by_id.or(Some(position).filter(fits));
            let at = at.map_or_else(|| self.open(&Value::Null), Ok)?;
            self.items[at].report(Report::Snapshot, reported);
        }
        for at in 0..self.items.len() {
            self.announce(at, sink);
            self.show_rest(at, sink);
        }
        Ok(())
    }

    /// A terminal event, or the one document that came instead of a stream.
    fn end(
        &mut self,
        status: &str,
        response: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<Progress, PortFailure> {
        let finish = match status {
            "completed" => ModelFinish::Stop,
            "incomplete" => {
                let details = response.get("incomplete_details").unwrap_or(&Value::Null);
                match text(details, "reason") {
                    Some("max_output_tokens" | "max_tokens" | "length") => ModelFinish::Length,
                    Some("content_filter") => ModelFinish::ContentFilter,
                    _ => ModelFinish::Other,
                }
            }
            _ => {
                let error = error_of(response).unwrap_or(&Value::Null);
                return Err(failure::of_event(&Refusal::of_value(error), self.delivered()));
            }
        };
        self.take_snapshot(response, sink)?;
        self.finish = Some(finish);
        Ok(Progress::Over)
    }

    /// The items in the order of the output.
    fn in_order(&self) -> Vec<&Item> {
        let mut items: Vec<&Item> = self.items.iter().collect();
        if items.iter().all(|item| item.output_index.is_some()) {
            items.sort_by_key(|item| item.output_index);
        }
        items
    }
}

/// Which part of an item an event adds to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PieceOf {
    Text,
    Refusal,
    Reasoning,
    Summary,
    Arguments,
}

/// A piece of an item: more of it, or (`last`) all of it again.
struct Piece<'a> {
    of: PieceOf,
    text: &'a str,
    last: bool,
}

impl<'a> Piece<'a> {
    fn of(kind: &str, event: &'a Value) -> Option<Self> {
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
            _ => return None,
        };
        let text = text(event, if last { name } else { "delta" })?;
        Some(Self { of, text, last })
    }
}

/// Some servers give one id to two calls: at another place and with another content it is another.
fn is_another_call(item: &Item, event: &Value) -> bool {
    let place = event.get("output_index").and_then(Value::as_u64);
    let moved = place.zip(item.output_index).is_some_and(|(fresh, held)| fresh != held);
    let reported = event.get("item").unwrap_or(&Value::Null);
    let arguments = text(reported, "arguments").unwrap_or_default();
    moved && (item.name() != filled(reported, "name") || item.arguments() != arguments)
}

fn shares_id(item: &Item, ids: &[Option<&str>]) -> bool {
    ids.iter().flatten().any(|id| item.ids.iter().any(|held| held == id))
}

impl Decoder for ResponsesStream {
    fn take(
        &mut self,
        name: &str,
        event: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<Progress, PortFailure> {
        let kind = filled(event, "type").unwrap_or(name);
        let response = event.get("response").filter(|response| response.is_object());
        let is_document = response.is_none() && event.get("output").is_some_and(Value::is_array);
        let response = response.or(is_document.then_some(event));
        if let Some(response) = response {
            metering::observe(&mut self.meter, response);
            let id = filled(response, "id").map(str::to_owned);
            self.response_id = self.response_id.take().or(id);
        }
        if kind == "error" || error_of(event).is_some() {
            return Err(failure::of_event(&Refusal::of_value(event), self.delivered()));
        }
        metering::observe(&mut self.meter, event);
        let response = response.unwrap_or(&Value::Null);
        match kind {
            _ if is_document => {
                return self.end(text(event, "status").unwrap_or("completed"), event, sink);
            }
            "response.output_item.added" => self.take_item(Report::Added, event, sink)?,
            "response.output_item.done" => self.take_item(Report::Done, event, sink)?,
            "response.completed" | "response.done" => return self.end("completed", response, sink),
            "response.incomplete" => return self.end("incomplete", response, sink),
            "response.failed" | "response.cancelled" => return self.end("failed", response, sink),
            "keepalive" | "ping" => return Ok(Progress::Idle),
            _ => {
                if let Some(piece) = Piece::of(kind, event) {
                    self.take_piece(&piece, event, sink)?;
                }
            }
        }
        Ok(Progress::Open)
    }

    fn finish(&mut self, _ending: Ending, _sink: &dyn DeltaSink) -> Result<Answer, PortFailure> {
        let finish = self.finish.ok_or_else(failure::truncated)?;
        let mut output = Vec::new();
        let mut cut = false;
        for made in self.in_order().into_iter().map(|item| item.make(&self.issuer)) {
            match made {
                Made::Content(content) => output.push(content),
                Made::Call { id, name, arguments } => {
                    let taken = |id: &&String| output.iter().any(|held| is_call_of(held, id));
                    let again = id.as_ref().filter(taken).is_some_and(|id| {
                        let (id, name, arguments) = (id.clone(), name.clone(), arguments.clone());
                        output.contains(&ModelContent::ToolUse { id, name, arguments })
                    });
                    let id = id
                        .filter(|id| !taken(&id))
                        .unwrap_or_else(|| minted(&self.seed, output.len()));
                    let call = ModelContent::ToolUse { id, name, arguments };
                    output.extend((!again).then_some(call));
                }
                Made::CutCall => cut = true,
                Made::Nothing => {}
            }
        }
        let refused = self.items.iter().any(Item::is_refusal);
        let finish = if refused { ModelFinish::ContentFilter } else { finish };
        Ok(settled(output, finish, cut))
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }

    fn response_id(&self) -> Option<&str> {
        self.response_id.as_deref()
    }
}

fn is_call_of(content: &ModelContent, wanted: &str) -> bool {
    matches!(content, ModelContent::ToolUse { id, .. } if id == wanted)
}

/// A cut answer loses its calls; a whole one with calls asks for tools.
fn settled(mut output: Vec<ModelContent>, finish: ModelFinish, cut: bool) -> Answer {
    let is_call = |content: &ModelContent| matches!(content, ModelContent::ToolUse { .. });
    let finish = match finish {
        ModelFinish::Stop | ModelFinish::Other if cut => ModelFinish::Length,
        ModelFinish::Stop if output.iter().any(is_call) => ModelFinish::ToolCalls,
        other => other,
    };
    if cut || finish == ModelFinish::Length {
        output.retain(|content| !is_call(content));
    }
    Answer { output, finish }
}

#[cfg(test)]
mod tests;

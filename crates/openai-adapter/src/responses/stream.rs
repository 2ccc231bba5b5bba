//! Decides what a Responses answer says, from the events of its stream or from one document.
//!
//! Knows nothing about bytes and connections. Events are read field by field from JSON values: an
//! unknown event, a missing field or an id that disagrees never stops an answer; only a terminal
//! event finishes one.

use std::sync::{Arc, OnceLock};

use model_wire::{
    Answer, Decoder, Ending, Meter, Place, Progress, Refusal,
    answer::{error_of, filled, list, text},
    failure, minted,
};
use runtime_ports::{DeltaSink, ModelContent, ModelDelta, ModelFinish, PortFailure};
use serde_json::{Value, json};

use crate::{
    frames::{is_flat_error, position},
    metering,
    profile::Reading,
    responses::{
        encode::{Kept, MESSAGE_PHASE},
        ending::{
            IGNORED, IGNORED_AMID, Origin, Status, call_id, ignored, is_error, is_said, is_whole,
            settled,
        },
        items::{Item, Made, Report},
        pieces::{Piece, PieceOf, VERBATIM},
        snapshot,
    },
};

/// Most items that one answer may have.
const MOST_ITEMS: usize = 1024;

/// Where a decoder leaves the id of a response that the server keeps as it was told here.
pub(crate) type KeptResponse = Arc<OnceLock<String>>;

/// A Responses answer while it arrives.
#[derive(Debug)]
pub(crate) struct ResponsesStream {
    issuer: String,
    seed: String,
    reading: Reading,
    response_id: Option<String>,
    /// Where the id goes of a response that is kept.
    kept: Option<KeptResponse>,
    /// Where the response goes on, when it was told an earlier one.
    origin: Option<Origin>,
    /// Whether nothing says that the server did not keep it.
    is_stored: bool,
    /// How many items the final report has listed.
    listed: usize,
    items: Vec<Item>,
    calls_announced: u32,
    finish: Option<ModelFinish>,
    /// Whether the response itself, or its event, said what became of it.
    is_said: bool,
    meter: Meter,
}

impl ResponsesStream {
    /// An answer of which nothing has arrived. `seed` makes the ids that the server does not give.
    pub(crate) fn new(issuer: &str, seed: &str, reading: Reading) -> Self {
        Self {
            issuer: issuer.to_owned(),
            seed: seed.to_owned(),
            reading,
            response_id: None,
            kept: None,
            origin: None,
            is_stored: true,
            listed: 0,
            items: Vec::new(),
            calls_announced: 0,
            finish: None,
            is_said: false,
            meter: Meter::default(),
        }
    }

    /// The same for a response that the server is asked to keep: its id goes to `slot`, when what
    /// is kept is what the answer says.
    pub(crate) fn keeping(mut self, kept: Kept<'_>, slot: &KeptResponse) -> Self {
        self.kept = (kept != Kept::Nothing).then(|| Arc::clone(slot));
        self.origin = matches!(kept, Kept::ResponseAfter(_)).then_some(Origin::behind(None));
        self
    }

    /// The same after a response for which the server `held` so many tokens, if it counted them.
    pub(crate) fn behind(mut self, held: Option<u64>) -> Self {
        self.origin = self.origin.map(|_| Origin::behind(held));
        self
    }

    fn ignored(&self) -> PortFailure {
        ignored(if self.delivered() { IGNORED_AMID } else { IGNORED })
    }

    fn failed(&self, error: &Value) -> PortFailure {
        failure::of_counted_event(&Refusal::of_value(error), self.delivered(), &self.meter)
    }

    fn delivered(&self) -> bool {
        self.items.iter().any(Item::is_begun)
    }

    /// The item of an event: by its place in the output, then by id. Of several at one place, the
    /// id decides.
    fn locate(&self, event: &Value, ids: &[Option<&str>]) -> Option<usize> {
        let index = event.get("output_index").and_then(position);
        let at_index = |item: &Item| index.is_some() && item.output_index == index;
        let both = |item: &Item| at_index(item) && item.has_id_of(ids);
        let found = self.items.iter().rposition(both);
        let open = || self.items.iter().rposition(|item| at_index(item) && !item.is_done());
        let placed = || self.items.iter().rposition(at_index);
        let named = || self.items.iter().rposition(|item| item.has_id_of(ids));
        found.or_else(open).or_else(placed).or_else(named)
    }

    fn open(&mut self, event: &Value) -> Result<usize, PortFailure> {
        if self.items.len() >= MOST_ITEMS {
            let message = "the answer has more items than anybody can mean";
            return Err(failure::broken("TOO_MANY_ITEMS", message));
        }
        let output_index = event.get("output_index").and_then(position);
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
            _ if item.is_other_than(reported) => false,
            Report::Added => !item.is_reported() || (item.has_id_of(&ids) && !item.is_moved(event)),
            _ => !item.is_done() || (item.has_id_of(&ids) && !item.is_another_call(event)),
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

    /// The last item of the same type that is still open, where one of both names no place.
    fn open_of_kind(&self, when: Report, event: &Value, reported: &Value) -> Option<usize> {
        let placed = event.get("output_index").and_then(position).is_some();
        let is_open = |item: &Item| {
            let has_place = placed && item.output_index.is_some();
            let is_kind = item.kind().is_some() && item.kind() == text(reported, "type");
            is_kind && !has_place && !item.is_done() && !item.is_other_than(reported)
        };
        if when == Report::Added {
            return None;
        }
        self.items.iter().rposition(is_open)
    }

    /// The item of a piece; one that was never added is opened.
    fn item_of_piece(&mut self, piece: &Piece<'_>, event: &Value) -> Result<usize, PortFailure> {
        let ids = [filled(event, "item_id"), filled(event, "call_id")];
        let placed = event.get("output_index").and_then(position).is_some();
        let fits = |at: &usize| self.items[*at].kind().is_none_or(|kind| piece.of.is_of(kind));
        let is_near = |at: &usize| {
            let has_place = placed && self.items[*at].output_index.is_some();
            !has_place && !self.items[*at].is_done() && fits(at)
        };
        let nearest = || (0..self.items.len()).rev().find(is_near);
        let found = self.locate(event, &ids).filter(fits).or_else(nearest);
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
        let at = self.item_of_piece(piece, event)?;
        let item = &mut self.items[at];
        let part = |name: &str| event.get(name).and_then(position).unwrap_or(0);
        match piece.of {
            PieceOf::Text | PieceOf::Reasoning => {
                item.take_text(part("content_index"), &piece.text, piece.last);
            }
            PieceOf::Refusal => {
                item.refuse();
                item.take_text(part("content_index"), &piece.text, piece.last);
            }
            PieceOf::Summary => item.take_summary(part("summary_index"), &piece.text, piece.last),
            PieceOf::Arguments => {
                item.take_name(filled(event, "name"));
                item.take_arguments(&piece.text, piece.last);
            }
        }
        if !piece.last && !piece.text.is_empty() {
            self.show(at, piece, sink);
        }
        Ok(())
    }

    fn show(&mut self, at: usize, piece: &Piece<'_>, sink: &dyn DeltaSink) {
        let item = &mut self.items[at];
        match (piece.of, item.announced) {
            (PieceOf::Text | PieceOf::Refusal, _) => sink.delta(ModelDelta::Text(&piece.text)),
            (PieceOf::Reasoning | PieceOf::Summary, _) => {
                sink.delta(ModelDelta::Reasoning(&piece.text));
            }
            (PieceOf::Arguments, Some(index)) => {
                sink.delta(ModelDelta::ToolArguments { index, fragment: &piece.text });
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
    /// Where it lists every item, it also gives their order.
    fn take_snapshot(&mut self, response: &Value, sink: &dyn DeltaSink) -> Result<(), PortFailure> {
        let listed = list(response, "output");
        for (reported, found) in listed.iter().zip(snapshot::paired(&self.items, listed)) {
            let at = found.map_or_else(|| self.open(&Value::Null), Ok)?;
            self.items[at].report(Report::Snapshot, reported);
            self.items[at].listed_at.get_or_insert(self.listed);
            self.listed += 1;
        }
        for at in 0..self.items.len() {
            self.announce(at, sink);
            self.show_rest(at, sink);
        }
        Ok(())
    }

    /// The text of a response that lists no item.
    fn take_bare_text(
        &mut self,
        response: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<(), PortFailure> {
        let bare = filled(response, "output_text").filter(|_| self.items.is_empty());
        let Some(text) = bare else { return Ok(()) };
        let at = self.open(&Value::Null)?;
        self.items[at].take_text(0, text, true);
        self.show_rest(at, sink);
        Ok(())
    }

    /// A terminal event, or the one document that came instead of a stream. What the response says
    /// of itself counts where it is worse than what the event says.
    fn end(
        &mut self,
        status: Status,
        response: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<Progress, PortFailure> {
        let details = response.get("incomplete_details").unwrap_or(&Value::Null);
        let finish = match status.max(Status::of(response)) {
            Status::Completed => ModelFinish::Stop,
            Status::Incomplete => match text(details, "reason") {
                Some("max_output_tokens" | "max_tokens" | "length") => ModelFinish::Length,
                Some("content_filter") => ModelFinish::ContentFilter,
                _ => ModelFinish::Other,
            },
            Status::Failed => {
                let error = error_of(response).unwrap_or(&Value::Null);
                return Err(self.failed(error));
            }
        };
        let counted = self.meter.usage().input_tokens;
        if self.origin.is_some_and(|origin| origin.is_refuted(counted)) {
            return Err(self.ignored());
        }
        self.take_snapshot(response, sink)?;
        self.take_bare_text(response, sink)?;
        self.finish = Some(finish);
        Ok(if self.is_said { Progress::Over } else { Progress::Settled })
    }

    /// Whether what the server keeps is what the answer says: nothing was cut, left out or renamed.
    fn is_kept_as_told(&self, answer: &Answer) -> bool {
        let kept: Vec<_> = self.in_order().into_iter().filter_map(Item::id_of_call).collect();
        let told: Vec<_> = answer.output.iter().filter_map(call_id).map(Some).collect();
        self.is_stored && answer.finish.is_complete() && kept == told
    }

    /// The items in the order of the output.
    fn in_order(&self) -> Vec<&Item> {
        let mut items: Vec<&Item> = self.items.iter().collect();
        if items.iter().all(|item| item.listed_at.is_some()) {
            items.sort_by_key(|item| item.listed_at);
        } else if items.iter().all(|item| item.output_index.is_some()) {
            items.sort_by_key(|item| item.output_index);
        }
        items
    }

    /// What the items come to: the output, and whether a call of it ends early.
    fn output(&self) -> (Vec<ModelContent>, bool) {
        let (mut output, mut cut) = (Vec::new(), false);
        let items = self.in_order();
        for item in &items {
            // A head that was sent again elsewhere is no call of its own.
            if items.iter().any(|other| item.is_lone_head_of(other)) {
                continue;
            }
            cut |= item.is_incomplete();
            match item.make(&self.issuer) {
                Made::Content(content) => {
                    output.extend(self.phase_of(item));
                    output.push(content);
                }
                Made::Call { id, name, arguments } => {
                    self.list_call((id, name, arguments), &mut output);
                }
                Made::CutCall => cut = true,
                Made::Nothing => {}
            }
        }
        (output, cut)
    }

    /// Adds a call, unless it is there; one of another's id gets an id of its own.
    fn list_call(
        &self,
        (id, name, arguments): (Option<String>, String, Value),
        output: &mut Vec<ModelContent>,
    ) {
        let taken = |id: &str| output.iter().any(|held| call_id(held) == Some(id));
        let id = match id {
            Some(id) if !taken(&id) => id,
            Some(id) => {
                let again =
                    ModelContent::ToolUse { id, name: name.clone(), arguments: arguments.clone() };
                if output.contains(&again) {
                    return;
                }
                minted(&self.seed, output.len())
            }
            None => minted(&self.seed, output.len()),
        };
        output.push(ModelContent::ToolUse { id, name, arguments });
    }

    /// The phase of a message, for servers that take it back.
    fn phase_of(&self, item: &Item) -> Option<ModelContent> {
        let phase = item.phase().filter(|_| self.reading.keeps_phase)?;
        let opaque = json!({MESSAGE_PHASE: phase});
        Some(ModelContent::Reasoning { issuer: self.issuer.clone(), text: String::new(), opaque })
    }
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
        let is_listed = response.is_none() && event.get("output").is_some_and(Value::is_array);
        let is_document = is_listed && is_whole(kind, event);
        let response = response.or(is_document.then_some(event));
        if let Some(response) = response {
            metering::observe(&mut self.meter, response, self.reading.counts);
            let id = filled(response, "id").map(str::to_owned);
            self.response_id = self.response_id.take().or(id);
            if self.origin.as_mut().is_some_and(|origin| origin.is_denied(response)) {
                return Err(self.ignored());
            }
        }
        let is_known = is_document || kind.starts_with("response.");
        let is_error = is_error(name, kind)
            || (!is_document && error_of(event).is_some())
            || (!is_known && is_flat_error(event));
        if is_error {
            return Err(self.failed(event));
        }
        metering::observe(&mut self.meter, event, self.reading.counts);
        let response = response.unwrap_or(&Value::Null);
        let end = match kind {
            _ if is_document => Some(Status::of_document(event)),
            "response.completed" | "response.done" => Some(Status::Completed),
            "response.incomplete" => Some(Status::Incomplete),
            "response.failed" | "response.cancelled" => Some(Status::Failed),
            _ if Status::of(response) == Status::Failed => Some(Status::Failed),
            _ => None,
        };
        if let Some(status) = end {
            self.is_stored &= response.get("store") != Some(&Value::Bool(false));
            self.is_said |= is_said(kind, response);
            return self.end(status, response, sink);
        }
        match kind {
            "response.output_item.added" => self.take_item(Report::Added, event, sink)?,
            "response.output_item.done" => self.take_item(Report::Done, event, sink)?,
            // A ping or a keep-alive, whatever it is called: only events of the API go on.
            _ if !is_known => return Ok(Progress::Idle),
            _ => {
                if let Some(piece) = Piece::of(kind, event) {
                    self.take_piece(&piece, event, sink)?;
                }
            }
        }
        Ok(Progress::Open)
    }

    fn verbatim(&self) -> &'static [Place] {
        VERBATIM
    }

    fn finish(&mut self, ending: Ending, _sink: &dyn DeltaSink) -> Result<Answer, PortFailure> {
        let is_over = self.is_said || ending != Ending::Eof;
        let finish = self.finish.filter(|_| is_over).ok_or_else(failure::truncated)?;
        let (output, cut) = self.output();
        let refused = self.items.iter().any(Item::is_refusal);
        let finish = if refused { ModelFinish::ContentFilter } else { finish };
        let answer = settled(output, finish, cut);
        let id = self.response_id.as_ref().filter(|_| self.is_kept_as_told(&answer));
        if let (Some(slot), Some(id)) = (&self.kept, id) {
            // The decoder ends once, and nobody else fills the slot.
            let _ = slot.set(id.clone());
        }
        Ok(answer)
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }

    fn response_id(&self) -> Option<&str> {
        self.response_id.as_deref()
    }
}

#[cfg(test)]
mod tests;

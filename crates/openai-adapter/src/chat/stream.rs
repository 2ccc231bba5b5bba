//! Decides what a Chat Completions answer says, from the frames of its stream or from one document.
//!
//! Knows nothing about bytes and connections. Frames are read field by field from JSON values:
//! an unknown field, a missing one, or one of another type than usual never stops an answer.

use model_wire::{
    Answer, Decoder, Ending, Meter, Place, Progress, Refusal,
    answer::{error_of, failed_state, filled, list, text},
    failure,
};
use runtime_ports::{DeltaSink, ModelContent, ModelDelta, ModelFinish, PortFailure};
use serde_json::Value;

use crate::{
    chat::{
        calls::{Assembled, Calls, Frame, TooManyCalls},
        finish::Finish,
        fragment::{Fragment, VERBATIM, fragments},
        plain,
        reasoning::{self, Reasoning},
        thinking::{Said, Thinking},
    },
    frames::{is_flat_error, position},
    metering,
    profile::Reading,
};

/// A Chat Completions answer while it arrives.
#[derive(Debug)]
pub(crate) struct ChatStream {
    issuer: String,
    reading: Reading,
    response_id: Option<String>,
    text: String,
    thinking: Thinking,
    refused: bool,
    /// Whether a call came where nobody reads one.
    has_unread_call: bool,
    reasoning: Reasoning,
    calls: Calls,
    /// Calls in the field of old; those of the new one stand for them where both come.
    legacy_calls: Calls,
    finish: Option<Finish>,
    answered: bool,
    /// Whether pieces came as deltas: then a message is a repetition of them.
    in_deltas: bool,
    meter: Meter,
}

impl ChatStream {
    /// An answer of which nothing has arrived. `seed` makes the ids that the server does not give.
    pub(crate) fn new(issuer: &str, seed: &str, reading: Reading) -> Self {
        Self {
            issuer: issuer.to_owned(),
            reading,
            response_id: None,
            text: String::new(),
            thinking: Thinking::new(reading.think_tags),
            refused: false,
            has_unread_call: false,
            reasoning: Reasoning::default(),
            calls: Calls::new(seed),
            legacy_calls: Calls::new(seed),
            finish: None,
            answered: false,
            in_deltas: false,
            meter: Meter::default(),
        }
    }

    fn delivered(&self) -> bool {
        !self.text.is_empty()
            || self.thinking.has_begun()
            || self.reasoning.is_visible()
            || !self.calls.is_empty()
            || !self.legacy_calls.is_empty()
    }

    /// How far the answer is after a frame that by itself means `progress`.
    const fn progress_after(&self, progress: Progress) -> Progress {
        if self.finish.is_some() { Progress::Settled } else { progress }
    }

    /// The text of a frame that has nothing else to say, the first one excepted.
    fn plain_text<'f>(&self, name: &str, frame: &'f Value) -> Option<&'f str> {
        let is_first = self.response_id.is_none();
        plain::text_of(frame).filter(|_| !is_first && name.is_empty())
    }

    /// Takes what a piece of the answer says.
    fn take_delta(
        &mut self,
        delta: &Value,
        frame: Frame,
        sink: &dyn DeltaSink,
    ) -> Result<(), PortFailure> {
        self.answered = true;
        self.reasoning.take(delta, sink);
        self.take_content(delta, sink);
        self.take_refusal(filled(delta, "refusal"), sink);
        let fragments = fragments(delta);
        if !fragments.is_empty() {
            self.calls.take(fragments, frame, sink).map_err(too_many)?;
        }
        match legacy_call(delta).filter(|_| self.calls.is_empty()) {
            Some(legacy) => self.legacy_calls.take(vec![legacy], frame, sink).map_err(too_many),
            None => Ok(()),
        }
    }

    /// Takes a whole message that stands beside or behind deltas: what they said is not said again.
    fn complete(&mut self, message: &Value, sink: &dyn DeltaSink) -> Result<(), PortFailure> {
        self.answered = true;
        if !self.reasoning.is_visible() {
            self.reasoning.take(message, sink);
        }
        if self.text.is_empty() {
            self.take_content(message, sink);
        }
        if self.text.is_empty() {
            self.take_refusal(filled(message, "refusal"), sink);
        }
        self.calls.complete(fragments(message), sink).map_err(too_many)?;
        let legacy = legacy_call(message).filter(|_| self.calls.is_empty());
        self.legacy_calls.complete(legacy.into_iter().collect(), sink).map_err(too_many)
    }

    fn take_content(&mut self, said: &Value, sink: &dyn DeltaSink) {
        match said.get("content") {
            Some(Value::String(text)) if reasoning::is_thought(said) => {
                self.take_thought(text, sink);
            }
            Some(Value::String(text)) => self.take_text(text, sink),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.take_part(part, sink)),
            Some(part @ Value::Object(_)) => self.take_part(part, sink),
            _ => {}
        }
    }

    /// Takes text that the server says to be a thought.
    fn take_thought(&mut self, text: &str, sink: &dyn DeltaSink) {
        let (spoken, reasoning) = (&mut self.text, &mut self.reasoning);
        self.thinking.take_thought(text, &mut |said| match said {
            Said::Text(text) => say(spoken, &text, sink),
            Said::Reasoning(text) => reasoning.show(&text, sink),
        });
    }

    /// Takes text of the answer, in which reasoning may stand between tags.
    fn take_text(&mut self, text: &str, sink: &dyn DeltaSink) {
        if self.thinking.is_over() {
            return say(&mut self.text, text, sink);
        }
        let (spoken, reasoning) = (&mut self.text, &mut self.reasoning);
        self.thinking.take(text, &mut |said| match said {
            Said::Text(text) => say(spoken, &text, sink),
            Said::Reasoning(text) => reasoning.show(&text, sink),
        });
    }

    fn take_refusal(&mut self, refusal: Option<&str>, sink: &dyn DeltaSink) {
        if let Some(refusal) = refusal {
            self.refused = true;
            say(&mut self.text, refusal, sink);
        }
    }

    fn take_part(&mut self, part: &Value, sink: &dyn DeltaSink) {
        match (part, text(part, "type")) {
            (Value::String(text), _) => self.take_text(text, sink),
            (_, Some("thinking" | "reasoning")) => {
                let plain = text(part, "thinking").or_else(|| text(part, "text"));
                self.reasoning.show(plain.unwrap_or_default(), sink);
                for piece in list(part, "thinking").iter().chain(list(part, "summary")) {
                    self.reasoning.show(text(piece, "text").unwrap_or_default(), sink);
                }
            }
            (_, Some("tool_use" | "tool_call" | "function_call")) => self.has_unread_call = true,
            (_, Some("refusal")) => self.take_refusal(filled(part, "refusal"), sink),
            _ => self.take_text(text(part, "text").unwrap_or_default(), sink),
        }
    }

    /// Gives the text that was held back for a tag that did not come. An answer that was cut may
    /// have been cut within its reasoning, which it then is.
    fn end_text(&mut self, finish: ModelFinish, sink: &dyn DeltaSink) {
        let (held, shown) = self.thinking.finish();
        if shown.is_empty() || finish != ModelFinish::Length {
            self.reasoning.take_back(&shown);
            say(&mut self.text, &held, sink);
        }
    }

    fn finish_with_calls(
        &mut self,
        finish: ModelFinish,
        sink: &dyn DeltaSink,
    ) -> (ModelFinish, Vec<(ModelContent, Option<Value>)>) {
        let legacy = self.calls.is_empty();
        let calls = if legacy { &mut self.legacy_calls } else { &mut self.calls };
        if finish == ModelFinish::Length || calls.is_empty() {
            let is_missed = self.has_unread_call && finish.is_complete();
            let is_promised = finish == ModelFinish::ToolCalls || is_missed;
            return (if is_promised { ModelFinish::Other } else { finish }, Vec::new());
        }
        match (calls.assemble(sink), finish) {
            (Assembled::Cut, ModelFinish::ContentFilter) => (finish, Vec::new()),
            (Assembled::Cut, _) => (ModelFinish::Length, Vec::new()),
            (Assembled::Whole(calls), finish) if finish.is_complete() => {
                (ModelFinish::ToolCalls, calls)
            }
            (Assembled::Whole(_), _) => (finish, Vec::new()),
        }
    }

    fn take_choice(&mut self, choice: &Value, sink: &dyn DeltaSink) -> Result<(), PortFailure> {
        let reason = reason(choice);
        let frame = if reason.is_some() { Frame::Finishing } else { Frame::Plain };
        if let Some(delta) = choice.get("delta").filter(|delta| delta.is_object()) {
            self.in_deltas |= delta.as_object().is_some_and(|fields| !fields.is_empty());
            self.take_delta(delta, frame, sink)?;
        }
        match choice.get("message").filter(|message| message.is_object()) {
            Some(message) if self.in_deltas => self.complete(message, sink)?,
            Some(message) => self.take_delta(message, frame, sink)?,
            // The place of text in the API before this one. Some servers repeat their text there.
            None if !has_content(choice) => {
                self.take_text(text(choice, "text").unwrap_or_default(), sink);
            }
            None => {}
        }
        self.has_unread_call |= !list(choice, "tool_calls").is_empty();
        self.finish = self.finish.max(reason);
        Ok(())
    }
}

fn say(spoken: &mut String, text: &str, sink: &dyn DeltaSink) {
    if !text.is_empty() {
        sink.delta(ModelDelta::Text(text));
        spoken.push_str(text);
    }
}

fn legacy_call(delta: &Value) -> Option<Fragment> {
    delta.get("function_call").filter(|call| call.is_object()).map(Fragment::of)
}

fn too_many(_: TooManyCalls) -> PortFailure {
    failure::broken("TOO_MANY_CALLS", "the answer has more tool calls than anybody can mean")
}

fn has_content(choice: &Value) -> bool {
    let content = choice.get("delta").and_then(|delta| delta.get("content"));
    content.is_some_and(|content| !content.is_null())
}

/// What has an error in it: the frame, where it stands beside the choices, instead of them or is the
/// frame itself; otherwise a choice or a part of one. What stands beside an error belongs to it.
fn error<'a>(name: &str, frame: &'a Value) -> Option<&'a Value> {
    let choices = list(frame, "choices");
    let beside = [Some(frame), frame.get("x_groq")].into_iter().flatten().find(has_error);
    if let Some(error) = beside.or_else(|| choices.iter().find_map(error_of_choice)) {
        return Some(error);
    }
    let is_error = name.eq_ignore_ascii_case("error") || text(frame, "object") == Some("error");
    let is_flat = is_error || (choices.is_empty() && is_flat_error(frame));
    let is_failed = || choices.iter().any(|choice| reason(choice) == Some(Finish::Error));
    let failed = failed_state(frame).or_else(|| is_flat.then_some(frame));
    failed.or_else(|| is_failed().then_some(&Value::Null))
}

fn error_of_choice(choice: &Value) -> Option<&Value> {
    let places = [Some(choice), choice.get("delta"), choice.get("message")];
    places.into_iter().flatten().find(has_error)
}

fn has_error(place: &&Value) -> bool {
    error_of(place).is_some()
}

/// The choices of the answer that was asked for: those that say so, and the first one if it says
/// nothing. Some servers put two pieces of it into one frame.
fn ours(frame: &Value) -> impl Iterator<Item = &Value> {
    let choices = list(frame, "choices").iter().filter(|choice| choice.is_object()).enumerate();
    let index = |at: usize, choice: &Value| match choice.get("index").and_then(position) {
        Some(index) => index == 0,
        None => at == 0,
    };
    choices.filter(move |(at, choice)| index(*at, choice)).map(|(_, choice)| choice)
}

/// Why the answer ends, if the choice says that it does: in a word, or in an object that has one.
fn reason(choice: &Value) -> Option<Finish> {
    let told = choice.get("finish_reason")?;
    let word = told.as_str().or_else(|| text(told, "type"));
    let behind = filled(choice, "native_finish_reason").and_then(Finish::behind);
    word.and_then(Finish::of).max(behind)
}

impl Decoder for ChatStream {
    fn take(
        &mut self,
        name: &str,
        frame: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<Progress, PortFailure> {
        if let Some(text) = self.plain_text(name, frame) {
            (self.answered, self.in_deltas) = (true, true);
            self.take_text(text, sink);
            return Ok(self.progress_after(Progress::Open));
        }
        if let Some(id) = filled(frame, "id") {
            self.response_id.get_or_insert_with(|| id.to_owned());
        }
        metering::observe(&mut self.meter, frame, self.reading.counts);
        for choice in ours(frame) {
            metering::observe(&mut self.meter, choice, self.reading.counts);
        }
        if let Some(error) = error(name, frame) {
            let (refusal, delivered) = (Refusal::of_value(error), self.delivered());
            return Err(failure::of_counted_event(&refusal, delivered, &self.meter));
        }
        let mut progress = Progress::Idle;
        for choice in ours(frame) {
            self.take_choice(choice, sink)?;
            progress = Progress::Open;
        }
        Ok(self.progress_after(progress))
    }

    fn verbatim(&self) -> &'static [Place] {
        VERBATIM
    }

    fn finish(&mut self, ending: Ending, sink: &dyn DeltaSink) -> Result<Answer, PortFailure> {
        let finish = match (self.finish.map(Finish::of_port), ending) {
            (Some(Some(finish)), _) => finish,
            (None, Ending::Announced) if self.answered => ModelFinish::Stop,
            // One piece of a stream is no whole document, though it is one in JSON.
            (None, Ending::Document) if self.answered && !self.in_deltas => ModelFinish::Stop,
            _ => return Err(failure::truncated()),
        };
        let finish = match finish {
            ModelFinish::Length => finish,
            _ if self.refused => ModelFinish::ContentFilter,
            _ => finish,
        };
        self.end_text(finish, sink);
        let (finish, calls) = self.finish_with_calls(finish, sink);
        let reasoning = std::mem::take(&mut self.reasoning);
        let mut output = Vec::new();
        output.extend(reasoning.into_content(&self.issuer, !calls.is_empty()));
        let text = std::mem::take(&mut self.text);
        output.extend((!text.is_empty()).then(|| ModelContent::text(text)));
        for (call, extra) in calls {
            output.extend(extra.map(|extra| reasoning::call_extra(&self.issuer, extra)));
            output.push(call);
        }
        Ok(Answer { output, finish })
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

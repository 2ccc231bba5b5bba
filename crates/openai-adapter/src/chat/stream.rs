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
        self.take_content(delta.get("content").unwrap_or(&Value::Null), sink);
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
            self.take_content(message.get("content").unwrap_or(&Value::Null), sink);
        }
        if self.text.is_empty() {
            self.take_refusal(filled(message, "refusal"), sink);
        }
        self.calls.complete(fragments(message), sink).map_err(too_many)?;
        let legacy = legacy_call(message).filter(|_| self.calls.is_empty());
        self.legacy_calls.complete(legacy.into_iter().collect(), sink).map_err(too_many)
    }

    fn take_content(&mut self, content: &Value, sink: &dyn DeltaSink) {
        match content {
            Value::String(text) => self.take_text(text, sink),
            Value::Array(parts) => parts.iter().for_each(|part| self.take_part(part, sink)),
            Value::Object(_) => self.take_part(content, sink),
            _ => {}
        }
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
                for piece in list(part, "thinking") {
                    self.reasoning.show(text(piece, "text").unwrap_or_default(), sink);
                }
            }
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
            let promised = finish == ModelFinish::ToolCalls;
            return (if promised { ModelFinish::Other } else { finish }, Vec::new());
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
            // The place of text in the API before this one.
            None => self.take_text(text(choice, "text").unwrap_or_default(), sink),
        }
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

/// The error of a frame: it stands beside the choices, instead of them, inside of one, or is the
/// frame itself.
fn error<'a>(name: &str, frame: &'a Value) -> Option<&'a Value> {
    let choices = list(frame, "choices");
    if let Some(error) = error_of(frame).or_else(|| choices.iter().find_map(error_of_choice)) {
        return Some(error);
    }
    let is_error = name.eq_ignore_ascii_case("error") || text(frame, "object") == Some("error");
    let is_flat = is_error || (choices.is_empty() && is_flat_error(frame));
    let is_failed = || choices.iter().any(|choice| reason(choice) == Some(Finish::Error));
    let failed = failed_state(frame).or_else(|| is_flat.then_some(frame));
    failed.or_else(|| is_failed().then_some(&Value::Null))
}

fn error_of_choice(choice: &Value) -> Option<&Value> {
    let inner = |name: &str| choice.get(name).and_then(error_of);
    error_of(choice).or_else(|| inner("delta")).or_else(|| inner("message"))
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

/// Why the answer ends, if the choice says that it does.
fn reason(choice: &Value) -> Option<Finish> {
    filled(choice, "finish_reason").and_then(Finish::of)
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
            return Err(failure::of_event(&Refusal::of_value(error), self.delivered()));
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

//! Decides what a Chat Completions answer says, from the frames of its stream or from one document.
//!
//! Knows nothing about bytes and connections. Frames are read field by field from JSON values:
//! an unknown field, a missing one, or one of another type than usual never stops an answer.

use model_wire::{
    Answer, Decoder, Ending, Meter, Progress, Refusal,
    answer::{error_of, filled, list, text},
    failure,
};
use runtime_ports::{DeltaSink, ModelContent, ModelDelta, ModelFinish, PortFailure};
use serde_json::Value;

use crate::{
    chat::{
        calls::{Assembled, Calls, Fragment},
        reasoning::{self, Reasoning},
    },
    metering,
};

/// A Chat Completions answer while it arrives.
#[derive(Debug)]
pub(crate) struct ChatStream {
    issuer: String,
    response_id: Option<String>,
    text: String,
    refused: bool,
    reasoning: Reasoning,
    calls: Calls,
    finish: Option<Finish>,
    answered: bool,
    meter: Meter,
}

/// What the reason for the end of an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finish {
    /// The port's own reasons.
    Port(ModelFinish),
    /// The provider failed in the middle of the answer.
    Error,
}

impl Finish {
    fn of(reason: &str) -> Self {
        let finish = match reason.to_ascii_lowercase().as_str() {
            "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "completed" => {
                ModelFinish::Stop
            }
            "tool_calls" | "tool_call" | "tool_use" | "function_call" => ModelFinish::ToolCalls,
            "length" | "max_tokens" | "model_length" | "max_output_tokens" => ModelFinish::Length,
            "content_filter" | "safety" | "refusal" | "sensitive" | "recitation" => {
                ModelFinish::ContentFilter
            }
            "error" => return Self::Error,
            _ => ModelFinish::Other,
        };
        Self::Port(finish)
    }
}

impl ChatStream {
    /// An answer of which nothing has arrived. `seed` makes the ids that the server does not give.
    pub(crate) fn new(issuer: &str, seed: &str) -> Self {
        Self {
            issuer: issuer.to_owned(),
            response_id: None,
            text: String::new(),
            refused: false,
            reasoning: Reasoning::default(),
            calls: Calls::new(seed),
            finish: None,
            answered: false,
            meter: Meter::default(),
        }
    }

    fn delivered(&self) -> bool {
        !self.text.is_empty() || self.reasoning.is_visible() || !self.calls.is_empty()
    }

    /// Errors stand beside the choices, instead of them, inside of one, or in the frame itself.
    fn error(&self, name: &str, frame: &Value, choice: &Value) -> Option<PortFailure> {
        let is_error = name == "error" || text(frame, "object") == Some("error");
        let finish = filled(choice, "finish_reason").map(Finish::of);
        let error = error_of(frame).or_else(|| error_of(choice));
        let error = error.or_else(|| is_error.then_some(frame));
        let error = error.or_else(|| (finish == Some(Finish::Error)).then_some(&Value::Null))?;
        Some(failure::of_event(&Refusal::of_value(error), self.delivered()))
    }

    fn take_content(&mut self, content: &Value, sink: &dyn DeltaSink) {
        match content {
            Value::String(text) => self.take_text(text, sink),
            Value::Array(parts) => parts.iter().for_each(|part| self.take_part(part, sink)),
            _ => {}
        }
    }

    fn take_text(&mut self, text: &str, sink: &dyn DeltaSink) {
        if !text.is_empty() {
            sink.delta(ModelDelta::Text(text));
            self.text.push_str(text);
        }
    }

    fn take_part(&mut self, part: &Value, sink: &dyn DeltaSink) {
        if text(part, "type") != Some("thinking") {
            self.take_text(text(part, "text").unwrap_or_default(), sink);
            return;
        }
        self.reasoning.show(text(part, "thinking").unwrap_or_default(), sink);
        for piece in list(part, "thinking") {
            self.reasoning.show(text(piece, "text").unwrap_or_default(), sink);
        }
    }

    fn take_calls(&mut self, delta: &Value, sink: &dyn DeltaSink) -> Result<(), PortFailure> {
        let legacy = delta.get("function_call").filter(|call| call.is_object());
        let fragments = list(delta, "tool_calls").iter().chain(legacy).map(Fragment::of);
        self.calls.take(fragments, sink).map_err(|_| {
            failure::broken(
                "TOO_MANY_CALLS",
                "the answer has more tool calls than anybody can mean",
            )
        })
    }

    fn finish_with_calls(
        &mut self,
        finish: ModelFinish,
        sink: &dyn DeltaSink,
    ) -> (ModelFinish, Vec<(ModelContent, Option<Value>)>) {
        if finish == ModelFinish::Length || self.calls.is_empty() {
            let promised = finish == ModelFinish::ToolCalls;
            return (if promised { ModelFinish::Other } else { finish }, Vec::new());
        }
        match (self.calls.assemble(sink), finish) {
            (Assembled::Cut, ModelFinish::ContentFilter) => (finish, Vec::new()),
            (Assembled::Cut, _) => (ModelFinish::Length, Vec::new()),
            (Assembled::Whole(calls), ModelFinish::Stop) => (ModelFinish::ToolCalls, calls),
            (Assembled::Whole(calls), _) => (finish, calls),
        }
    }
}

impl Decoder for ChatStream {
    fn take(
        &mut self,
        name: &str,
        frame: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<Progress, PortFailure> {
        if let Some(id) = filled(frame, "id") {
            self.response_id.get_or_insert_with(|| id.to_owned());
        }
        metering::observe(&mut self.meter, frame);
        let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let choice = list(frame, "choices").iter().find(first).unwrap_or(&Value::Null);
        if let Some(failure) = self.error(name, frame, choice) {
            return Err(failure);
        }
        let whole = choice.get("message").filter(|message| message.is_object());
        let delta = choice.get("delta").filter(|delta| delta.is_object()).or(whole);
        if let Some(delta) = delta {
            self.answered = true;
            self.reasoning.take(delta, sink);
            self.take_content(delta.get("content").unwrap_or(&Value::Null), sink);
            let refusal = filled(delta, "refusal");
            self.refused |= refusal.is_some();
            self.take_text(refusal.unwrap_or_default(), sink);
            self.take_calls(delta, sink)?;
        }
        if let Some(reason) = filled(choice, "finish_reason") {
            self.finish = Some(Finish::of(reason));
        }
        Ok(if self.finish.is_some() { Progress::Settled } else { Progress::Open })
    }

    fn finish(&mut self, ending: Ending, sink: &dyn DeltaSink) -> Result<Answer, PortFailure> {
        let finish = match (self.finish, ending) {
            (Some(Finish::Port(finish)), _) => finish,
            (None, Ending::Announced) if self.answered => ModelFinish::Stop,
            _ => return Err(failure::truncated()),
        };
        let finish = if self.refused { ModelFinish::ContentFilter } else { finish };
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

//! Decides what an answer says, from the frames of its stream or from one document.
//!
//! Knows nothing about bytes and connections. Frames are read field by field from JSON values: an
//! unknown field, a missing one, or one of another type than usual never stops an answer.
//! Invariant: only a reason to stop finishes an answer, and only a finished one has calls.

use model_wire::{
    Answer, Decoder, Ending, Meter, Place, Progress, Refusal,
    answer::{error_of, filled, list},
    failure,
};
use runtime_ports::{DeltaSink, ModelContent, ModelFinish, PortFailure};
use serde_json::{Value, json};

use crate::{metering, parts::Parts, spelling, verbatim::VERBATIM};

/// An answer while it arrives.
#[derive(Debug)]
pub(crate) struct GeminiStream {
    response_id: Option<String>,
    parts: Parts,
    finish: Option<ModelFinish>,
    /// Whether the answer went on after it was said to be complete.
    restless: bool,
    /// Whether a piece came without word that the answer is complete, which is worth something then.
    sparing: bool,
    meter: Meter,
}

/// What a reason to stop means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// The answer ended in this way.
    Finish(ModelFinish),
    /// The model wrote what the provider cannot hand on.
    Failure,
    /// None was given.
    Absent,
}

impl Reason {
    fn of(reason: &str) -> Self {
        let finish = match reason {
            "" | "FINISH_REASON_UNSPECIFIED" => return Self::Absent,
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MISSING_THOUGHT_SIGNATURE" => {
                return Self::Failure;
            }
            "STOP" => ModelFinish::Stop,
            "MAX_TOKENS" => ModelFinish::Length,
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "MODEL_ARMOR"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => ModelFinish::ContentFilter,
            _ => ModelFinish::Other,
        };
        Self::Finish(finish)
    }
}

impl GeminiStream {
    /// An answer of which nothing has arrived. `seed` makes the ids that the server does not give.
    pub(crate) fn new(issuer: &str, seed: &str) -> Self {
        let (parts, meter) = (Parts::new(issuer, seed), Meter::default());
        Self { response_id: None, parts, finish: None, restless: false, sparing: false, meter }
    }

    fn refused(&self, refusal: &Refusal) -> PortFailure {
        failure::of_event(refusal, !self.parts.is_empty())
    }

    /// Errors stand in the place of an answer.
    fn error(&self, name: &str, frame: &Value) -> Option<PortFailure> {
        let is_error = name == "error" || error_of(frame).is_some();
        is_error.then(|| self.refused(&Refusal::of_value(frame)))
    }

    /// A prompt that a filter refuses has no candidates, but a reason.
    fn blocked(&self, frame: &Value) -> Option<PortFailure> {
        let reason = filled(frame.get("promptFeedback")?, "blockReason")?;
        let is_reason = reason != "BLOCK_REASON_UNSPECIFIED";
        is_reason.then(|| {
            let refusal = Refusal::of_value(&json!({ "code": reason }));
            self.refused(&Refusal { moderated: true, ..refusal })
        })
    }

    fn take_candidate(
        &mut self,
        candidate: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<(), PortFailure> {
        let held = self.parts.arrived();
        let content = candidate.get("content").unwrap_or(&Value::Null);
        list(content, "parts").iter().try_for_each(|part| self.parts.take(part, sink))?;
        let goes_on = self.parts.arrived() > held;
        self.restless |= self.finish.is_some() && goes_on;
        self.end(filled(candidate, "finishReason").unwrap_or_default())?;
        self.sparing |= self.finish.is_none() && goes_on;
        Ok(())
    }

    /// Some servers say that the answer is complete with every piece of it, or before the first:
    /// then only the end of the stream tells. So does it while nothing shows that this is no such
    /// server, as in an answer of one piece, and where the provider runs tools of its own: it stops
    /// after each round of them.
    fn progress(&self) -> Progress {
        match self.finish {
            None => Progress::Open,
            Some(ModelFinish::Stop)
                if self.restless || !self.sparing || self.parts.has_rounds() =>
            {
                Progress::Open
            }
            Some(_) => Progress::Settled,
        }
    }

    fn end(&mut self, reason: &str) -> Result<(), PortFailure> {
        match (Reason::of(reason), self.finish) {
            (Reason::Failure, _) => {
                return Err(self.refused(&Refusal::of_value(&json!({ "code": reason }))));
            }
            // Nothing that is said later completes an answer that was cut.
            (Reason::Finish(ModelFinish::Stop), Some(_)) | (Reason::Absent, _) => {}
            (Reason::Finish(finish), _) => self.finish = Some(finish),
        }
        Ok(())
    }
}

impl Decoder for GeminiStream {
    fn verbatim(&self) -> &'static [Place] {
        VERBATIM
    }

    fn takes_lists(&self) -> bool {
        true
    }

    fn take(
        &mut self,
        name: &str,
        frame: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<Progress, PortFailure> {
        let frame = &*spelling::usual(frame);
        if let Some(id) = filled(frame, "responseId") {
            self.response_id.get_or_insert_with(|| id.to_owned());
        }
        metering::observe(&mut self.meter, frame);
        if let Some(failure) = self.error(name, frame).or_else(|| self.blocked(frame)) {
            return Err(failure);
        }
        let first =
            |candidate: &&Value| candidate.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        if let Some(candidate) = list(frame, "candidates").iter().find(first) {
            self.take_candidate(candidate, sink)?;
        }
        let says = |name: &&str| frame.get(name).is_some();
        let says_something = ["candidates", "usageMetadata"].iter().any(says);
        Ok(if says_something { self.progress() } else { Progress::Idle })
    }

    fn finish(&mut self, _ending: Ending, _sink: &dyn DeltaSink) -> Result<Answer, PortFailure> {
        let finish = self.finish.ok_or_else(failure::truncated)?;
        let assembled = self.parts.assemble();
        Ok(match (finish, assembled.whole) {
            (ModelFinish::Stop, Some(output)) if assembled.calls => {
                Answer { output, finish: ModelFinish::ToolCalls }
            }
            (ModelFinish::Stop, None) => cut(assembled.spoken, ModelFinish::Length),
            _ => cut(assembled.spoken, finish),
        })
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }

    fn response_id(&self) -> Option<&str> {
        self.response_id.as_deref()
    }
}

/// An answer without its calls.
fn cut(output: Vec<ModelContent>, finish: ModelFinish) -> Answer {
    Answer { output, finish }
}

#[cfg(test)]
mod tests;

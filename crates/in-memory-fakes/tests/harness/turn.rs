//! Decides how a provider's doings become the script of a `FakeIntelligence`.
//!
//! Knows nothing about what the scenarios expect. It does what a request/response provider makes
//! of a turn: one request for each batch of answers, whose counts add up.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::{FakeAgentModel, FakeIntelligence, TurnScript};
use port_conformance::{
    Unstageable,
    model::{Answer, Piece, ProviderReply},
    turn::{StagedTurns, TurnCapabilities, TurnHarness, TurnPlan, TurnWorld},
};
use runtime_ports::{
    Metering, ModelFinish, PortFailure, PortFailureKind, RequestMeter, TokenUsage, TurnEnd,
    UsageReceipt,
};

use super::model;

/// A `FakeIntelligence` behind every scenario.
pub(crate) struct FakeTurnHarness;

#[async_trait]
impl TurnHarness for FakeTurnHarness {
    fn capabilities(&self) -> TurnCapabilities {
        TurnCapabilities::ALL
    }

    async fn stage(&self, plan: TurnPlan) -> Result<StagedTurns, Unstageable> {
        let models = [FakeAgentModel::new("fake-model").alias("fake")];
        let scripts = plan.0.iter().map(|replies| script(replies));
        let fake = FakeIntelligence::serving(models, scripts);
        Ok(StagedTurns {
            intelligence: Arc::new(fake.clone()),
            model: "fake-model".into(),
            alias: "fake".into(),
            world: Arc::new(FakeTurnWorld(fake)),
        })
    }
}

struct FakeTurnWorld(FakeIntelligence);

#[async_trait]
impl TurnWorld for FakeTurnWorld {
    async fn receipts(&self) -> Vec<UsageReceipt> {
        self.0.receipts()
    }

    fn reached(&self) -> bool {
        !self.0.started().is_empty()
    }

    fn was_sent(&self, text: &str) -> bool {
        let in_input = self.0.started().iter().any(|start| start.request.input.contains(text));
        in_input || self.0.answers().iter().any(|answer| answer.result.text.contains(text))
    }
}

/// One turn that makes these requests.
fn script(replies: &[ProviderReply]) -> TurnScript {
    let mut course = Course { script: TurnScript::new().optional(), usage: None };
    for reply in replies {
        course = course.request(reply);
    }
    course.script
}

struct Course {
    script: TurnScript,
    usage: Option<TokenUsage>,
}

impl Course {
    fn request(self, reply: &ProviderReply) -> Self {
        match reply {
            ProviderReply::Answer(answer) => self.answer(answer),
            ProviderReply::StallBeforeAnswer => self.script(TurnScript::stall),
            ProviderReply::StallMidAnswer(answer) => self.text(answer).script(TurnScript::stall),
            ProviderReply::CutMidAnswer(answer) => self.text(answer).failed(reply),
            ProviderReply::Refuse(_)
            | ProviderReply::CutBeforeAnswer
            | ProviderReply::Malformed => self.failed(reply),
        }
    }

    fn script(self, step: impl FnOnce(TurnScript) -> TurnScript) -> Self {
        Self { script: step(self.script), ..self }
    }

    fn failed(self, reply: &ProviderReply) -> Self {
        let failure = model::failure_of(reply);
        self.ended(None, TurnEnd::Failed).script(|script| script.fail(failure))
    }

    fn text(self, answer: &Answer) -> Self {
        let fragments = answer.pieces.iter().flat_map(|piece| match piece {
            Piece::Text(fragments) => fragments.clone(),
            Piece::Reasoning { .. } | Piece::Call { .. } => Vec::new(),
        });
        let script = fragments.fold(self.script, TurnScript::text);
        Self { script, ..self }
    }

    fn ended(self, answer: Option<&Answer>, end: TurnEnd) -> Self {
        let usage = answer.and_then(|answer| answer.usage);
        let meter = RequestMeter {
            provider_request_id: answer.and_then(|answer| answer.request_id.clone()),
            metering: usage.map_or(Metering::Unavailable, Metering::Tokens),
            end,
            cost_nano_usd: answer.and_then(|answer| answer.cost_nano_usd),
        };
        self.script(|script| script.request(meter))
    }

    /// The sum of the turn so far, reported as it grows; unknown once a request reports nothing.
    fn counted(mut self, answer: &Answer) -> Self {
        let mut sum = self.usage.unwrap_or(TokenUsage::zero());
        sum.add_assign(&answer.usage.unwrap_or_default());
        self.usage = Some(sum);
        match answer.usage {
            Some(_) => self.script(|script| script.usage(sum)),
            None => self,
        }
    }

    fn answer(self, answer: &Answer) -> Self {
        let end = if answer.finish.is_complete() { TurnEnd::Completed } else { TurnEnd::Failed };
        let course = self.text(answer).ended(Some(answer), end).counted(answer);
        if !answer.finish.is_complete() {
            return course.script(|script| script.fail(incomplete(answer.finish)));
        }
        let calls = answer.pieces.iter().enumerate().filter_map(model::call_of).collect::<Vec<_>>();
        if calls.is_empty() {
            return course.completed(answer);
        }
        calls.into_iter().fold(course, |course, (id, name, arguments)| {
            course.script(|script| script.call(name, arguments, id))
        })
    }

    fn completed(self, answer: &Answer) -> Self {
        let text = answer.whole_text();
        match self.usage.filter(|usage| !usage.is_unreported()) {
            Some(usage) => self.script(|script| script.complete_with_usage(text, usage)),
            None => self.script(|script| script.complete_unmetered(text)),
        }
    }
}

fn incomplete(finish: ModelFinish) -> PortFailure {
    let code = if finish == ModelFinish::Length { "MODEL_OUTPUT_LIMIT" } else { "INCOMPLETE" };
    let message = "the model's answer is not complete";
    PortFailure::committed(PortFailureKind::Protocol, code, message)
}

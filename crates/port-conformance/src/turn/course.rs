//! Decides how a scenario starts turns and follows them to their end.
//!
//! Knows nothing about what is expected of them.

use std::time::Duration;

use runtime_ports::{
    AgentTurn, AgentTurnEvent, AgentTurnRequest, ModelToolDefinition, PortFailure, TokenUsage,
    ToolResult, TurnEnd, TurnFailure, TurnStart, UsageReceipt,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::{StagedTurns, TurnHarness, TurnPlan};
use crate::{
    Broken, Proof,
    claim::{PATIENCE, claim, equal, failed, success, within},
    model::{Answer, Piece, ProviderReply},
};

/// How often a receipt is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long a second receipt is waited for.
const SECOND_LOOK: Duration = Duration::from_millis(60);

pub(super) const INPUT: &str = "the-exact-input";
pub(super) const USER: &str = "user-7";

/// What a turn said from some point on, without records that are for diagnosis only.
#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) events: Vec<AgentTurnEvent>,
    pub(super) failure: Option<TurnFailure>,
}

pub(super) fn answer(answer: Answer) -> ProviderReply {
    ProviderReply::Answer(answer)
}

pub(super) fn text(text: &str) -> ProviderReply {
    answer(Answer::text(text))
}

/// An answer that calls the tool `read` once, as `id`.
pub(super) fn call(id: &str) -> ProviderReply {
    answer(Answer::of(vec![Piece::call(id, "read", r#"{"path":"a"}"#)]))
}

pub(super) fn read_tool() -> ModelToolDefinition {
    ModelToolDefinition {
        name: "read".into(),
        description: "reads a file".into(),
        input_schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
    }
}

/// Stages one turn with these replies.
pub(super) async fn stage(
    harness: &dyn TurnHarness,
    replies: impl Into<Vec<ProviderReply>>,
) -> Result<StagedTurns, Broken> {
    Ok(harness.stage(TurnPlan::one(replies)).await?)
}

pub(super) fn read_result(text: &str) -> ToolResult {
    ToolResult { success: true, text: text.into() }
}

impl StagedTurns {
    /// A start of a fresh turn on the staged model.
    pub(super) fn start(&self) -> TurnStart {
        TurnStart {
            user_id: USER.into(),
            operation_id: Uuid::new_v4(),
            parent_operation_id: Some(Uuid::new_v4()),
            continuation: None,
            request: AgentTurnRequest {
                model: self.model.clone(),
                reasoning_effort: "low".into(),
                input: INPUT.into(),
                tools: vec![read_tool()],
                timeout: None,
                ephemeral: false,
                max_requests: 20,
            },
        }
    }

    pub(super) async fn begin(&self, start: &TurnStart) -> Result<Box<dyn AgentTurn>, Broken> {
        success("the start", self.intelligence.start_agent_turn(start.clone()).await)
    }

    /// The failure of a start that must be refused, without a receipt.
    pub(super) async fn refused_start(&self, start: TurnStart) -> Result<PortFailure, Broken> {
        let started = self.intelligence.start_agent_turn(start).await.map(drop);
        let failure = failed("a start that must be refused", started)?;
        claim(failure.receipt.is_none(), || "a refused start has a receipt".into())?;
        Ok(failure.failure)
    }

    /// Nothing was sent and nothing receipted.
    pub(super) async fn nothing_happened(&self) -> Proof {
        claim(!self.world.reached(), || "a request reached the provider".into())?;
        sleep(SECOND_LOOK).await;
        equal("the receipts", &self.world.receipts().await, &Vec::new())
    }

    pub(super) async fn cancel(&self, operation: Uuid) -> Result<bool, Broken> {
        success("cancel", self.intelligence.cancel(operation).await)
    }

    /// The one receipt of the operation, once it is there; a second one breaks the claim.
    pub(super) async fn only_receipt(&self, operation: Uuid) -> Result<UsageReceipt, Broken> {
        let give_up = Instant::now() + PATIENCE;
        while self.receipts_of(operation).await.is_empty() {
            claim(Instant::now() < give_up, || "the turn left no receipt".into())?;
            sleep(LOOK_EVERY).await;
        }
        sleep(SECOND_LOOK).await;
        let mut receipts = self.receipts_of(operation).await;
        equal("the number of receipts of the turn", &receipts.len(), &1)?;
        Ok(receipts.remove(0))
    }

    /// The one receipt of the operation, which ended so.
    pub(super) async fn settled(
        &self,
        operation: Uuid,
        end: TurnEnd,
    ) -> Result<UsageReceipt, Broken> {
        let receipt = self.only_receipt(operation).await?;
        equal("the end in the receipt", &receipt.end, &end)?;
        Ok(receipt)
    }

    async fn receipts_of(&self, operation: Uuid) -> Vec<UsageReceipt> {
        let mut receipts = self.world.receipts().await;
        receipts.retain(|receipt| receipt.operation_id == operation);
        receipts
    }
}

/// The next event that is not for diagnosis only, at most [`PATIENCE`] away.
pub(super) async fn next(
    turn: &mut dyn AgentTurn,
) -> Result<Result<Option<AgentTurnEvent>, TurnFailure>, Broken> {
    let arriving = async {
        loop {
            match turn.next_event().await {
                Ok(Some(AgentTurnEvent::TransportInput(_))) => {}
                other => return other,
            }
        }
    };
    within("the next event", PATIENCE, arriving).await
}

/// Follows the turn to the next call that wants an answer, or to its end. Nothing follows an end.
pub(super) async fn follow(turn: &mut dyn AgentTurn) -> Result<Course, Broken> {
    let mut course = Course::default();
    loop {
        match next(turn).await? {
            Ok(Some(call @ AgentTurnEvent::ToolCall { .. })) => {
                course.events.push(call);
                return Ok(course);
            }
            Ok(Some(event)) => course.events.push(event),
            Ok(None) => return Ok(course),
            Err(failure) => {
                course.failure = Some(failure);
                let after = success("asking after a failure", next(turn).await?)?;
                equal("the event after a failure", &after, &None)?;
                return Ok(course);
            }
        }
    }
}

/// Follows the turn to its end and answers every call with `result-of-<call id>`.
pub(super) async fn follow_to_the_end(turn: &mut dyn AgentTurn) -> Result<Course, Broken> {
    let mut whole = Course::default();
    loop {
        let part = follow(turn).await?;
        let open = part.open_call();
        whole.events.extend(part.events);
        whole.failure = part.failure;
        let Some(call_id) = open else { return Ok(whole) };
        let result = read_result(&format!("result-of-{call_id}"));
        success("the answer to a call", turn.respond(&call_id, result).await)?;
    }
}

/// What a completed turn said at its end.
#[derive(Debug, PartialEq)]
pub(super) struct Completion {
    pub(super) answer: String,
    pub(super) usage: Option<TokenUsage>,
    pub(super) thread_id: Option<String>,
}

impl Course {
    /// The call that the course ends with, if it does.
    pub(super) fn open_call(&self) -> Option<String> {
        match self.events.last() {
            Some(AgentTurnEvent::ToolCall { call_id, .. }) => Some(call_id.clone()),
            _ => None,
        }
    }

    /// The call that the course must end with.
    pub(super) fn must_call(&self) -> Result<String, Broken> {
        let missing = || Broken::Claim(format!("no call came: {self:?}"));
        self.open_call().ok_or_else(missing)
    }

    /// All calls: identity, tool, arguments.
    pub(super) fn calls(&self) -> Vec<(&str, &str, &Value)> {
        let calls = self.events.iter().filter_map(|event| match event {
            AgentTurnEvent::ToolCall { call_id, tool, arguments } => {
                Some((call_id.as_str(), tool.as_str(), arguments))
            }
            _ => None,
        });
        calls.collect()
    }

    /// All text deltas.
    pub(super) fn deltas(&self) -> String {
        let deltas = self.events.iter().filter_map(|event| match event {
            AgentTurnEvent::TextDelta(text) => Some(text.as_str()),
            _ => None,
        });
        deltas.collect()
    }

    /// The reports of usage, in order.
    pub(super) fn reports(&self) -> Vec<TokenUsage> {
        let reports = self.events.iter().filter_map(|event| match event {
            AgentTurnEvent::UsageUpdated(usage) => Some(*usage),
            _ => None,
        });
        reports.collect()
    }

    /// The one completion, which must be the last event.
    pub(super) fn completion(&self) -> Result<Completion, Broken> {
        let is_completion =
            |event: &&AgentTurnEvent| matches!(event, AgentTurnEvent::Completed { .. });
        let completions = self.events.iter().filter(is_completion).count();
        equal("the number of completions", &completions, &1)?;
        match self.events.last() {
            Some(AgentTurnEvent::Completed { answer, usage, thread_id, .. }) => Ok(Completion {
                answer: answer.clone(),
                usage: *usage,
                thread_id: thread_id.clone(),
            }),
            other => Err(Broken::Claim(format!("{other:?} came after the completion"))),
        }
    }

    /// The failure, with its receipt, that the course must end with.
    pub(super) fn must_fail(&self) -> Result<(&PortFailure, &UsageReceipt), Broken> {
        let whole = || Broken::Claim(format!("the turn did not fail: {:?}", self.events));
        let failure = self.failure.as_ref().ok_or_else(whole)?;
        let bare = || Broken::Claim(format!("{failure} carries no receipt"));
        Ok((&failure.failure, failure.receipt.as_deref().ok_or_else(bare)?))
    }
}

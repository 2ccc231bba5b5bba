//! Decides everything that can happen to a run.
//!
//! Knows no source of time: every input carries its own.

use std::sync::Arc;

use runtime_ports::{
    ApprovalDecision, ArtifactDigest, ModelMessage, ModelProfile, ModelResponse, PortFailure,
    ResourceSnapshot, ToolReply,
};
use serde::{Deserialize, Serialize};

use crate::{
    ApprovalAnswer, ChildEnd, Consultation, EffectId, Grant, HookVerdict, Shortage, Spent,
};

/// Something that happened, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// In Unix milliseconds.
    pub at_ms: u64,
    /// What happened.
    pub happened: Happened,
}

/// What can happen to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Happened {
    /// The run was started.
    Started,
    /// An effect was settled.
    Settled {
        /// The effect.
        effect: EffectId,
        /// What came of it.
        outcome: Box<Outcome>,
    },
    /// Somebody said something to the run.
    Steered {
        /// Above that of every earlier steering message of the run.
        steering_id: u64,
        /// What was said.
        prompt: Arc<str>,
    },
    /// Somebody decided about an approval.
    Decided {
        /// The question.
        request_id: Arc<str>,
        /// The decision.
        decision: ApprovalDecision,
    },
    /// The run shall stop for good.
    Cancelled,
    /// The run shall stop until it is resumed.
    Suspended,
    /// The run shall go on: after a suspension, or after its process was lost.
    Resumed,
    /// The live time of the run is used up.
    WallTimeElapsed,
    /// Runs that something in flight started, as a call of a tool may, used so much. What they
    /// started themselves is in it.
    SpentBelow {
        /// What they used; of those that were dropped, what was in flight counts as it was reserved.
        spent: Box<Spent>,
    },
}

impl Input {
    /// An outcome.
    #[must_use]
    pub fn settled(at_ms: u64, effect: EffectId, outcome: Outcome) -> Self {
        Self { at_ms, happened: Happened::Settled { effect, outcome: Box::new(outcome) } }
    }
}

/// What came of an effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum Outcome {
    /// Of [`ResolveProfile`](crate::Effect::ResolveProfile).
    ProfileResolved(Result<ModelProfile, PortFailure>),
    /// Of [`LoadResources`](crate::Effect::LoadResources).
    ResourcesLoaded(Result<ResourceSnapshot, PortFailure>),
    /// Of [`ConsultMemory`](crate::Effect::ConsultMemory).
    MemoryConsulted(Collected),
    /// Of [`StoreArtifact`](crate::Effect::StoreArtifact).
    ArtifactStored(Result<ArtifactDigest, PortFailure>),
    /// Of [`Summarize`](crate::Effect::Summarize).
    Summarized(Result<ModelResponse, PortFailure>),
    /// Of [`Reserve`](crate::Effect::Reserve): what was granted.
    Reserved(Result<Grant, Shortage>),
    /// Of [`CollectCycleInputs`](crate::Effect::CollectCycleInputs).
    InputsCollected(Collected),
    /// Of [`RunHook`](crate::Effect::RunHook).
    HookReturned(HookVerdict),
    /// Of [`CallModel`](crate::Effect::CallModel).
    ModelReplied(Result<ModelResponse, PortFailure>),
    /// Of [`CallModel`](crate::Effect::CallModel), too: it answered, and the audit could not be
    /// completed.
    ModelRepliedUnaudited {
        /// The answer.
        response: Box<ModelResponse>,
        /// Why the audit failed.
        failure: PortFailure,
    },
    /// Of [`CheckAnswer`](crate::Effect::CheckAnswer).
    AnswerChecked(Result<(), ArgumentFault>),
    /// Of [`CheckArguments`](crate::Effect::CheckArguments).
    ArgumentsChecked(Result<(), ArgumentFault>),
    /// Of [`ConsultApprovals`](crate::Effect::ConsultApprovals).
    ApprovalConsulted(Consultation),
    /// Of [`AwaitApproval`](crate::Effect::AwaitApproval).
    ApprovalAnswered(ApprovalAnswer),
    /// Of [`InvokeTool`](crate::Effect::InvokeTool).
    ToolReturned(ToolEnd),
    /// Of [`CollectInterruptions`](crate::Effect::CollectInterruptions).
    InterruptionsCollected(Collected),
    /// Of [`RunChild`](crate::Effect::RunChild).
    ChildEnded(ChildEnd),
    /// Of [`SteerChild`](crate::Effect::SteerChild): whether the child took it.
    ChildSteered(Result<(), String>),
    /// Of [`WaitChildren`](crate::Effect::WaitChildren): the time is over.
    WaitOver,
}

/// What a provider of messages gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum Collected {
    /// Messages, possibly none.
    Messages(Vec<ModelMessage>),
    /// It failed or panicked; the run fails.
    Failed(String),
    /// It was told to stop and came to no end.
    Interrupted,
}

/// Where and why arguments do not follow a schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArgumentFault {
    /// JSON pointer; empty is the whole.
    pub path: String,
    /// Reads on after the place: "must be an integer".
    pub reason: String,
}

/// How a call of a tool ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum ToolEnd {
    /// It replied.
    Replied(Box<ToolOutput>),
    /// The world failed it.
    Failed(PortFailure),
    /// It ran out of time and did not say what it had done.
    TimedOut,
    /// It was told to stop and did not say what it had done.
    Cancelled,
    /// It panicked.
    Panicked,
}

/// What a tool replied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutput {
    /// The reply; its content is at most as long as the tool's limit, unless the limit is shorter
    /// than the note on the cut.
    pub reply: ToolReply,
    /// Where the whole output is, when the reply holds a part of it.
    pub artifact: Option<ArtifactDigest>,
}

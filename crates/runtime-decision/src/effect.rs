//! Decides everything that a run may ask of the world.
//!
//! Knows no way of doing it. Invariant: an effect is complete in itself, has an id that no other
//! effect of the run has, and is settled by exactly one outcome or withdrawn.

use std::{fmt, sync::Arc, time::Duration};

use runtime_ports::{ModelRequest, ToolInvocation, Transcript};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Amounts, ApprovalRequest, Charge, ChildWork, HookCall, MemoryCall};

/// Identity of an effect within its run: the counter of the run's ids, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectId(pub u64);

impl fmt::Display for EffectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// An effect that shall be performed.
#[derive(Debug, Clone, PartialEq)]
pub struct Requested {
    /// Names it in its outcome.
    pub id: EffectId,
    /// What shall be done.
    pub effect: Effect,
}

/// Something that a run asks of the world.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask a model session for the profile of a model. Once a run for each session.
    ResolveProfile {
        /// The model.
        model: Arc<str>,
        /// Whether it is the one that sums up, in the words of the session that serves it.
        for_summaries: bool,
    },
    /// Load instructions and skills. At most once a run.
    LoadResources,
    /// Ask the before-cycle provider for messages.
    CollectCycleInputs(CycleView),
    /// Run one hook.
    RunHook(Box<HookCall>),
    /// Call one memory provider.
    ConsultMemory(Box<MemoryCall>),
    /// Keep a text as an artifact.
    StoreArtifact {
        /// The text.
        content: Arc<str>,
    },
    /// Ask a model for a summary.
    Summarize(ModelRequest),
    /// Take from the budgets what is about to be used.
    Reserve {
        /// What is wanted.
        wanted: Box<Amounts>,
        /// What is taken if there is not as much.
        least: Box<Amounts>,
    },
    /// Call the model.
    CallModel(ModelRequest),
    /// Hold an answer against the schema of the agent's answer.
    CheckAnswer {
        /// The answer.
        answer: Arc<Value>,
    },
    /// Hold arguments against the input schema of a tool.
    CheckArguments {
        /// Name of the tool.
        tool: Arc<str>,
        /// An object.
        arguments: Arc<Value>,
    },
    /// Ask the approval provider about a call.
    ConsultApprovals(Box<ApprovalRequest>),
    /// Put a question to a human and wait for the answer. Nothing else happens meanwhile: it can
    /// be withdrawn and put again.
    AwaitApproval(Box<ApprovalRequest>),
    /// Run a tool.
    InvokeTool(Box<ToolWork>),
    /// Ask the interruption provider for messages.
    CollectInterruptions(CycleView),
    /// Run a sub-agent to its end.
    RunChild(Box<ChildWork>),
    /// Say something to a child that is at work.
    SteerChild {
        /// Names the task within the run.
        task_id: Arc<str>,
        /// What is said.
        prompt: Arc<str>,
    },
    /// Let time pass while children are at work; withdrawn when they have ended.
    WaitChildren {
        /// Most time.
        timeout: Duration,
    },
}

/// What a provider of messages may look at.
#[derive(Debug, Clone, PartialEq)]
pub struct CycleView {
    /// The cycle, from 1.
    pub cycle: u32,
    /// The history, oldest first.
    pub history: Transcript,
    /// What the tools share.
    pub shared_state: Arc<Map<String, Value>>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolWork {
    /// Name of the tool.
    pub tool: Arc<str>,
    /// What it is called with.
    pub invocation: ToolInvocation,
    /// Most time that it may take.
    pub timeout: Duration,
    /// Most bytes of output that the model is shown.
    pub output_limit_bytes: usize,
}

/// What shall become of an effect that is being performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Halt {
    /// Tell it to stop; its outcome is wanted within the grace, whatever it is.
    Interrupt,
    /// Let it end by itself within the grace; then tell it to stop.
    Settle,
    /// Drop it; no outcome is wanted any more.
    Withdraw,
}

/// What came of one input: effects to perform, effects to halt, and events to tell.
#[derive(Debug, Default)]
pub struct Out {
    /// To be performed, in this order; they may run at the same time.
    pub effects: Vec<Requested>,
    /// To be halted, before new ones are performed.
    pub halts: Vec<(EffectId, Halt)>,
    /// To be told, in this order.
    pub events: Vec<crate::RunEvent>,
    /// What was really used of earlier reservations; to be given back or taken before new effects
    /// are performed.
    pub charges: Vec<Charge>,
}

impl Out {
    /// Empties it and keeps its room.
    pub fn clear(&mut self) {
        self.effects.clear();
        self.halts.clear();
        self.events.clear();
        self.charges.clear();
    }
}

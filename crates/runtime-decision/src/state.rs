//! Decides what is known of a run between two inputs, in full.
//!
//! Knows values only. Invariant: every open effect can be made again from here alone.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use runtime_ports::{ModelMessage, ModelProfile, ModelResponse, Price, ToolSet, Transcript};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    BudgetLimits, Edit, HookPoint, Ledger, NoToolPolicy, ReturnedSteering, RunError, RunIdentity,
    RunStatus, Shortage, Spent,
    batch::Batch,
    children::Children,
    context::{Compaction, Context, Measured},
    kept_record::KeptRecord,
    log::Log,
    resources::Resources,
    spending::{Reservation, Spending},
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct State {
    pub(crate) identity: Arc<RunIdentity>,
    pub(crate) terms: Terms,
    /// The last id that was given out.
    pub(crate) last_id: u64,
    /// The last sequence number of an event.
    pub(crate) sequence: u64,
    /// When the last input came, in Unix milliseconds.
    pub(crate) at_ms: u64,
    /// How long the run was live so far, suspensions excepted, in milliseconds.
    pub(crate) live_ms: u64,
    /// The present cycle, from 1; 0 before the first.
    pub(crate) cycle: u32,
    pub(crate) phase: Phase,
    pub(crate) stop: Option<Stop>,
    pub(crate) open: Vec<Open>,
    #[serde(with = "crate::stored_history")]
    pub(crate) history: Transcript,
    /// What stands for the history in requests; none while it is the history itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<Box<Context>>,
    /// What the run and its ended children used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spent: Option<Box<Spent>>,
    /// What was granted and is not charged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) reservations: Vec<Reservation>,
    /// What is known of the resources, once they were loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resources: Option<Box<Resources>>,
    /// Whether an answer was refused, and the model asked for another.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) answer_refused: bool,
    /// What the provider last reported of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) measured: Option<Measured>,
    /// Up to how many tokens a request that fits is not compacted again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) rests_up_to: u64,
    /// What went wrong without ending the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<Arc<str>>,
    /// The tasks that the run delegated, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) children: Option<Box<Children>>,
    pub(crate) shared: Arc<Map<String, Value>>,
    pub(crate) profile: Option<ModelProfile>,
    /// Of the model that sums up, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) summary_price: Option<Price>,
    pub(crate) steering: VecDeque<ReturnedSteering>,
    pub(crate) last_steering: u64,
    /// Tools, with their versions, that were allowed until the run ends.
    pub(crate) allowed: BTreeSet<(Arc<str>, String)>,
    /// Counters of the approvals that were decided or lapsed.
    pub(crate) decided: BTreeSet<u64>,
    pub(crate) records: Log<KeptRecord>,
    pub(crate) ledger: Ledger,
    /// What the run advertises; planned again when it is loaded.
    #[serde(skip)]
    pub(crate) tools: ToolSet,
    /// Tokens that they are taken for; counted again when it is loaded.
    #[serde(skip)]
    pub(crate) tool_tokens: u64,
}

/// What the task says about its run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Terms {
    pub(crate) max_cycles: u32,
    pub(crate) no_tool_policy: NoToolPolicy,
    pub(crate) allow_interruption: bool,
    pub(crate) native_multimodal: bool,
    pub(crate) excluded_tools: BTreeSet<String>,
    /// Whether the first request is compacted, however small it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) compact_first: bool,
    /// Whether a budget applies, of the run or of an ancestor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) budgeted: bool,
    /// Whether one of them limits the cost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cost_budgeted: bool,
    /// The run's own budgets.
    #[serde(default, skip_serializing_if = "BudgetLimits::is_empty")]
    pub(crate) budget: BudgetLimits,
    /// How many runs are above this one.
    #[serde(default)]
    pub(crate) depth: u32,
    /// The task's own metadata.
    pub(crate) metadata: Arc<Map<String, Value>>,
    /// The agent's metadata overlaid by the task's.
    pub(crate) tool_metadata: Arc<Map<String, Value>>,
}

/// What a run is at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", content = "with", rename_all = "snake_case")]
pub(crate) enum Phase {
    /// Not started.
    New,
    /// Waiting for the profile of the model.
    ResolvingModel,
    /// Between two cycles, because the run is about to be suspended.
    BetweenCycles,
    /// Waiting for the before-cycle provider.
    CollectingInputs,
    /// Waiting for a hook that shapes the request.
    Preparing(Preparation),
    /// Waiting for a memory provider that shapes the requests of a cycle.
    Recalling(RequestView),
    /// Making the request smaller.
    Compacting(Box<Compaction>),
    /// Waiting for the model.
    AwaitingModel(RequestView),
    /// Waiting for a hook that looks at the answer.
    Reviewing(Box<Review>),
    /// Waiting for word on a text with which the run would complete.
    CheckingAnswer(Box<Candidate>),
    /// Working through the calls of an answer.
    RunningTools(Box<Batch>),
    /// Waiting for children, since the model had nothing else to do.
    AwaitingChildren,
    /// Waiting for children that were told to stop; then over.
    Closing(Box<Ending>),
    /// Waiting to be resumed, then going on with what is inside.
    Suspended(Box<Phase>),
    /// Over.
    Ended(Box<Ending>),
}

impl Phase {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::New => "new",
            Self::ResolvingModel => "resolving_model",
            Self::BetweenCycles => "between_cycles",
            Self::CollectingInputs => "collecting_inputs",
            Self::Preparing(_) => "preparing",
            Self::Recalling(_) => "recalling",
            Self::Compacting(_) => "compacting",
            Self::AwaitingModel(_) => "awaiting_model",
            Self::Reviewing(_) => "reviewing",
            Self::CheckingAnswer(_) => "checking_answer",
            Self::RunningTools(_) => "running_tools",
            Self::AwaitingChildren => "awaiting_children",
            Self::Closing(_) => "closing",
            Self::Suspended(_) => "suspended",
            Self::Ended(_) => "ended",
        }
    }
}

/// How a request differs from the history: what hooks changed, for this one call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RequestView {
    pub(crate) edits: Vec<Edit<ModelMessage>>,
    pub(crate) hidden: BTreeSet<String>,
    /// How many of the edits stay when the request is made again: those from before compaction.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) lasting: usize,
    /// How many messages memory providers put in.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) recalled: usize,
    /// Whether the context was compacted for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) compacted: bool,
    /// How often a provider said that it is too long.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) overlong: u32,
    /// Its tokens by the plain estimate, as it was sent last.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) sent_tokens: u64,
}

/// A request that hooks are still shaping.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Preparation {
    pub(crate) view: RequestView,
    pub(crate) point: HookPoint,
}

/// An answer that hooks are still looking at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Review {
    pub(crate) view: RequestView,
    pub(crate) response: Arc<ModelResponse>,
}

/// What the run would complete with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Candidate {
    pub(crate) text: Arc<str>,
    /// What the text means.
    pub(crate) value: Arc<Value>,
}

/// How the run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Ending {
    pub(crate) status: RunStatus,
    pub(crate) final_answer: Option<Arc<str>>,
    /// The answer as JSON, of an agent that has a schema for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Arc<Value>>,
    pub(crate) wait_reason: Option<Arc<str>>,
    pub(crate) error: Option<RunError>,
    /// The budget that ended it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shortage: Option<Box<Shortage>>,
}

impl Ending {
    /// One of which no more is known than how the run ended.
    pub(crate) const fn of(status: RunStatus) -> Self {
        Self {
            status,
            final_answer: None,
            answer: None,
            wait_reason: None,
            error: None,
            shortage: None,
        }
    }
}

/// Why no new effect is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "why", content = "with", rename_all = "snake_case")]
pub(crate) enum Stop {
    /// The run waits to be resumed once what is in flight has settled.
    Suspend,
    /// A budget is used up.
    Budget(Box<Shortage>),
    /// Something failed.
    Fail(Box<RunError>),
    /// Somebody cancelled it.
    Cancel,
}

/// An effect that has no outcome yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Open {
    pub(crate) id: u64,
    pub(crate) ask: Ask,
    pub(crate) standing: Standing,
}

/// Where an open effect stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    /// It leaves with the present input.
    Due,
    /// It waits until the run is resumed.
    Held,
    /// It left.
    Asked,
}

/// What an open effect is about; all else is in the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ask {
    Profile,
    /// Of the model that sums up, where it is another one and its price matters.
    SummaryProfile,
    Resources,
    CycleInputs,
    Hook {
        hook: usize,
        call: Option<usize>,
    },
    Memory {
        provider: usize,
    },
    /// Of the message at this place in the context.
    Offload {
        message: usize,
    },
    Summary,
    Reserve {
        spending: Spending,
    },
    Model,
    Answer,
    Check {
        call: usize,
    },
    Consult {
        call: usize,
    },
    Approve {
        call: usize,
    },
    Tool {
        call: usize,
    },
    Interruptions {
        call: usize,
    },
    Child {
        child: usize,
    },
    SteerChild {
        call: usize,
    },
    WaitChildren {
        call: usize,
    },
}

impl Ask {
    /// The call that it is about, if it is about one.
    pub(crate) const fn call(self) -> Option<usize> {
        match self {
            Self::Profile
            | Self::SummaryProfile
            | Self::Resources
            | Self::CycleInputs
            | Self::Memory { .. }
            | Self::Offload { .. }
            | Self::Summary
            | Self::Model
            | Self::Answer
            | Self::Child { .. } => None,
            Self::Reserve { spending: Spending::Call { call } } => Some(call),
            Self::Reserve { .. } => None,
            Self::Hook { call, .. } => call,
            Self::Check { call }
            | Self::Consult { call }
            | Self::Approve { call }
            | Self::Tool { call }
            | Self::Interruptions { call }
            | Self::SteerChild { call }
            | Self::WaitChildren { call } => Some(call),
        }
    }

    /// Whether it is about a child that works on its own, whatever the run is at.
    pub(crate) const fn is_child(self) -> bool {
        matches!(self, Self::Child { .. })
    }

    /// Whether nothing happens while it is open: it can be withdrawn and asked again.
    pub(crate) const fn is_wait(self) -> bool {
        matches!(self, Self::Approve { .. } | Self::WaitChildren { .. })
    }
}

/// Whether there is nothing to write.
fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}

//! Decides what is known of the calls of one answer.
//!
//! Knows no transitions. Invariant: a call is at one stage, and a call that is done has a result.

use std::{collections::BTreeSet, sync::Arc};

use runtime_ports::{ApprovalDecision, ModelMessage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Call, CallResult, ReturnedSteering, children::Delegation};

/// The calls of one answer, worked through group by group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Batch {
    pub(crate) calls: Vec<CallState>,
    /// Tools that the request did not advertise, by a hook's wish.
    pub(crate) hidden: BTreeSet<String>,
    /// The present group, as (first, one after the last).
    pub(crate) group: (usize, usize),
    /// Whether all of it is paid for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_admitted: bool,
    /// How many runs its calls started.
    #[serde(default, skip_serializing_if = "is_none_spawned")]
    pub(crate) spawned: u64,
    /// What interrupted the batch, if something did.
    pub(crate) steered: Option<Steered>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_none_spawned(spawned: &u64) -> bool {
    *spawned == 0
}

/// What interrupted a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Steered {
    /// The call after which it was found.
    pub(crate) after: usize,
    pub(crate) prompts: Vec<ReturnedSteering>,
    pub(crate) interruptions: Vec<ModelMessage>,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CallState {
    /// As the model made it, under an id that no other call of the answer has.
    pub(crate) original: Call,
    /// As hooks left it, with arguments that are an object once they were looked at.
    pub(crate) patched: Option<Call>,
    /// Whether another call of the answer had its id before.
    pub(crate) duplicate: bool,
    pub(crate) stage: Stage,
    /// What the idempotency key is made of; given when the tool is started.
    pub(crate) key: Option<u64>,
    pub(crate) approval: Option<Approval>,
    /// What a call that delegates waits for, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) delegation: Option<Box<Delegation>>,
    pub(crate) result: Option<Arc<CallResult>>,
    #[serde(with = "runtime_ports::state_writes")]
    pub(crate) state_writes: Vec<(String, Option<Value>)>,
}

/// What is known of a call's approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Approval {
    /// What the id of the question is made of.
    pub(crate) number: u64,
    /// What the decision is bound to.
    pub(crate) digest: Arc<str>,
    pub(crate) expires_at_ms: u64,
    /// Whether the policy says that it must be asked.
    pub(crate) required: bool,
    /// A decision that came while the run was suspended.
    pub(crate) decision: Option<ApprovalDecision>,
}

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    /// Its group was not reached.
    Waiting,
    /// A hook looks at it.
    BeforeHook,
    /// Its arguments are held against the schema.
    Checking,
    /// The approval provider is asked.
    Consulting,
    /// A human is asked.
    Asking,
    /// It may run, once nothing interrupts and nothing must end before it.
    Cleared,
    /// It must run alone, when the rest of its group has ended.
    Deferred,
    /// A hook gave it another name, and it is not paid for under that one.
    Admitting,
    /// The tool is at work.
    Running,
    /// A hook looks at its result.
    AfterHook,
    /// It has its result.
    Done,
}

impl CallState {
    /// The call as it would run, or ran.
    pub(crate) fn effective(&self) -> &Call {
        self.patched.as_ref().unwrap_or(&self.original)
    }

    /// Whether no tool was started for it, and none of its results is there.
    pub(crate) fn is_unstarted(&self) -> bool {
        self.stage < Stage::Running
    }
}

impl Batch {
    /// The calls of the present group.
    pub(crate) fn in_group(&self) -> &[CallState] {
        &self.calls[self.group.0..self.group.1]
    }
}

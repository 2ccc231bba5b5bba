//! Decides how a run is written and read again.
//!
//! Knows JSON. Invariants: what is written carries its version and the digest of its definition;
//! unknown fields, other versions and other definitions are refused, never guessed at.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Effect, EffectId, LoadError, Machine, Plan,
    state::{Ask, Phase, Standing, State},
};

/// Version of a stored run.
pub const STORED_RUN_VERSION: u64 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    version: u64,
    definition: String,
    state: &'a State,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Read {
    #[serde(rename = "version")]
    _version: u64,
    definition: String,
    state: State,
}

#[derive(Deserialize)]
struct Head {
    version: u64,
}

/// An effect that has no outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// Names it.
    pub id: EffectId,
    /// What it is.
    pub effect: Effect,
    /// Whether it was being performed when the run was stored; else it was never asked for, or was
    /// withdrawn, and is asked for when the run is resumed.
    pub in_flight: bool,
}

impl Machine {
    /// The run as JSON.
    ///
    /// # Panics
    /// Never: a run consists of values that JSON can say.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let definition = self.plan.digest().to_string();
        let written = Written { version: STORED_RUN_VERSION, definition, state: &self.state };
        serde_json::to_vec(&written).expect("a run consists of JSON values")
    }

    /// Takes up a stored run under the definition that it began with.
    ///
    /// # Errors
    /// Damaged, of another version, or of another definition.
    pub fn from_json(plan: Arc<Plan>, bytes: &[u8]) -> Result<Self, LoadError> {
        let head: Head = serde_json::from_slice(bytes).map_err(LoadError::malformed)?;
        if head.version != STORED_RUN_VERSION {
            return Err(LoadError::Version { found: head.version, known: STORED_RUN_VERSION });
        }
        let read: Read = serde_json::from_slice(bytes).map_err(LoadError::malformed)?;
        let offered = plan.digest().to_string();
        if read.definition != offered {
            return Err(LoadError::OtherDefinition { found: read.definition, offered });
        }
        let mut state = read.state;
        check(&plan, &state)?;
        state.tools = state.terms.tools(&plan);
        Ok(Self { plan, state })
    }

    /// What has no outcome: what is asked for on resumption, and what was in flight.
    #[must_use]
    pub fn pending(&self) -> Vec<Pending> {
        let open = self.state.open.iter();
        open.map(|open| Pending {
            id: EffectId(open.id),
            effect: self.effect(open.id, open.ask),
            in_flight: open.standing == Standing::Asked,
        })
        .collect()
    }
}

/// Whether all that open effects need is there.
fn check(plan: &Plan, state: &State) -> Result<(), LoadError> {
    let phase = match &state.phase {
        Phase::Suspended(inner) => &**inner,
        phase => phase,
    };
    if matches!(phase, Phase::Suspended(_)) {
        return Err(LoadError::malformed("a run is suspended within a suspension"));
    }
    for open in &state.open {
        if !fits(plan, phase, open.ask) {
            return Err(LoadError::malformed(format!("effect {} does not fit its phase", open.id)));
        }
    }
    match phase {
        Phase::RunningTools(batch) => check_batch(batch),
        _ => Ok(()),
    }
}

fn check_batch(batch: &crate::batch::Batch) -> Result<(), LoadError> {
    let (first, end) = batch.group;
    let steered = batch.steered.as_ref().is_none_or(|it| it.after < batch.calls.len());
    if first > end || end > batch.calls.len() || !steered {
        return Err(LoadError::malformed("the group of a batch lies outside of it"));
    }
    let done = |call: &crate::batch::CallState| call.stage == crate::batch::Stage::Done;
    if batch.calls.iter().any(|call| done(call) && call.result.is_none()) {
        return Err(LoadError::malformed("a call is done and has no result"));
    }
    Ok(())
}

fn fits(plan: &Plan, phase: &Phase, ask: Ask) -> bool {
    match (phase, ask) {
        (Phase::ResolvingModel, Ask::Profile)
        | (Phase::CollectingInputs, Ask::CycleInputs)
        | (Phase::AwaitingModel(_), Ask::Model)
        | (Phase::Preparing(_) | Phase::Reviewing(_), Ask::Hook { call: None, .. }) => true,
        (Phase::RunningTools(batch), ask) => {
            let call = ask.call().and_then(|call| batch.calls.get(call));
            call.is_some_and(|call| {
                let tool = plan.tool(&call.effective().name).is_some();
                match ask {
                    Ask::Check { .. } => tool,
                    Ask::Consult { .. } | Ask::Approve { .. } => tool && call.approval.is_some(),
                    Ask::Tool { .. } => tool && call.key.is_some(),
                    _ => true,
                }
            })
        }
        _ => false,
    }
}

//! Decides how a run is written and read again.
//!
//! Knows JSON. Invariants: what is written carries its version and the digest of its definition;
//! unknown fields, other versions and other definitions are refused, never guessed at.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Effect, EffectId, LoadError, Machine, Plan,
    soundness::check,
    state::{Standing, State},
};

/// Version of a stored run.
pub const STORED_RUN_VERSION: u64 = 2;

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
        let head: Head =
            serde_json::from_slice(bytes).map_err(|error| LoadError::unreadable(&error))?;
        if head.version != STORED_RUN_VERSION {
            return Err(LoadError::Version { found: head.version, known: STORED_RUN_VERSION });
        }
        let read: Read =
            serde_json::from_slice(bytes).map_err(|error| LoadError::unreadable(&error))?;
        let offered = plan.digest().to_string();
        if read.definition != offered {
            return Err(LoadError::OtherDefinition { found: read.definition, offered });
        }
        let mut state = read.state;
        if let Some(context) = state.context.take() {
            let joined = context.joined(&state.history);
            let joined =
                joined.ok_or_else(|| LoadError::malformed("its context is of another history"))?;
            state.context = Some(Box::new(joined));
        }
        check(&plan, &state)?;
        state.tools = state.terms.tools(&plan);
        state.tool_tokens = plan.tool_tokens(&state.tools);
        let run = Self { plan, state };
        match run.compacts_soundly() {
            true => Ok(run),
            false => Err(LoadError::malformed("the open effects do not fit the compaction")),
        }
    }

    /// What has no outcome: what is asked for on resumption, and what was in flight.
    #[must_use]
    pub fn pending(&self) -> Vec<Pending> {
        let open = self.state.open.iter().filter(|open| !self.is_decided(open.ask));
        open.map(|open| Pending {
            id: EffectId(open.id),
            effect: self.effect(open.id, open.ask),
            in_flight: open.standing == Standing::Asked,
        })
        .collect()
    }
}

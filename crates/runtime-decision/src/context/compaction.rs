//! Decides what is known of a compaction while it goes on.
//!
//! Knows no transitions. Invariant: what was accepted is in the context of the run already; what is
//! here can be lost without loss.

use std::sync::Arc;

use runtime_ports::ArtifactDigest;
use serde::{Deserialize, Serialize};

use super::exchange::Cut;
use crate::{
    Plan,
    spending::Spending,
    state::{Ask, RequestView},
};

/// A compaction that goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Compaction {
    /// The request that it is for.
    pub(crate) view: RequestView,
    pub(crate) cause: Cause,
    pub(crate) step: Step,
    /// Messages of the context before it.
    pub(crate) messages_before: usize,
    /// It goes on while the request has more than this by the plain estimate.
    pub(crate) target: u64,
    /// The levels that made the request smaller.
    pub(crate) levels: Vec<Level>,
    /// Places in the context of results that were kept, and under which name.
    pub(crate) stored: Vec<(usize, ArtifactDigest)>,
    /// What the summary that is asked for covers.
    pub(crate) cut: Option<Cut>,
    /// How often the request for a summary was too long, and was halved.
    pub(crate) halvings: u32,
}

impl Compaction {
    /// Whether these are what it waits for.
    pub(crate) fn fits(&self, plan: &Plan, asks: &[Ask]) -> bool {
        match (self.step, asks) {
            (Step::Before | Step::After, [Ask::Memory { provider }]) => {
                plan.definition().memory.get(*provider).is_some_and(|memory| memory.observes)
            }
            (Step::Offloading, asks) => {
                !asks.is_empty() && asks.iter().all(|ask| matches!(ask, Ask::Offload { .. }))
            }
            (Step::Summarizing, [Ask::Summary]) => true,
            (Step::Summarizing, [Ask::Reserve { spending: Spending::Summary }]) => true,
            _ => false,
        }
    }
}

/// Why a context is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Cause {
    /// The request would be over the threshold.
    Threshold,
    /// The host asked for it.
    Asked,
    /// The provider said that the prompt is too long.
    Overlong,
}

/// What a compaction waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    /// A memory provider that is told before it.
    Before,
    /// Results that become artifacts.
    Offloading,
    /// The summary.
    Summarizing,
    /// A memory provider that is told after it.
    After,
}

/// A way to make a request smaller, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    /// Old results that a tool would give again become a note.
    Micro,
    /// Large results become artifacts.
    Offload,
    /// The older part is summed up.
    Summary,
    /// The older part is left out, and results are cut. Only when a provider called a prompt too
    /// long.
    Trim,
}

impl Level {
    /// The next harsher one.
    pub(crate) const fn next(self) -> Option<Self> {
        match self {
            Self::Micro => Some(Self::Offload),
            Self::Offload => Some(Self::Summary),
            Self::Summary => Some(Self::Trim),
            Self::Trim => None,
        }
    }

    pub(crate) fn name(self) -> Arc<str> {
        match self {
            Self::Micro => "micro",
            Self::Offload => "offload",
            Self::Summary => "summary",
            Self::Trim => "trim",
        }
        .into()
    }
}

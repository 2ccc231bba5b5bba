//! Decides what a reservation is: what was granted, and what was used of it.
//!
//! Knows no limits. Invariant: a reservation is charged once, whatever became of what it was for.

use serde::{Deserialize, Serialize};

use super::{Amounts, Shortage};
use crate::EffectId;

/// What was reserved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// How much: of each kind at most what was wanted, and not less than was said to suffice.
    pub amounts: Amounts,
    /// The first budget that kept it below what was wanted, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_short_by: Option<Box<Shortage>>,
}

/// What was used of a reservation, which is settled by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The effect that reserved it.
    pub reservation: EffectId,
    /// What counts as used; nothing when it was given back. It may be more than was granted.
    pub used: Amounts,
}

//! Decides how far a schema can be checked, and how much may be said of a fault.
//!
//! Knows sizes and no keyword. Invariant: the depth of the checker's recursion, and the number of its
//! steps, are bounded before a value is looked at.

use serde_json::Value;

use super::{
    fault::Fault,
    walk::{self, Found},
};

/// Deepest nesting of arguments, and of a schema; what is parsed from text nests no deeper.
const MAX_DEPTH: usize = 128;

/// Most subschemas that may apply with every reference followed: a reference that is followed twice
/// at each of many levels is a check without end.
const MAX_WEIGHT: u64 = 100_000;

/// Most subschemas at work at once when a schema refers to itself. Each takes some hundred bytes of
/// a stack that may have no more than 2 MiB.
const MAX_STACK: usize = 1_024;

/// Most steps that may be spent on the words for a fault.
const MAX_EXPLANATION: u64 = 200_000;

/// What a schema costs.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    found: Found,
}

/// How deep and how large a value is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    depth: usize,
    values: u64,
}

impl Shape {
    pub(super) fn of(schema: &Value) -> Result<Self, Fault> {
        if Extent::of(schema, MAX_DEPTH).is_none() {
            return Err(walk::too_deep(""));
        }
        let found = walk::over(schema)?;
        if found.weight > MAX_WEIGHT {
            return Err(Fault::here("the schema branches too often, make it simpler"));
        }
        Ok(Self { found })
    }

    /// How deep a value may be nested.
    pub(super) fn reach(&self) -> usize {
        match self.found.cycles {
            0 => MAX_DEPTH,
            _ => (MAX_STACK / self.found.chain).min(MAX_DEPTH),
        }
    }

    /// Whether all that is wrong with a value of this extent can be collected.
    pub(super) fn can_explain(&self, extent: Extent) -> bool {
        let steps = match self.found.steps.get(extent.depth) {
            None if self.found.complete => self.found.steps.last(),
            counted => counted,
        };
        steps.is_some_and(|steps| extent.values.saturating_mul(*steps) <= MAX_EXPLANATION)
    }
}

impl Extent {
    /// `None` when the value is nested more than `most` levels deep.
    pub(super) fn of(value: &Value, most: usize) -> Option<Self> {
        let mut whole = Self { depth: 0, values: 1 };
        match value {
            Value::Array(items) => whole.take(items.iter(), most)?,
            Value::Object(members) => whole.take(members.values(), most)?,
            _ => {}
        }
        Some(whole)
    }

    fn take<'a>(&mut self, parts: impl Iterator<Item = &'a Value>, most: usize) -> Option<()> {
        let left = most.checked_sub(1)?;
        self.depth = 1;
        for part in parts {
            let part = Self::of(part, left)?;
            self.depth = self.depth.max(part.depth + 1);
            self.values += part.values;
        }
        Some(())
    }
}

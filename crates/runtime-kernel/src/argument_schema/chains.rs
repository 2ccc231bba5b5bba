//! Decides how many subschemas may apply to a value and to its parts, one because of the other.
//!
//! Knows nothing about keywords. Invariant: a chain has an end, so that a check has one too.

use std::collections::HashMap;

use serde_json::Value;

use super::fault::Fault;

const ENDLESS: &str = "the schema refers to itself for one and the same value, refer to it for a \
    part of the value only";

/// Which schema applies because which other does; by address of the holder.
#[derive(Default)]
pub(super) struct Chains<'a> {
    /// To the same value.
    links: HashMap<*const Value, Vec<&'a Value>>,
    /// To a part of it.
    parts: HashMap<*const Value, Vec<&'a Value>>,
}

/// Deepest nesting for which steps are counted.
const DEEPEST: usize = 64;

type Steps = HashMap<*const Value, u64>;

/// How far a schema has been followed.
#[derive(Clone, Copy)]
enum Mark {
    Open,
    Length(usize),
}

impl<'a> Chains<'a> {
    pub(super) fn link(&mut self, holder: &'a Value, held: &'a Value) {
        self.links.entry(holder).or_default().push(held);
    }

    pub(super) fn link_part(&mut self, holder: &'a Value, held: &'a Value) {
        self.parts.entry(holder).or_default().push(held);
    }

    /// The steps that a check of all alternatives takes on the way to one part of a value, by how
    /// deep the value is nested, while they are at most `most`; the last stands for all deeper ones
    /// when `true`. There must be no endless chain.
    pub(super) fn steps_by_depth(&self, root: &Value, most: u64) -> (Vec<u64>, bool) {
        let (mut by_depth, mut below) = (Vec::new(), Steps::new());
        while by_depth.len() < DEEPEST {
            let mut here = Steps::new();
            for holder in self.links.keys().chain(self.parts.keys()) {
                self.steps(*holder, &below, &mut here);
            }
            let steps = self.steps(root, &below, &mut here);
            if steps > most {
                break;
            }
            by_depth.push(steps);
            if here == below {
                return (by_depth, true);
            }
            below = here;
        }
        (by_depth, false)
    }

    fn steps(&self, schema: *const Value, below: &Steps, here: &mut Steps) -> u64 {
        if let Some(known) = here.get(&schema) {
            return *known;
        }
        let of_part = |held: &&Value| *below.get(&std::ptr::from_ref(*held)).unwrap_or(&1);
        let parts = self.parts.get(&schema).into_iter().flatten();
        let mut steps = parts.map(of_part).fold(1, u64::saturating_add);
        for held in self.links.get(&schema).into_iter().flatten() {
            steps = steps.saturating_add(self.steps(*held, below, here));
        }
        here.insert(schema, steps);
        steps
    }

    /// The longest chain, in schemas; at least 1.
    pub(super) fn longest(&self, most: usize) -> Result<usize, Fault> {
        let mut marks = HashMap::new();
        let mut longest = 1;
        for holder in self.links.keys() {
            longest = longest.max(self.length(*holder, most, &mut marks)?);
        }
        if longest > most { Err(Fault::here(TOO_LONG)) } else { Ok(longest) }
    }

    fn length(
        &self,
        holder: *const Value,
        left: usize,
        marks: &mut HashMap<*const Value, Mark>,
    ) -> Result<usize, Fault> {
        let Some(left) = left.checked_sub(1) else { return Err(Fault::here(TOO_LONG)) };
        match marks.insert(holder, Mark::Open) {
            Some(Mark::Open) => return Err(Fault::here(ENDLESS)),
            Some(known @ Mark::Length(length)) => {
                marks.insert(holder, known);
                return Ok(length);
            }
            None => {}
        }
        let mut longest = 0;
        for held in self.links.get(&holder).into_iter().flatten() {
            longest = longest.max(self.length(*held, left, marks)?);
        }
        marks.insert(holder, Mark::Length(longest + 1));
        Ok(longest + 1)
    }
}

const TOO_LONG: &str = "the schema is nested too deeply, make it flatter";

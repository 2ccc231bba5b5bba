//! Decides how many tokens a projection is taken for, from lengths alone.
//!
//! Holds no text. Invariant: its size depends on how many keys there are, not on how many calls
//! were made, so that a copy of it is small.

use std::{
    collections::HashMap,
    ops::{Add, AddAssign, SubAssign},
    sync::Arc,
};

use super::draft::{Plan, Standing};

/// Tokens set aside for what the protocol adds to every request.
const PROTOCOL_RESERVE_TOKENS: u64 = 4_096;

/// What stands between two sections: one blank line.
pub(super) const SEPARATOR: &str = "\n\n";

/// The keys that an entry shows, sorted, each once.
pub(super) type DisplaySet = Arc<[Arc<str>]>;

/// What takes the place of an entry whose values are out of date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    /// A value that it showed was replaced.
    Replaced,
    /// A value that it showed was removed.
    Removed,
}

impl Marker {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Replaced => {
                "[Tool output was displayed here, but has since been updated and now appears \
                 elsewhere in the context]"
            }
            Self::Removed => {
                "[Tool output was displayed here, but what it showed has since been removed and \
                 is no longer part of the context]"
            }
        }
    }
}

/// Unicode scalars of some nonempty sections, and how many sections they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    scalars: u64,
    sections: u64,
}

impl Size {
    /// Size of one section; an empty one is skipped and counts nothing.
    pub(crate) fn of(text: &str) -> Self {
        Self { scalars: text.chars().count() as u64, sections: u64::from(!text.is_empty()) }
    }

    pub(super) fn times(self, count: u64) -> Self {
        Self { scalars: self.scalars * count, sections: self.sections * count }
    }

    /// A quarter of the scalars of the joined text, rounded up, and the reserve.
    pub(super) fn estimated_tokens(self) -> u64 {
        let separators = self.sections.saturating_sub(1) * SEPARATOR.len() as u64;
        (self.scalars + separators).div_ceil(4) + PROTOCOL_RESERVE_TOKENS
    }
}

impl Add for Size {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        self.scalars += other.scalars;
        self.sections += other.sections;
    }
}

impl SubAssign for Size {
    fn sub_assign(&mut self, other: Self) {
        self.scalars -= other.scalars;
        self.sections -= other.sections;
    }
}

/// The entries that show one set of keys.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Group {
    pub(super) entries: u64,
    pub(super) size: Size,
}

/// Lengths of a projection.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    max_input_tokens: u64,
    size: Size,
    keys: HashMap<Arc<str>, KeyRecord>,
    groups: HashMap<DisplaySet, Group>,
}

#[derive(Debug, Clone, Default)]
struct KeyRecord {
    standing: Standing,
    /// The groups that show the key.
    sets: Vec<DisplaySet>,
}

impl Ledger {
    pub(super) fn new(size: Size, max_input_tokens: u64) -> Self {
        Self { max_input_tokens, size, keys: HashMap::new(), groups: HashMap::new() }
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    pub(crate) fn max_input_tokens(&self) -> u64 {
        self.max_input_tokens
    }

    pub(crate) fn estimated_tokens(&self) -> u64 {
        self.size.estimated_tokens()
    }

    /// Whether a projection of this size may be sent.
    pub(super) fn admits(&self, size: Size) -> bool {
        size.estimated_tokens() <= self.max_input_tokens
    }

    /// Whether the projection, with this one value replaced and nothing added, may be sent.
    pub(crate) fn admits_state(&self, key: &str, text: &str) -> bool {
        let mut draft = super::Draft::new(self);
        draft.update(key, Some(Size::of(text)));
        self.admits(draft.into_plan().size)
    }

    /// Whether some entry shows the value of `key`.
    pub(super) fn is_shown(&self, key: &str) -> bool {
        self.standing(key).shown_by > 0
    }

    pub(super) fn standing(&self, key: &str) -> Standing {
        self.keys.get(key).map(|record| record.standing).unwrap_or_default()
    }

    pub(super) fn sets_showing(&self, key: &str) -> &[DisplaySet] {
        self.keys.get(key).map(|record| record.sets.as_slice()).unwrap_or_default()
    }

    pub(super) fn group(&self, set: &DisplaySet) -> Group {
        self.groups.get(set).copied().unwrap_or_default()
    }

    pub(super) fn commit(&mut self, plan: Plan) {
        self.size = plan.size;
        for set in plan.dissolved.keys() {
            self.forget_group(set);
        }
        let touched: Vec<Arc<str>> = plan.keys.keys().cloned().collect();
        for (key, standing) in plan.keys {
            self.keys.entry(key).or_default().standing = standing;
        }
        if let Some((size, set)) = plan.entry.filter(|(_, set)| !set.is_empty()) {
            self.count_entry(size, set);
        }
        for key in touched {
            self.forget_if_unused(&key);
        }
    }

    fn forget_group(&mut self, set: &DisplaySet) {
        self.groups.remove(set);
        for key in set.iter() {
            if let Some(record) = self.keys.get_mut(key) {
                record.sets.retain(|other| other != set);
            }
        }
    }

    fn count_entry(&mut self, size: Size, set: DisplaySet) {
        if !self.groups.contains_key(&set) {
            for key in set.iter() {
                self.keys.entry(Arc::clone(key)).or_default().sets.push(Arc::clone(&set));
            }
        }
        let group = self.groups.entry(set).or_default();
        group.entries += 1;
        group.size += size;
    }

    fn forget_if_unused(&mut self, key: &Arc<str>) {
        let unused = self
            .keys
            .get(key)
            .is_some_and(|record| record.standing.state.is_none() && record.sets.is_empty());
        if unused {
            self.keys.remove(key);
        }
    }
}

/// The keys in order, each once.
pub(super) fn display_set(keys: &[String]) -> DisplaySet {
    let mut keys: Vec<Arc<str>> = keys.iter().map(|key| Arc::from(key.as_str())).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into()
}

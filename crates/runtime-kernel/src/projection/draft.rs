//! Decides what a change would make of a projection's size, without making it.
//!
//! One code for the question ("would it fit?") and for the deed, so that the two cannot disagree.
//! Costs what the change touches.

use std::{collections::HashMap, sync::Arc};

use super::ledger::{DisplaySet, Ledger, Marker, Size};

/// How one key stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// Size of the current value; `None` when there is none.
    pub(super) state: Option<Size>,
    /// How many entries show it; it is written at the end only while none does.
    pub(super) shown_by: u64,
}

/// A change in the making.
pub(super) struct Draft<'a> {
    ledger: &'a Ledger,
    plan: Plan,
}

/// What a change comes to.
pub(super) struct Plan {
    /// Size of the whole projection afterwards.
    pub(super) size: Size,
    /// The keys that are touched, as they stand afterwards.
    pub(super) keys: HashMap<Arc<str>, Standing>,
    /// The groups whose entries become markers.
    pub(super) dissolved: HashMap<DisplaySet, Marker>,
    /// The entry that is added, and what it shows.
    pub(super) entry: Option<(Size, DisplaySet)>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(ledger: &'a Ledger) -> Self {
        let (keys, dissolved) = (HashMap::new(), HashMap::new());
        Self { ledger, plan: Plan { size: ledger.size(), keys, dissolved, entry: None } }
    }

    pub(super) fn into_plan(self) -> Plan {
        self.plan
    }

    /// Replaces or removes a value. What showed it becomes a marker and shows nothing any more.
    pub(super) fn update(&mut self, key: &str, state: Option<Size>) {
        let marker = if state.is_some() { Marker::Replaced } else { Marker::Removed };
        let ledger = self.ledger;
        for set in ledger.sets_showing(key) {
            self.dissolve(set, marker);
        }
        // No entry shows the key now, so that its value counts.
        let standing = standing_of(ledger, &mut self.plan.keys, key);
        let earlier = std::mem::replace(&mut standing.state, state);
        self.plan.size -= earlier.unwrap_or_default();
        self.plan.size += state.unwrap_or_default();
    }

    /// Adds the entry of a result; the values that it shows are not written a second time.
    pub(super) fn append(&mut self, entry: Size, set: DisplaySet) {
        for key in set.iter() {
            let standing = standing_of(self.ledger, &mut self.plan.keys, key);
            if standing.shown_by == 0 {
                self.plan.size -= standing.state.unwrap_or_default();
            }
            standing.shown_by += 1;
        }
        self.plan.size += entry;
        self.plan.entry = Some((entry, set));
    }

    fn dissolve(&mut self, set: &DisplaySet, marker: Marker) {
        if self.plan.dissolved.contains_key(set) {
            return;
        }
        let group = self.ledger.group(set);
        self.plan.size -= group.size;
        self.plan.size += Size::of(marker.text()).times(group.entries);
        for key in set.iter() {
            let standing = standing_of(self.ledger, &mut self.plan.keys, key);
            standing.shown_by -= group.entries;
            if standing.shown_by == 0 {
                self.plan.size += standing.state.unwrap_or_default();
            }
        }
        self.plan.dissolved.insert(Arc::clone(set), marker);
    }
}

fn standing_of<'k>(
    ledger: &Ledger,
    keys: &'k mut HashMap<Arc<str>, Standing>,
    key: &str,
) -> &'k mut Standing {
    keys.entry(Arc::from(key)).or_insert_with(|| ledger.standing(key))
}

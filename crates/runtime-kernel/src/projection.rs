//! Decides what a subagent's context would say if it were written afresh, and whether a change fits.
//!
//! Knows nothing about providers, hosts or audits. Invariant: the estimate is kept, never measured:
//! a change costs what it brings, and the sum always equals that of the rendered text.

mod draft;
mod ledger;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use self::draft::{Draft, Plan};
pub(crate) use self::ledger::Ledger;
use self::ledger::{DisplaySet, Marker, SEPARATOR, Size, display_set};
use crate::{ContextBudget, StateUpdate};

/// The projected state of one subagent run.
pub(crate) struct Projection {
    /// Context and task, which never change.
    lead: Vec<String>,
    history: Vec<HistoryEntry>,
    /// Where the entries are that show one set of keys.
    shown: HashMap<DisplaySet, Vec<usize>>,
    /// Current values in order of their last update.
    states: BTreeMap<u64, State>,
    last_update: HashMap<Arc<str>, u64>,
    updates: u64,
    /// Lengths of all of the above; shared with the budgets that hosts hold.
    ledger: Arc<Ledger>,
}

enum HistoryEntry {
    Text(String),
    Outdated(Marker),
}

struct State {
    key: Arc<str>,
    text: String,
}

/// What one successful tool call changes: first the updates, then the entry of its result.
pub(crate) struct Change {
    /// Values to replace or remove, in order.
    pub(crate) updates: Vec<StateUpdate>,
    /// Text of the result.
    pub(crate) result: String,
    /// Keys whose complete values the result shows.
    pub(crate) displayed: Vec<String>,
}

impl Projection {
    /// A projection without history: the context sections, then the task.
    pub(crate) fn new(context: &[String], task: &str, max_input_tokens: u64) -> Self {
        let sections = context.iter().map(String::as_str).chain([task]);
        let lead: Vec<String> =
            sections.filter(|text| !text.is_empty()).map(str::to_owned).collect();
        let size = lead.iter().fold(Size::default(), |sum, text| sum + Size::of(text));
        Self {
            lead,
            history: Vec::new(),
            shown: HashMap::new(),
            states: BTreeMap::new(),
            last_update: HashMap::new(),
            updates: 0,
            ledger: Arc::new(Ledger::new(size, max_input_tokens)),
        }
    }

    /// Whether it fits the model's input as it stands.
    pub(crate) fn fits(&self) -> bool {
        self.ledger.admits(self.ledger.size())
    }

    /// Tokens that it is taken for, the protocol's reserve included.
    pub(crate) fn estimated_tokens(&self) -> u64 {
        self.ledger.size().estimated_tokens()
    }

    /// A view of the projection as it stands, for one host call. Costs a reference count.
    pub(crate) fn budget(&self) -> ContextBudget {
        ContextBudget::new(Arc::clone(&self.ledger))
    }

    /// Adds a history entry that shows no state, whether it fits or not.
    pub(crate) fn append(&mut self, text: String) {
        let change = Change { updates: Vec::new(), result: text, displayed: Vec::new() };
        let plan = self.plan(&change);
        self.commit(plan, change);
    }

    /// Makes the change if what comes of it fits; else nothing happens and the answer is false.
    pub(crate) fn accept(&mut self, change: Change) -> bool {
        let plan = self.plan(&change);
        let fits = self.ledger.admits(plan.size);
        if fits {
            self.commit(plan, change);
        }
        fits
    }

    /// The whole text: sections joined by one blank line.
    pub(crate) fn render(&self) -> String {
        let lead = self.lead.iter().map(String::as_str);
        let history = self.history.iter().map(HistoryEntry::text);
        let states = self.states.values().filter(|state| !self.ledger.is_shown(&state.key));
        let sections = lead.chain(history).chain(states.map(|state| state.text.as_str()));
        join_sections(sections.filter(|text| !text.is_empty()))
    }

    fn plan(&self, change: &Change) -> Plan {
        let mut draft = Draft::new(&self.ledger);
        for update in &change.updates {
            draft.update(&update.key, update.text.as_deref().map(Size::of));
        }
        draft.append(Size::of(&change.result), display_set(&change.displayed));
        draft.into_plan()
    }

    fn commit(&mut self, plan: Plan, change: Change) {
        for (set, marker) in &plan.dissolved {
            self.mark(set, *marker);
        }
        for update in change.updates {
            self.set_state(update);
        }
        if let Some((_, set)) = plan.entry.as_ref().filter(|(_, set)| !set.is_empty()) {
            self.shown.entry(Arc::clone(set)).or_default().push(self.history.len());
        }
        self.history.push(HistoryEntry::Text(change.result));
        // Copies only while a host holds on to an older budget, and then lengths, never texts.
        Arc::make_mut(&mut self.ledger).commit(plan);
    }

    fn mark(&mut self, set: &DisplaySet, marker: Marker) {
        for entry in self.shown.remove(set).unwrap_or_default() {
            self.history[entry] = HistoryEntry::Outdated(marker);
        }
    }

    fn set_state(&mut self, update: StateUpdate) {
        if let Some(earlier) = self.last_update.remove(update.key.as_str()) {
            self.states.remove(&earlier);
        }
        let Some(text) = update.text else { return };
        let key: Arc<str> = update.key.into();
        self.updates += 1;
        self.last_update.insert(Arc::clone(&key), self.updates);
        self.states.insert(self.updates, State { key, text });
    }
}

impl HistoryEntry {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Outdated(marker) => marker.text(),
        }
    }
}

fn join_sections<'a>(sections: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for section in sections {
        if !text.is_empty() {
            text.push_str(SEPARATOR);
        }
        text.push_str(section);
    }
    text
}

#[cfg(test)]
mod tests;

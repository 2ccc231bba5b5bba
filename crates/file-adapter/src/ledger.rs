//! Decides what the records say together, and which new record may follow them.
//!
//! Pure: knows no file and no process. Invariant: a turn is opened once, each request noted once,
//! and settled once; the same value again changes nothing.
//!
//! New changes are judged strictly. Records that are read back count even when the opening of their
//! turn was lost with a damaged line: a settled receipt is whole without it.

use std::collections::{BTreeMap, HashMap};

use runtime_ports::{RequestMeter, UsageReceipt};
use uuid::Uuid;

use crate::{
    failure::FileError,
    record::{Change, Record},
};

/// A turn, from its first record to its last.
#[derive(Debug)]
struct Turn {
    owner: Uuid,
    /// With its place among the openings.
    opened: Option<(u64, UsageReceipt)>,
    /// By ordinal, ascending.
    noted: Vec<(u32, RequestMeter)>,
    /// With its place among the settlings.
    settled: Option<(usize, UsageReceipt)>,
}

/// All turns.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    turns: HashMap<Uuid, Turn>,
    openings: u64,
    /// Open turns, by their place among the openings.
    open: BTreeMap<u64, Uuid>,
    /// Settled turns, in the order of settling.
    settled: Vec<Uuid>,
}

/// Whether a change is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Novelty {
    New,
    Repeated,
}

impl Ledger {
    /// Whether `change` may be recorded.
    pub(crate) fn judge(&self, change: &Change) -> Result<Novelty, FileError> {
        let turn = self.turns.get(&change.turn());
        match change {
            Change::Opened { receipt } => match turn.and_then(|turn| turn.opened.as_ref()) {
                None => Ok(Novelty::New),
                Some((_, opened)) => same(opened, receipt),
            },
            Change::Noted { ordinal, meter, .. } => {
                let turn = turn.ok_or(FileError::UnknownTurn)?;
                match (turn.noted_at(*ordinal), &turn.settled) {
                    (Ok(at), _) => same(&turn.noted[at].1, meter),
                    (Err(_), None) => Ok(Novelty::New),
                    (Err(_), Some(_)) => Err(FileError::Conflict),
                }
            }
            Change::Settled { receipt } => match &turn.ok_or(FileError::UnknownTurn)?.settled {
                None => Ok(Novelty::New),
                Some((_, settled)) => same(settled, receipt),
            },
        }
    }

    /// Takes a record over. One that contradicts those before it is refused.
    pub(crate) fn apply(&mut self, record: Record) -> Result<(), FileError> {
        match self.judge(&record.change) {
            Ok(Novelty::Repeated) => return Ok(()),
            Ok(Novelty::New) | Err(FileError::UnknownTurn) => {}
            Err(contradiction) => return Err(contradiction),
        }
        let id = record.change.turn();
        let turn = self.turns.entry(id).or_insert_with(|| Turn::of(record.owner));
        match record.change {
            Change::Opened { receipt } => {
                turn.owner = record.owner;
                turn.opened = Some((self.openings, receipt));
                if turn.settled.is_none() {
                    self.open.insert(self.openings, id);
                }
                self.openings += 1;
            }
            Change::Noted { ordinal, meter, .. } => {
                let at = turn.noted_at(ordinal).unwrap_or_else(|at| at);
                turn.noted.insert(at, (ordinal, meter));
            }
            Change::Settled { receipt } => {
                turn.settled = Some((self.settled.len(), receipt));
                self.settled.push(id);
                if let Some((place, _)) = &turn.opened {
                    self.open.remove(place);
                }
            }
        }
        Ok(())
    }

    /// Who opened the turn that a change is about.
    pub(crate) fn owner_of(&self, change: &Change) -> Option<Uuid> {
        self.turns.get(&change.turn()).map(|turn| turn.owner)
    }

    /// How many turns are open.
    pub(crate) fn open_count(&self) -> usize {
        self.open.len()
    }

    /// Open turns with their owners, oldest first, each with the requests that were noted.
    pub(crate) fn open_turns(&self) -> impl Iterator<Item = (Uuid, UsageReceipt)> {
        let turns = self.open.values().filter_map(|id| self.turns.get(id));
        turns.filter_map(|turn| {
            let mut receipt = turn.opened.as_ref()?.1.clone();
            receipt.requests = turn.noted.iter().map(|(_, meter)| meter.clone()).collect();
            Some((turn.owner, receipt))
        })
    }

    /// Settled receipts, in the order of settling.
    pub(crate) fn settled(&self) -> impl Iterator<Item = &UsageReceipt> {
        self.settled_from(0)
    }

    /// A page of settled receipts.
    pub(crate) fn page(
        &self,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<UsageReceipt>, FileError> {
        let start = after.map_or(Ok(0), |id| self.place_after(id))?;
        Ok(self.settled_from(start).take(limit).cloned().collect())
    }

    fn settled_from(&self, start: usize) -> impl Iterator<Item = &UsageReceipt> {
        let turns = self.settled[start..].iter().filter_map(|id| self.turns.get(id));
        turns.filter_map(|turn| turn.settled.as_ref().map(|(_, receipt)| receipt))
    }

    fn place_after(&self, id: Uuid) -> Result<usize, FileError> {
        let settled = self.turns.get(&id).and_then(|turn| turn.settled.as_ref());
        settled.map(|(place, _)| place + 1).ok_or(FileError::UnknownPosition)
    }
}

impl Turn {
    const fn of(owner: Uuid) -> Self {
        Self { owner, opened: None, noted: Vec::new(), settled: None }
    }

    fn noted_at(&self, ordinal: u32) -> Result<usize, usize> {
        self.noted.binary_search_by_key(&ordinal, |(noted, _)| *noted)
    }
}

impl Change {
    fn turn(&self) -> Uuid {
        match self {
            Self::Opened { receipt } | Self::Settled { receipt } => receipt.operation_id,
            Self::Noted { turn, .. } => *turn,
        }
    }
}

fn same<T: PartialEq>(known: &T, offered: &T) -> Result<Novelty, FileError> {
    if known == offered { Ok(Novelty::Repeated) } else { Err(FileError::Conflict) }
}

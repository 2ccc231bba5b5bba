//! Decides what the records say together, and which new record may follow them.
//!
//! Pure: knows no file and no process. Invariant: a turn is opened once, each request noted once,
//! and settled once; the same value again changes nothing.

use std::collections::{BTreeMap, HashMap};

use runtime_ports::{RequestMeter, UsageReceipt};
use uuid::Uuid;

use crate::{
    failure::FileError,
    record::{Change, Record},
};

/// A line of the file that could not be used. It is left in place, and the others count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Number of the line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// A turn, from its first record to its last.
#[derive(Debug)]
struct Turn {
    owner: Uuid,
    opened: UsageReceipt,
    noted: BTreeMap<u32, RequestMeter>,
    settled: Option<UsageReceipt>,
}

/// All turns.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    turns: HashMap<Uuid, Turn>,
    opened_order: Vec<Uuid>,
    settled_order: Vec<Uuid>,
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
        match change {
            Change::Opened { receipt } => match self.turns.get(&receipt.operation_id) {
                None => Ok(Novelty::New),
                Some(turn) => same(&turn.opened, receipt),
            },
            Change::Noted { turn, ordinal, meter } => {
                let known = self.turns.get(turn).ok_or(FileError::UnknownTurn)?;
                match (known.noted.get(ordinal), &known.settled) {
                    (Some(noted), _) => same(noted, meter),
                    (None, None) => Ok(Novelty::New),
                    (None, Some(_)) => Err(FileError::Conflict),
                }
            }
            Change::Settled { receipt } => {
                let turn = self.turns.get(&receipt.operation_id).ok_or(FileError::UnknownTurn)?;
                turn.settled.as_ref().map_or(Ok(Novelty::New), |settled| same(settled, receipt))
            }
        }
    }

    /// Takes a record over. One that contradicts those before it is refused.
    pub(crate) fn apply(&mut self, record: Record) -> Result<(), FileError> {
        if self.judge(&record.change)? == Novelty::Repeated {
            return Ok(());
        }
        match record.change {
            Change::Opened { receipt } => {
                let id = receipt.operation_id;
                let (noted, settled) = (BTreeMap::new(), None);
                self.opened_order.push(id);
                let turn = Turn { owner: record.owner, opened: receipt, noted, settled };
                self.turns.insert(id, turn);
            }
            Change::Noted { turn, ordinal, meter } => {
                let turn = self.turns.get_mut(&turn).ok_or(FileError::UnknownTurn)?;
                turn.noted.insert(ordinal, meter);
            }
            Change::Settled { receipt } => {
                let id = receipt.operation_id;
                self.settled_order.push(id);
                let turn = self.turns.get_mut(&id).ok_or(FileError::UnknownTurn)?;
                turn.settled = Some(receipt);
            }
        }
        Ok(())
    }

    /// Who opened a turn.
    pub(crate) fn owner_of(&self, change: &Change) -> Option<Uuid> {
        let id = match change {
            Change::Opened { .. } => return None,
            Change::Noted { turn, .. } => turn,
            Change::Settled { receipt } => &receipt.operation_id,
        };
        self.turns.get(id).map(|turn| turn.owner)
    }

    /// Open turns with their owners, oldest first, each with the requests that were noted.
    pub(crate) fn open_turns(&self) -> impl Iterator<Item = (Uuid, UsageReceipt)> {
        let turns = self.opened_order.iter().filter_map(|id| self.turns.get(id));
        turns.filter(|turn| turn.settled.is_none()).map(|turn| {
            let mut receipt = turn.opened.clone();
            receipt.requests = turn.noted.values().cloned().collect();
            (turn.owner, receipt)
        })
    }

    /// Settled receipts, in the order of settling.
    pub(crate) fn settled(&self) -> impl Iterator<Item = &UsageReceipt> {
        let turns = self.settled_order.iter().filter_map(|id| self.turns.get(id));
        turns.filter_map(|turn| turn.settled.as_ref())
    }

    /// A page of settled receipts.
    pub(crate) fn page(
        &self,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<UsageReceipt>, FileError> {
        let start = match after {
            None => 0,
            Some(id) => {
                let known = self.settled_order.iter().position(|settled| *settled == id);
                known.ok_or(FileError::UnknownPosition)? + 1
            }
        };
        Ok(self.settled().skip(start).take(limit).cloned().collect())
    }
}

fn same<T: PartialEq>(known: &T, offered: &T) -> Result<Novelty, FileError> {
    if known == offered { Ok(Novelty::Repeated) } else { Err(FileError::Conflict) }
}

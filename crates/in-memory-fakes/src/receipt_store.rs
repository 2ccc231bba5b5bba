//! Decides how receipts are kept in memory, with owners that can die.
//!
//! Knows nothing about who writes them. Invariant: an open turn is shown as unsettled only when
//! its owner is dead, and a dead owner writes nothing any more.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;
use runtime_ports::{
    OperationContext, PortFailure, PortFailureKind, ReceiptStore, ReceiptTotals, RequestMeter,
    TurnEnd, UsageReceipt, UtcDay,
};
use uuid::Uuid;

use crate::fake_port::{FakePort, fake_port};

/// A [`ReceiptStore`] in memory. Clones share the memory and the owner.
///
/// Names for a [`FaultPlan`](crate::FaultPlan): `receipts.open`, `receipts.note_request`,
/// `receipts.settle`, `receipts.unsettled`, `receipts.list`, `receipts.totals`.
#[derive(Clone)]
pub struct FakeReceiptStore {
    port: FakePort<Ledger, ReceiptCall>,
    owner: Owner,
}

/// What a [`FakeReceiptStore`] was asked.
#[derive(Debug, Clone, PartialEq)]
pub enum ReceiptCall {
    /// Open this turn.
    Open(UsageReceipt),
    /// Note a request of a turn.
    NoteRequest(Uuid, u32, RequestMeter),
    /// Settle a turn with this.
    Settle(UsageReceipt),
    /// Give the open turns of dead owners.
    Unsettled,
    /// Give at most so many receipts after this one.
    List(Option<Uuid>, usize),
    /// Sum a day.
    Totals(UtcDay),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Owner(u64);

struct Ledger {
    owners: u64,
    dead: BTreeSet<Owner>,
    turns: HashMap<Uuid, Turn>,
    opened: Vec<Uuid>,
    settled: Vec<Uuid>,
}

struct Turn {
    owner: Owner,
    opened: UsageReceipt,
    requests: BTreeMap<u32, RequestMeter>,
    settled: Option<UsageReceipt>,
}

fake_port!(FakeReceiptStore, ReceiptCall);

impl FakeReceiptStore {
    /// An empty store with one living owner.
    #[must_use]
    pub fn new() -> Self {
        let ledger = Ledger {
            owners: 1,
            dead: BTreeSet::new(),
            turns: HashMap::new(),
            opened: Vec::new(),
            settled: Vec::new(),
        };
        Self { port: FakePort::new(ledger), owner: Owner(0) }
    }

    /// The owner of this handle dies, and a new one opens the same memory: `unsettled` shows what
    /// the dead one left open. The handles of the dead one fail with `Unavailable` from now on.
    #[must_use]
    pub fn reopen_after_crash(&self) -> Self {
        self.port.world().dead.insert(self.owner);
        self.another_owner()
    }

    /// A second living owner of the same memory; its calls are recorded apart from those of this
    /// one.
    #[must_use]
    pub fn another_owner(&self) -> Self {
        let mut ledger = self.port.world();
        let owner = Owner(ledger.owners);
        ledger.owners += 1;
        drop(ledger);
        Self { port: self.port.another_door(), owner }
    }

    /// Every settled receipt, in the order of settling.
    #[must_use]
    pub fn settled(&self) -> Vec<UsageReceipt> {
        self.port.world().settled_receipts().cloned().collect()
    }

    /// Every turn that is open, whoever owns it, with the requests that were noted.
    #[must_use]
    pub fn open_turns(&self) -> Vec<UsageReceipt> {
        self.port.world().open_receipts(|_| true)
    }

    async fn perform<T>(
        &self,
        operation: &OperationContext,
        name: &str,
        call: ReceiptCall,
        effect: impl FnOnce(&mut Ledger) -> Result<T, PortFailure>,
    ) -> Result<T, PortFailure> {
        let owner = self.owner;
        let alive = move |ledger: &mut Ledger| {
            ledger.require_alive(owner)?;
            effect(ledger)
        };
        self.port.call(operation, name, call, alive).await
    }
}

impl Default for FakeReceiptStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Ledger {
    fn require_alive(&self, owner: Owner) -> Result<(), PortFailure> {
        if self.dead.contains(&owner) {
            let message = "this owner is dead; use the handle that was opened after the crash";
            return Err(refused(PortFailureKind::Unavailable, "RECEIPT_OWNER_DEAD", message));
        }
        Ok(())
    }

    fn open(&mut self, owner: Owner, opened: UsageReceipt) -> Result<(), PortFailure> {
        if !opened.requests.is_empty() || opened.end != TurnEnd::Interrupted {
            let message = "an opened receipt has no requests and the end `interrupted`";
            return Err(refused(PortFailureKind::Invalid, "RECEIPT_NOT_OPEN", message));
        }
        let id = opened.operation_id;
        if let Some(turn) = self.turns.get(&id) {
            return same_or_conflict(turn.opened == opened);
        }
        let (requests, settled) = (BTreeMap::new(), None);
        self.turns.insert(id, Turn { owner, opened, requests, settled });
        self.opened.push(id);
        Ok(())
    }

    fn turn(&mut self, id: Uuid) -> Result<&mut Turn, PortFailure> {
        self.turns.get_mut(&id).ok_or_else(|| {
            let message = "no such turn was opened; open it first";
            refused(PortFailureKind::NotFound, "RECEIPT_NOT_FOUND", message)
        })
    }

    fn note(&mut self, id: Uuid, ordinal: u32, meter: RequestMeter) -> Result<(), PortFailure> {
        let turn = self.turn(id)?;
        match turn.requests.get(&ordinal) {
            Some(noted) => same_or_conflict(*noted == meter),
            None if turn.settled.is_some() => same_or_conflict(false),
            None => {
                turn.requests.insert(ordinal, meter);
                Ok(())
            }
        }
    }

    fn settle(&mut self, receipt: UsageReceipt) -> Result<(), PortFailure> {
        let id = receipt.operation_id;
        let turn = self.turn(id)?;
        if let Some(settled) = &turn.settled {
            return same_or_conflict(*settled == receipt);
        }
        turn.settled = Some(receipt);
        self.settled.push(id);
        Ok(())
    }

    fn open_receipts(&self, of: impl Fn(Owner) -> bool) -> Vec<UsageReceipt> {
        let turns = self.opened.iter().filter_map(|id| self.turns.get(id));
        let open = turns.filter(|turn| turn.settled.is_none() && of(turn.owner));
        open.map(Turn::as_far_as_known).collect()
    }

    fn settled_receipts(&self) -> impl Iterator<Item = &UsageReceipt> {
        self.settled.iter().filter_map(|id| self.turns.get(id)?.settled.as_ref())
    }

    fn page(&self, after: Option<Uuid>, limit: usize) -> Result<Vec<UsageReceipt>, PortFailure> {
        let start = match after {
            None => 0,
            Some(after) => 1 + self.position(after)?,
        };
        Ok(self.settled_receipts().skip(start).take(limit).cloned().collect())
    }

    fn position(&self, settled: Uuid) -> Result<usize, PortFailure> {
        self.settled.iter().position(|id| *id == settled).ok_or_else(|| {
            let message = "no settled receipt has this id; list from the start";
            refused(PortFailureKind::NotFound, "RECEIPT_NOT_FOUND", message)
        })
    }

    fn totals(&self, day: UtcDay) -> Vec<ReceiptTotals> {
        let of_day = |receipt: &&UsageReceipt| UtcDay::from_unix_ms(receipt.started_at_ms) == day;
        ReceiptTotals::sum(self.settled_receipts().filter(of_day))
    }
}

impl Turn {
    fn as_far_as_known(&self) -> UsageReceipt {
        let requests = self.requests.values().cloned().collect();
        UsageReceipt { requests, ..self.opened.clone() }
    }
}

fn same_or_conflict(same: bool) -> Result<(), PortFailure> {
    if same {
        return Ok(());
    }
    let message = "another value is recorded under this id; read it before you decide";
    Err(refused(PortFailureKind::Conflict, "RECEIPT_CONFLICT", message))
}

fn refused(kind: PortFailureKind, code: &str, message: &str) -> PortFailure {
    PortFailure::rejected(kind, code, message)
}

#[async_trait]
impl ReceiptStore for FakeReceiptStore {
    async fn open(
        &self,
        operation: &OperationContext,
        opened: UsageReceipt,
    ) -> Result<(), PortFailure> {
        let (owner, call) = (self.owner, ReceiptCall::Open(opened.clone()));
        self.perform(operation, "receipts.open", call, |ledger| ledger.open(owner, opened)).await
    }

    async fn note_request(
        &self,
        operation: &OperationContext,
        turn: Uuid,
        ordinal: u32,
        meter: RequestMeter,
    ) -> Result<(), PortFailure> {
        let call = ReceiptCall::NoteRequest(turn, ordinal, meter.clone());
        let effect = |ledger: &mut Ledger| ledger.note(turn, ordinal, meter);
        self.perform(operation, "receipts.note_request", call, effect).await
    }

    async fn settle(
        &self,
        operation: &OperationContext,
        receipt: UsageReceipt,
    ) -> Result<(), PortFailure> {
        let call = ReceiptCall::Settle(receipt.clone());
        self.perform(operation, "receipts.settle", call, |ledger| ledger.settle(receipt)).await
    }

    async fn unsettled(
        &self,
        operation: &OperationContext,
    ) -> Result<Vec<UsageReceipt>, PortFailure> {
        let of_the_dead =
            |ledger: &mut Ledger| Ok(ledger.open_receipts(|owner| ledger.dead.contains(&owner)));
        self.perform(operation, "receipts.unsettled", ReceiptCall::Unsettled, of_the_dead).await
    }

    async fn list(
        &self,
        operation: &OperationContext,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<UsageReceipt>, PortFailure> {
        let call = ReceiptCall::List(after, limit);
        self.perform(operation, "receipts.list", call, |ledger| ledger.page(after, limit)).await
    }

    async fn totals(
        &self,
        operation: &OperationContext,
        utc_day: UtcDay,
    ) -> Result<Vec<ReceiptTotals>, PortFailure> {
        let call = ReceiptCall::Totals(utc_day);
        self.perform(operation, "receipts.totals", call, |ledger| Ok(ledger.totals(utc_day))).await
    }
}

//! Decides which turns run, which operations are cancelled, and that every started turn is settled
//! once.
//!
//! Knows nothing about the steps of a script beyond how far they were played. Invariant: a turn is
//! in the list of receipts exactly once, from the moment it ends.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use runtime_ports::{
    AgentContinuation, Metering, Price, RequestMeter, ResolvedAgentModel, TokenUsage, TurnEnd,
    TurnStart, UsageReceipt,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{RecordedAnswer, TurnScript, turn_requests::TurnRequests};

/// 2026-11-30, 00:00 UTC: when every fake begins.
const EPOCH_UNIX_MS: u64 = 1_795_996_800_000;

/// A turn that started: what it was asked, how far it came, and its receipt.
pub(crate) struct TurnRecord {
    pub(crate) number: usize,
    pub(crate) start: TurnStart,
    pub(crate) model: ResolvedAgentModel,
    pub(crate) price: Option<Price>,
    pub(crate) script: TurnScript,
    pub(crate) cancellation: CancellationToken,
    pub(crate) receipt: OnceLock<UsageReceipt>,
    started_at_ms: u64,
    progress: Mutex<Progress>,
}

/// What is known of a turn while it runs.
#[derive(Default)]
pub(crate) struct Progress {
    pub(crate) played: usize,
    pub(crate) stalled: bool,
    pub(crate) request_left: bool,
    pub(crate) usage: Option<TokenUsage>,
    pub(crate) requests: TurnRequests,
    pub(crate) thread_id: Option<String>,
    pub(crate) reality: Vec<String>,
}

/// Everything that a fake intelligence knows about its turns.
pub(crate) struct TurnLedger {
    pub(crate) asked: Vec<TurnStart>,
    pub(crate) turns: Vec<Arc<TurnRecord>>,
    pub(crate) answers: Vec<RecordedAnswer>,
    pub(crate) receipts: Vec<UsageReceipt>,
    pub(crate) threads: HashSet<String>,
    known: HashSet<Uuid>,
    pub(crate) breaches: Vec<String>,
    parents: HashMap<Uuid, Uuid>,
    canceled: HashSet<Uuid>,
    began: Instant,
}

/// What a new turn is made of.
pub(crate) struct NewTurn {
    pub(crate) start: TurnStart,
    pub(crate) model: ResolvedAgentModel,
    pub(crate) price: Option<Price>,
    pub(crate) script: TurnScript,
}

impl TurnRecord {
    pub(crate) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(&self, happened: impl Into<String>) {
        self.progress().reality.push(happened.into());
    }

    pub(crate) const fn id(&self) -> Uuid {
        self.start.operation_id
    }

    /// Whether a step was never reached that had to be. A stall is played once it is reached.
    pub(crate) fn lacks_play(&self) -> bool {
        let progress = self.progress();
        let reached = progress.played + usize::from(progress.stalled);
        !self.script.is_optional() && reached < self.script.steps().len()
    }

    fn is_open(&self) -> bool {
        self.receipt.get().is_none()
    }

    fn write_receipt(&self, end: TurnEnd, now_ms: u64) -> UsageReceipt {
        let progress = self.progress();
        let usage = progress.usage.or(self.script.receipt_usage());
        let metering = usage.map_or(Metering::Unavailable, Metering::Tokens);
        let is_whole = end == TurnEnd::Completed && usage.is_some();
        let price = self.price.as_ref().filter(|_| is_whole);
        let cost_nano_usd = price.zip(usage).and_then(|(price, usage)| price.cost_nano_usd(&usage));
        let provider_request_id = Some(format!("fake-request-{}", self.number));
        let request = RequestMeter { provider_request_id, metering, end, cost_nano_usd };
        let mut receipt = UsageReceipt {
            version: UsageReceipt::VERSION,
            operation_id: self.id(),
            parent_operation_id: self.start.parent_operation_id,
            user_id: self.start.user_id.clone(),
            requested_model: self.start.request.model.clone(),
            provider: self.model.provider.clone(),
            provider_model: self.model.provider_model.clone(),
            thread_id: progress.thread_id.clone(),
            started_at_ms: self.started_at_ms,
            ended_at_ms: now_ms,
            end,
            requests: progress.request_left.then_some(request).into_iter().collect(),
            metering,
            is_lower_bound: progress.request_left && !is_whole,
            cost_nano_usd,
            losses: Vec::new(),
        };
        if self.script.lists_requests() {
            progress.requests.account(&mut receipt);
        }
        receipt
    }
}

impl TurnLedger {
    pub(crate) fn new() -> Self {
        Self {
            asked: Vec::new(),
            turns: Vec::new(),
            answers: Vec::new(),
            receipts: Vec::new(),
            threads: HashSet::new(),
            known: HashSet::new(),
            breaches: Vec::new(),
            parents: HashMap::new(),
            canceled: HashSet::new(),
            began: Instant::now(),
        }
    }

    /// Whether `id` names a turn that was started, ended or not.
    pub(crate) fn knows(&self, id: Uuid) -> bool {
        self.known.contains(&id)
    }

    /// Whether the operation, or one that caused it, was cancelled.
    pub(crate) fn is_canceled(&self, id: Uuid, parent: Option<Uuid>) -> bool {
        self.canceled.contains(&id) || parent.is_some_and(|parent| self.lineage_is_canceled(parent))
    }

    pub(crate) fn open(&mut self, new: NewTurn) -> Arc<TurnRecord> {
        let turn = Arc::new(TurnRecord {
            number: self.turns.len() + 1,
            start: new.start,
            model: new.model,
            price: new.price,
            script: new.script,
            cancellation: CancellationToken::new(),
            receipt: OnceLock::new(),
            started_at_ms: self.now_unix_ms(),
            progress: Mutex::default(),
        });
        if let Some(parent) = turn.start.parent_operation_id {
            self.parents.insert(turn.id(), parent);
        }
        let thread = turn.start.continuation.as_ref().map(|thread| thread.thread_id.clone());
        turn.progress().thread_id = thread;
        self.known.insert(turn.id());
        self.turns.push(Arc::clone(&turn));
        turn
    }

    /// Settles the turn unless it is settled; gives the one receipt either way.
    pub(crate) fn settle(&mut self, turn: &TurnRecord, end: TurnEnd) -> UsageReceipt {
        if let Some(settled) = turn.receipt.get() {
            return settled.clone();
        }
        let now_ms = self.now_unix_ms();
        let receipt = turn.receipt.get_or_init(|| turn.write_receipt(end, now_ms)).clone();
        turn.note(format!("settled as {end:?}"));
        self.receipts.push(receipt.clone());
        receipt
    }

    /// Cancels an operation and all that it caused. True if a turn was running.
    pub(crate) fn cancel(&mut self, operation: Uuid) -> bool {
        self.canceled.insert(operation);
        let open =
            self.turns.iter().filter(|turn| turn.is_open() && self.lineage_is_canceled(turn.id()));
        let hit: Vec<_> = open.cloned().collect();
        for turn in &hit {
            self.settle(turn, TurnEnd::Cancelled);
            turn.cancellation.cancel();
        }
        !hit.is_empty()
    }

    /// Names the thread of a turn that completes, if it has one.
    pub(crate) fn name_thread(&mut self, turn: &TurnRecord) -> Option<AgentContinuation> {
        if turn.start.request.ephemeral || !turn.script.has_thread() {
            return None;
        }
        let mut progress = turn.progress();
        let fresh = || format!("fake-thread-{}", turn.number);
        let thread_id = progress.thread_id.get_or_insert_with(fresh).clone();
        self.threads.insert(thread_id.clone());
        let (provider, provider_model) =
            (turn.model.provider.clone(), turn.model.provider_model.clone());
        Some(AgentContinuation { provider, provider_model, thread_id })
    }

    /// Unix time on tokio's clock, so that paused time governs it.
    fn now_unix_ms(&self) -> u64 {
        let elapsed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        EPOCH_UNIX_MS.saturating_add(elapsed)
    }

    fn lineage_is_canceled(&self, operation: Uuid) -> bool {
        let mut lineage =
            std::iter::successors(Some(operation), |id| self.parents.get(id).copied());
        // A caller may name its own child as parent: the walk is bounded by what is known.
        lineage.by_ref().take(self.parents.len() + 1).any(|id| self.canceled.contains(&id))
    }
}

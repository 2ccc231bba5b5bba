//! Decides which model serves, which script a turn gets, and whether all of them were played.
//!
//! Knows nothing about how a turn is played. Invariant: what a real intelligence would refuse
//! before sending anything is refused here too, without using up a script.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use runtime_ports::{
    AgentProvider, AgentTurn, Intelligence, Interruption, PortFailure, PortFailureKind, Price,
    ResolvedAgentModel, ToolResult, TurnEnd, TurnFailure, TurnStart, UsageReceipt,
};
use uuid::Uuid;

use crate::{
    TurnScript,
    turn::{FakeTurn, lock},
    turn_ledger::{NewTurn, TurnLedger},
    turn_script::Beginning,
};

/// An answer that a turn took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAnswer {
    /// The turn, by its operation id.
    pub turn: Uuid,
    /// The call.
    pub call_id: String,
    /// The answer.
    pub result: ToolResult,
}

/// A model of the fake's catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FakeAgentModel {
    /// Its exact identifier; also its name in the provider's words.
    pub id: String,
    /// Another name that resolves to it.
    pub alias: Option<String>,
    /// Who serves it.
    pub provider: AgentProvider,
    /// Tokens of prompt and answer together.
    pub context_window_tokens: u64,
    /// Most tokens of prompt.
    pub max_input_tokens: u64,
    /// What tokens cost; `None`: receipts have no cost.
    pub price: Option<Price>,
}

impl FakeAgentModel {
    /// A model of provider `fake` with a window of 128,000 tokens, 100,000 of them for the prompt,
    /// and no price.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            alias: None,
            provider: AgentProvider::new("fake"),
            context_window_tokens: 128_000,
            max_input_tokens: 100_000,
            price: None,
        }
    }

    /// The same model under one more name.
    #[must_use]
    pub fn alias(mut self, alias: impl Into<String>) -> Self {
        self.alias = Some(alias.into());
        self
    }

    /// The same model with these windows, in tokens.
    #[must_use]
    pub const fn windows(mut self, context: u64, max_input: u64) -> Self {
        self.context_window_tokens = context;
        self.max_input_tokens = max_input;
        self
    }

    fn answers_to(&self, name: &str) -> bool {
        self.id == name || self.alias.as_deref() == Some(name)
    }

    fn resolved(&self, requested: &str) -> ResolvedAgentModel {
        ResolvedAgentModel {
            requested_model: requested.to_owned(),
            provider_model: self.id.clone(),
            provider: self.provider.clone(),
            context_window_tokens: self.context_window_tokens,
            max_input_tokens: self.max_input_tokens,
        }
    }
}

/// An [`Intelligence`] whose turns follow scripts, one script a start, in order.
///
/// Its catalogue holds `fake-model` (alias `fake`) unless models are given. It keeps the ledger:
/// every started turn is settled once, a dropped one as interrupted. A turn without a timeout
/// waits 30 minutes for its provider. Clones share everything.
///
/// # Panics
/// The test fails with script and reality side by side: at once when a turn is asked for more than
/// its script has, gets another answer than expected, or starts without a script; when the last
/// clone is dropped, or in [`Self::assert_script_done`], when a script that is not
/// [optional](TurnScript::optional) was not played to its end.
///
/// # Examples
/// ```
/// use in_memory_fakes::{FakeIntelligence, TurnScript};
/// use runtime_ports::Intelligence;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let intelligence = FakeIntelligence::new([TurnScript::new().complete("done").optional()]);
/// let model = intelligence.resolve_agent_model("fake").await.unwrap();
/// assert_eq!(model.provider_model, "fake-model");
/// assert!(intelligence.receipts().is_empty());
/// # }
/// ```
#[derive(Clone)]
pub struct FakeIntelligence(Arc<Played>);

struct Played {
    models: Vec<FakeAgentModel>,
    scripts: Mutex<Scripts>,
    ledger: Arc<Mutex<TurnLedger>>,
}

struct Scripts {
    left: std::vec::IntoIter<TurnScript>,
    served: usize,
}

impl FakeIntelligence {
    /// A fake with the default catalogue that plays these scripts.
    pub fn new(scripts: impl IntoIterator<Item = TurnScript>) -> Self {
        Self::serving([FakeAgentModel::new("fake-model").alias("fake")], scripts)
    }

    /// A fake with this catalogue that plays these scripts.
    pub fn serving(
        models: impl IntoIterator<Item = FakeAgentModel>,
        scripts: impl IntoIterator<Item = TurnScript>,
    ) -> Self {
        let left = scripts.into_iter().collect::<Vec<_>>().into_iter();
        Self(Arc::new(Played {
            models: models.into_iter().collect(),
            scripts: Mutex::new(Scripts { left, served: 0 }),
            ledger: Arc::new(Mutex::new(TurnLedger::new())),
        }))
    }

    /// The same fake, which knows a thread from before.
    #[must_use]
    pub fn with_thread(self, thread_id: impl Into<String>) -> Self {
        lock(&self.0.ledger).threads.insert(thread_id.into());
        self
    }

    /// Every start that was asked for, refused ones included, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<TurnStart> {
        lock(&self.0.ledger).asked.clone()
    }

    /// Every start that began a turn, in order.
    #[must_use]
    pub fn started(&self) -> Vec<TurnStart> {
        lock(&self.0.ledger).turns.iter().map(|turn| turn.start.clone()).collect()
    }

    /// Every answer that was taken, in order.
    #[must_use]
    pub fn answers(&self) -> Vec<RecordedAnswer> {
        lock(&self.0.ledger).answers.clone()
    }

    /// The receipts of settled turns, in the order of settling.
    #[must_use]
    pub fn receipts(&self) -> Vec<UsageReceipt> {
        lock(&self.0.ledger).receipts.clone()
    }

    /// Asserts that every started turn has exactly one receipt, and nothing else has one.
    ///
    /// # Panics
    /// When it is not so.
    pub fn assert_one_receipt_per_turn(&self) {
        let ledger = lock(&self.0.ledger);
        let mut started: Vec<Uuid> = ledger.turns.iter().map(|turn| turn.id()).collect();
        let mut settled: Vec<Uuid> =
            ledger.receipts.iter().map(|receipt| receipt.operation_id).collect();
        drop(ledger);
        started.sort_unstable();
        settled.sort_unstable();
        assert_eq!(settled, started, "receipts (left) of the turns that started (right)");
    }

    /// Asserts that all scripts were played.
    ///
    /// # Panics
    /// With script and reality, when they were not.
    pub fn assert_script_done(&self) {
        self.0.assert_done();
    }
}

impl Played {
    fn resolve(&self, requested: &str) -> Result<&FakeAgentModel, PortFailure> {
        let found = self.models.iter().find(|model| model.answers_to(requested));
        let message = "no model of that name; ask for an identifier or alias of the catalogue";
        found.ok_or_else(|| {
            PortFailure::not_sent(PortFailureKind::NotFound, "MODEL_UNKNOWN", message)
        })
    }

    /// What is refused before anything is sent.
    fn admit(&self, start: &TurnStart) -> Result<&FakeAgentModel, PortFailure> {
        let ledger = lock(&self.ledger);
        if ledger.knows(start.operation_id) {
            let message = "that operation already runs; start each turn under a fresh id";
            return Err(PortFailure::not_sent(
                PortFailureKind::Conflict,
                "OPERATION_RUNNING",
                message,
            ));
        }
        if ledger.is_canceled(start.operation_id, start.parent_operation_id) {
            return Err(Interruption::Canceled.before_sending());
        }
        let model = self.resolve(&start.request.model)?;
        admit_continuation(start, model, &ledger)?;
        Ok(model)
    }

    fn next_script(&self, start: &TurnStart) -> TurnScript {
        let mut scripts = self.scripts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(script) = scripts.left.next() {
            scripts.served += 1;
            return script;
        }
        let (served, input) = (scripts.served, &start.request.input);
        drop(scripts);
        let message = format!(
            "FakeIntelligence has no script for another turn\n\
             script: {served} turns\nreality: one more start, with input {input:?}"
        );
        lock(&self.ledger).breaches.push(message.clone());
        panic!("{message}");
    }

    fn assert_done(&self) {
        let ledger = lock(&self.ledger);
        let unfinished = ledger.turns.iter().filter(|turn| turn.lacks_play());
        let mut complaints = ledger.breaches.clone();
        complaints.extend(unfinished.map(|turn| turn.describe("was not played to its end")));
        let started = ledger.asked.len();
        drop(ledger);
        let scripts = self.scripts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let unused = scripts.left.as_slice().iter().filter(|script| !script.is_optional());
        complaints.extend(unused.map(|script| {
            format!("a turn of FakeIntelligence was never started\nscript:\n{script}reality:\n  {started} starts\n")
        }));
        drop(scripts);
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }
}

impl Drop for Played {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.assert_done();
        }
    }
}

impl fmt::Debug for FakeIntelligence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let started = lock(&self.0.ledger).turns.len();
        formatter.debug_struct("FakeIntelligence").field("turns", &started).finish()
    }
}

fn admit_continuation(
    start: &TurnStart,
    model: &FakeAgentModel,
    ledger: &TurnLedger,
) -> Result<(), PortFailure> {
    let Some(thread) = &start.continuation else { return Ok(()) };
    if thread.provider != model.provider || thread.provider_model != model.id {
        let message = "the thread belongs to another provider or model; start without it";
        return Err(PortFailure::not_sent(PortFailureKind::Invalid, "THREAD_FOREIGN", message));
    }
    if !ledger.threads.contains(&thread.thread_id) {
        let message = "that thread is not known; start without it";
        return Err(PortFailure::not_sent(PortFailureKind::NotFound, "THREAD_UNKNOWN", message));
    }
    Ok(())
}

#[async_trait]
impl Intelligence for FakeIntelligence {
    async fn resolve_agent_model(
        &self,
        requested: &str,
    ) -> Result<ResolvedAgentModel, PortFailure> {
        self.0.resolve(requested).map(|model| model.resolved(requested))
    }

    async fn start_agent_turn(&self, start: TurnStart) -> Result<Box<dyn AgentTurn>, TurnFailure> {
        lock(&self.0.ledger).asked.push(start.clone());
        let model = self.0.admit(&start).map_err(TurnFailure::refused)?;
        let script = self.0.next_script(&start);
        let beginning = script.beginning().clone();
        if let Beginning::Refused(failure) = beginning {
            return Err(TurnFailure::refused(failure));
        }
        let (price, model) = (model.price, model.resolved(&start.request.model));
        let mut ledger = lock(&self.0.ledger);
        let record = ledger.open(NewTurn { start, model, price, script });
        if let Beginning::FailsWithReceipt(failure) = beginning {
            record.progress().request_left = true;
            let receipt = Some(Box::new(ledger.settle(&record, TurnEnd::of_failure(failure.kind))));
            return Err(TurnFailure { failure, receipt });
        }
        drop(ledger);
        Ok(Box::new(FakeTurn::new(record, Arc::clone(&self.0.ledger))))
    }

    async fn cancel(&self, operation_id: Uuid) -> Result<bool, PortFailure> {
        Ok(lock(&self.0.ledger).cancel(operation_id))
    }
}

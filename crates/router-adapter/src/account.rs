//! Decides what the one receipt of a turn says.
//!
//! Knows nothing about events, threads or hosts. Invariant: the receipt is opened before anything is
//! sent, each request is noted when it ended, at the price of the model that it went to, and the
//! receipt is settled once, since settling consumes the account. It names the model that answered
//! last; requests to another one are listed in its losses.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use runtime_ports::{
    AgentProvider, CommitDisposition, Metering, ModelResponse, PortFailure, PortFailureKind, Price,
    RequestMeter, TokenUsage, TurnEnd, UsageReceipt,
};
use uuid::Uuid;

use crate::{
    candidate::Candidate,
    ledger::{Entry, Ledger},
    losses::{Befallen, LossList, Omission},
    route::Route,
    totals::{self, Totals},
};

/// The open receipt of one turn.
pub(crate) struct Account {
    ledger: Ledger,
    /// Who is asked now.
    asked: Asked,
    receipt: UsageReceipt,
    losses: LossList,
    commit: CommitDisposition,
}

/// Who is asked, at which price.
struct Asked {
    provider: AgentProvider,
    provider_model: Arc<str>,
    price: Option<Price>,
    /// In whose place, if it is not the model that was asked for.
    in_place_of: Option<String>,
}

/// Who the account is for.
pub(crate) struct Billing {
    pub(crate) operation_id: Uuid,
    pub(crate) parent_operation_id: Option<Uuid>,
    pub(crate) user_id: String,
    pub(crate) thread_id: Option<String>,
}

/// A receipt that is final, and whether the store has it.
#[derive(Debug, Clone)]
pub(crate) struct Settlement {
    pub(crate) receipt: UsageReceipt,
    pub(crate) stored: Result<(), PortFailure>,
}

impl Account {
    pub(crate) fn new(ledger: Ledger, route: &Route, billing: Billing) -> Self {
        let receipt = opened(route, billing);
        let asked = Asked::of(route.primary());
        let commit = CommitDisposition::NotCommitted;
        Self { ledger, asked, receipt, losses: LossList::default(), commit }
    }

    /// From here on `candidate` is asked, in the place of `primary` where they differ: what is noted
    /// has its price and its name.
    pub(crate) fn turn_to(&mut self, candidate: &Candidate, primary: &Candidate) {
        let is_other = (&candidate.provider, &candidate.provider_model)
            != (&primary.provider, &primary.provider_model);
        let in_place_of = is_other.then(|| primary.name());
        self.asked = Asked { in_place_of, ..Asked::of(candidate) };
    }

    /// Makes the start of the turn durable.
    ///
    /// # Errors
    /// The store's, as a refusal: nothing was sent, and nothing may be sent.
    pub(crate) async fn open(&self) -> Result<(), PortFailure> {
        let written = self.ledger.write(Entry::Opened(&self.receipt)).await;
        written.map_err(|failure| {
            let message = format!("the turn could not be recorded, nothing was sent: {failure}");
            let refusal = PortFailure::not_sent(failure.kind, "receipt_not_opened", message);
            PortFailure { retryable: failure.retryable, ..refusal }
        })
    }

    /// Takes the requests behind an answer.
    ///
    /// # Errors
    /// They could not be noted; the answer itself was paid for.
    pub(crate) async fn answered(&mut self, response: &ModelResponse) -> Result<(), PortFailure> {
        self.commit = CommitDisposition::Committed;
        self.receipt.provider = self.asked.provider.clone();
        self.receipt.provider_model = self.asked.provider_model.to_string();
        self.note(totals::meters_of_answer(response, self.asked.price)).await
    }

    /// Takes the requests behind a failure.
    ///
    /// # Errors
    /// They could not be noted.
    pub(crate) async fn failed(&mut self, failure: &PortFailure) -> Result<(), PortFailure> {
        self.commit = more_committed(self.commit, failure.commit);
        self.note(totals::meters_of_failure(failure, self.asked.price)).await
    }

    /// Takes a request that was in flight when the caller went away.
    ///
    /// # Errors
    /// It could not be noted.
    pub(crate) async fn abandoned(&mut self) -> Result<(), PortFailure> {
        self.commit = more_committed(self.commit, CommitDisposition::Unknown);
        self.note(vec![RequestMeter::unreported(TurnEnd::Interrupted)]).await
    }

    async fn note(&mut self, meters: Vec<RequestMeter>) -> Result<(), PortFailure> {
        let mut outcome = Ok(());
        for meter in meters {
            let ordinal = self.requests_made();
            self.state_substitute(ordinal);
            let turn = self.receipt.operation_id;
            let entry = Entry::Requested { turn, ordinal, meter: &meter };
            if let Err(failure) = self.ledger.write(entry).await {
                self.lose(format!("request {ordinal} could not be noted: {}", failure.code));
                outcome = Err(self.store_failure("request_not_noted", &failure));
            }
            self.receipt.requests.push(meter);
        }
        outcome
    }

    /// States in the receipt that something was lost; the same thing once.
    pub(crate) fn lose(&mut self, sentence: String) {
        self.losses.say(sentence);
    }

    /// States that a request lacks so much of something.
    pub(crate) fn omit(&mut self, omission: Omission, count: u64) {
        self.losses.omit(omission, count);
    }

    /// States that the last request is sent again, whatever came of it.
    pub(crate) fn repeat_the_last(&mut self) {
        let last = self.requests_made().saturating_sub(1);
        self.losses.befell(Befallen::Repeated, last);
    }

    fn state_substitute(&mut self, ordinal: u32) {
        if let Some(from) = self.asked.in_place_of.clone() {
            let (model, provider) = (&self.asked.provider_model, &self.asked.provider);
            let to = format!("{model} at {provider}");
            self.losses.befell(Befallen::Substituted { from, to }, ordinal);
        }
    }

    /// Requests that reached the provider so far.
    pub(crate) fn requests_made(&self) -> u32 {
        u32::try_from(self.receipt.requests.len()).unwrap_or(u32::MAX)
    }

    /// The answer with every request of the account.
    pub(crate) fn listing(&self, answer: ModelResponse) -> ModelResponse {
        ModelResponse { attempts: self.receipt.requests.clone(), ..answer }
    }

    /// Tokens of all requests so far; a field that one of them did not report is unknown.
    pub(crate) fn usage(&self) -> TokenUsage {
        let requests = self.receipt.requests.iter();
        let reports = requests.map(|request| request.metering.tokens().unwrap_or_default());
        let sum = reports.reduce(|mut sum, usage| {
            sum.add_assign(&usage);
            sum
        });
        sum.unwrap_or_default()
    }

    /// The failure as the whole turn has it: what an earlier request committed stays committed, and
    /// every request is listed.
    pub(crate) fn blame(&self, failure: PortFailure) -> PortFailure {
        let commit = more_committed(self.commit, failure.commit);
        PortFailure { commit, attempts: self.receipt.requests.clone(), ..failure }
    }

    /// A failure of the store. It has the disposition of the model calls that it was to record:
    /// whoever repeats the turn repeats them.
    fn store_failure(&self, code: &str, failure: &PortFailure) -> PortFailure {
        let message =
            format!("the receipt store failed, look at its disk and permissions: {failure}");
        let refusal = PortFailure::not_sent(failure.kind, code, message);
        PortFailure { commit: self.commit, attempts: self.receipt.requests.clone(), ..refusal }
    }

    /// Ends the turn and makes its receipt durable.
    pub(crate) async fn settle(mut self, end: TurnEnd) -> Settlement {
        self.receipt.end = end;
        self.receipt.ended_at_ms = unix_ms().max(self.receipt.started_at_ms);
        add_totals(&mut self.receipt);
        self.receipt.losses = self.losses.sentences();
        match self.ledger.write(Entry::Settled(&self.receipt)).await {
            Ok(()) => Settlement { receipt: self.receipt, stored: Ok(()) },
            Err(failure) => {
                self.lose(format!("the receipt could not be stored: {}", failure.code));
                self.receipt.losses = self.losses.sentences();
                let failure = self.store_failure("receipt_not_stored", &failure);
                Settlement { receipt: self.receipt, stored: Err(failure) }
            }
        }
    }
}

impl Asked {
    fn of(candidate: &Candidate) -> Self {
        Self {
            provider: candidate.provider.clone(),
            provider_model: Arc::clone(&candidate.provider_model),
            price: candidate.profile.price,
            in_place_of: None,
        }
    }
}

impl Settlement {
    /// What became of the turn, given what became of its receipt: one that could not be stored
    /// fails the turn, and is added to the failure of one that failed anyway.
    pub(crate) fn charged<T>(&self, course: Result<T, PortFailure>) -> Result<T, PortFailure> {
        match (course, &self.stored) {
            (course, Ok(())) => course,
            (Ok(_), Err(unstored)) => Err(unstored.clone()),
            (Err(failure), Err(unstored)) => {
                let message = format!("{}; and the receipt was lost: {unstored}", failure.message);
                Err(PortFailure { message, ..failure })
            }
        }
    }
}

/// Settles the turns that dead owners left open, with what was noted.
///
/// # Errors
/// The store's. A `Conflict` means that another process settled the turn first, which is as good.
pub(crate) async fn settle_abandoned(ledger: &Ledger) -> Result<(), PortFailure> {
    for open in ledger.unsettled().await? {
        let receipt = interrupted(open);
        match ledger.write(Entry::Settled(&receipt)).await {
            Err(failure) if failure.kind == PortFailureKind::Conflict => {
                tracing::debug!(turn = %receipt.operation_id, "settled by another process");
            }
            written => written?,
        }
    }
    Ok(())
}

fn interrupted(mut receipt: UsageReceipt) -> UsageReceipt {
    receipt.end = TurnEnd::Interrupted;
    receipt.ended_at_ms = unix_ms().max(receipt.started_at_ms);
    add_totals(&mut receipt);
    receipt.is_lower_bound = true;
    let loss = "the owner of the turn died; a request that was in flight is not counted";
    receipt.losses.push(loss.to_owned());
    receipt
}

fn add_totals(receipt: &mut UsageReceipt) {
    let totals = Totals::of(&receipt.requests);
    receipt.metering = totals.metering;
    receipt.is_lower_bound = totals.is_lower_bound;
    receipt.cost_nano_usd = totals.cost_nano_usd;
}

fn opened(route: &Route, billing: Billing) -> UsageReceipt {
    let now = unix_ms();
    UsageReceipt {
        version: UsageReceipt::VERSION,
        operation_id: billing.operation_id,
        parent_operation_id: billing.parent_operation_id,
        user_id: billing.user_id,
        requested_model: route.requested.clone(),
        provider: route.primary().provider.clone(),
        provider_model: route.primary().provider_model.to_string(),
        thread_id: billing.thread_id,
        started_at_ms: now,
        ended_at_ms: now,
        end: TurnEnd::Interrupted,
        requests: Vec::new(),
        metering: Metering::Unavailable,
        is_lower_bound: false,
        cost_nano_usd: None,
        losses: Vec::new(),
    }
}

/// Certain beats unknown, unknown beats nothing.
const fn more_committed(left: CommitDisposition, right: CommitDisposition) -> CommitDisposition {
    use CommitDisposition::{Committed, NotCommitted, Unknown};
    match (left, right) {
        (Committed, _) | (_, Committed) => Committed,
        (Unknown, _) | (_, Unknown) => Unknown,
        (NotCommitted, NotCommitted) => NotCommitted,
    }
}

fn unix_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}

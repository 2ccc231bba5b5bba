//! Decides how receipts are kept so that none is lost and none counted twice.
//!
//! Knows nothing about prices or about what a turn did.

use std::{collections::BTreeMap, fmt, str::FromStr};

use async_trait::async_trait;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;
use time::{Date, macros::format_description};
use uuid::Uuid;

use crate::{AgentProvider, OperationContext, PortFailure, RequestMeter, UsageReceipt, UsageTotal};

const JULIAN_DAY_OF_UNIX_EPOCH: i32 = 2_440_588;
const MILLIS_PER_DAY: u64 = 86_400_000;

/// A day in UTC, counted from 1970-01-01. Displays, parses and serialises as `YYYY-MM-DD`.
///
/// ```
/// use runtime_ports::UtcDay;
///
/// assert_eq!(UtcDay::from_unix_ms(1_795_996_800_000).to_string(), "2026-11-30");
/// assert_eq!("1970-01-02".parse::<UtcDay>().unwrap(), UtcDay::from_unix_ms(86_400_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcDay(Date);

/// The text is not a day in the one form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a day is written YYYY-MM-DD, from 1970-01-01 on")]
pub struct InvalidUtcDay;

impl UtcDay {
    /// The day that holds this moment; the last representable one (9999-12-31) beyond it.
    #[must_use]
    pub fn from_unix_ms(unix_ms: u64) -> Self {
        let days = i32::try_from(unix_ms / MILLIS_PER_DAY).unwrap_or(i32::MAX);
        let julian = JULIAN_DAY_OF_UNIX_EPOCH.saturating_add(days);
        Self(Date::from_julian_day(julian).unwrap_or(Date::MAX))
    }
}

impl fmt::Display for UtcDay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.0.to_calendar_date();
        write!(formatter, "{year:04}-{:02}-{day:02}", u8::from(month))
    }
}

impl FromStr for UtcDay {
    type Err = InvalidUtcDay;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let date = Date::parse(text, format_description!("[year]-[month]-[day]"));
        let day = Self(date.map_err(|_| InvalidUtcDay)?);
        let canonical = day >= Self::from_unix_ms(0) && day.to_string() == text;
        canonical.then_some(day).ok_or(InvalidUtcDay)
    }
}

impl Serialize for UtcDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UtcDay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// What one user spent on one model on one day. A turn belongs to the UTC day of its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptTotals {
    /// The day.
    pub utc_day: UtcDay,
    /// Who is billed.
    pub user_id: String,
    /// Who served.
    pub provider: AgentProvider,
    /// The model, in the provider's words.
    pub provider_model: String,
    /// Settled turns.
    pub turns: u64,
    /// Requests of these turns.
    pub requests: u64,
    /// Prompt tokens.
    pub input_tokens: UsageTotal,
    /// Answer tokens.
    pub output_tokens: UsageTotal,
    /// Nano-dollars.
    pub cost_nano_usd: UsageTotal,
}

/// Keeps one receipt for each turn, keyed by its `operation_id`.
///
/// # Contract
/// - A turn is opened, its requests are noted, and it is settled once. All three are durable when
///   the call returns `Ok`.
/// - Writing the same value again is `Ok` and changes nothing; another value under the same key is
///   `Conflict` and changes nothing; both hold for opening a turn that was settled. Noting a
///   request of, or settling, a turn that was not opened is `NotFound`.
/// - A settled turn takes no more requests: noting a new one is `Conflict` and changes nothing.
/// - `unsettled` gives only turns whose owner is dead: a turn that a living process (this one
///   included) opened is never given, so that nobody settles it behind the owner's back. Its
///   receipts hold every request that was noted.
/// - `list` gives settled receipts in the order of settling, those after `after` (exclusive), at
///   most `limit`. `totals` sums settled receipts of a day, sorted by user, provider and model.
///
/// # Cancellation
/// A write that was interrupted is either whole or absent; writing the same value again is safe.
///
/// # Errors
/// `Conflict` and `NotFound` as above; `Unavailable` when the store cannot be written, with the
/// commit disposition that is true of the write.
#[async_trait]
pub trait ReceiptStore: Send + Sync {
    /// Records that a turn starts. `opened.requests` is empty and `opened.end` is `Interrupted`.
    async fn open(
        &self,
        operation: &OperationContext,
        opened: UsageReceipt,
    ) -> Result<(), PortFailure>;

    /// Records what request number `ordinal` (from 0) of an open turn reported when it ended.
    async fn note_request(
        &self,
        operation: &OperationContext,
        turn: Uuid,
        ordinal: u32,
        meter: RequestMeter,
    ) -> Result<(), PortFailure>;

    /// Records the final receipt of a turn.
    async fn settle(
        &self,
        operation: &OperationContext,
        receipt: UsageReceipt,
    ) -> Result<(), PortFailure>;

    /// The open turns of dead owners, each with the requests that were noted, oldest first.
    async fn unsettled(
        &self,
        operation: &OperationContext,
    ) -> Result<Vec<UsageReceipt>, PortFailure>;

    /// A page of settled receipts. An unknown `after` is `NotFound`.
    async fn list(
        &self,
        operation: &OperationContext,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<UsageReceipt>, PortFailure>;

    /// What each user spent on each model on that day.
    async fn totals(
        &self,
        operation: &OperationContext,
        utc_day: UtcDay,
    ) -> Result<Vec<ReceiptTotals>, PortFailure>;
}

impl ReceiptTotals {
    /// Sums settled receipts by UTC day, user, provider and model, in this order. The one way in
    /// which a store that keeps whole receipts should count.
    #[must_use]
    pub fn sum<'a>(receipts: impl IntoIterator<Item = &'a UsageReceipt>) -> Vec<Self> {
        let mut groups = BTreeMap::new();
        for receipt in receipts {
            let day = UtcDay::from_unix_ms(receipt.started_at_ms);
            let (user, model) = (&receipt.user_id, &receipt.provider_model);
            let key = (day, user.clone(), receipt.provider.clone(), model.clone());
            groups.entry(key).or_insert_with(|| Self::empty(day, receipt)).add(receipt);
        }
        groups.into_values().collect()
    }

    fn empty(utc_day: UtcDay, receipt: &UsageReceipt) -> Self {
        Self {
            utc_day,
            user_id: receipt.user_id.clone(),
            provider: receipt.provider.clone(),
            provider_model: receipt.provider_model.clone(),
            turns: 0,
            requests: 0,
            input_tokens: UsageTotal::EMPTY,
            output_tokens: UsageTotal::EMPTY,
            cost_nano_usd: UsageTotal::EMPTY,
        }
    }

    fn add(&mut self, receipt: &UsageReceipt) {
        let usage = receipt.metering.tokens().unwrap_or_default();
        self.turns += 1;
        self.requests += receipt.requests.len() as u64;
        self.input_tokens.add(usage.input_tokens);
        self.output_tokens.add(usage.output_tokens);
        self.cost_nano_usd.add(receipt.cost_nano_usd);
        if receipt.is_lower_bound {
            self.input_tokens.complete = false;
            self.output_tokens.complete = false;
            self.cost_nano_usd.complete = false;
        }
    }
}

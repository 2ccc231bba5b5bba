//! Decides how the model attempts of a run add up.
//!
//! Knows no prices and no budgets. Invariant: what was not reported never becomes zero.

use runtime_ports::{
    CommitDisposition, Metering, PortFailure, PortFailureKind, RequestMeter, TokenUsage, TurnEnd,
    UsageTotal,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::log::Log;

/// Every attempt to call the model, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger {
    attempts: Log<Attempt>,
}

/// One request that reached a provider, or that an answer was given to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The cycle that it belongs to, from 1.
    pub cycle: u32,
    /// How it ended.
    pub end: TurnEnd,
    /// Its tokens; unknown where nothing was reported.
    pub usage: TokenUsage,
    /// What it cost, in nano-dollars; `None` when nobody said.
    pub cost_nano_usd: Option<u64>,
}

/// Sums over a ledger that say whether they are complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerTotals {
    /// How many attempts.
    pub attempts: usize,
    /// Tokens of prompts.
    pub input_tokens: UsageTotal,
    /// Tokens of answers.
    pub output_tokens: UsageTotal,
    /// Cost in nano-dollars.
    pub cost_nano_usd: UsageTotal,
}

impl Ledger {
    /// The attempts, oldest first.
    pub fn attempts(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter()
    }

    /// Tokens of all attempts; a field that one attempt does not know is unknown.
    #[must_use]
    pub fn usage(&self) -> TokenUsage {
        let mut sum = TokenUsage::zero();
        self.attempts.iter().for_each(|attempt| sum.add_assign(&attempt.usage));
        sum
    }

    /// Sums that keep what is known.
    #[must_use]
    pub fn totals(&self) -> LedgerTotals {
        let mut totals = LedgerTotals { attempts: self.attempts.len(), ..LedgerTotals::default() };
        for attempt in self.attempts.iter() {
            totals.input_tokens.add(attempt.usage.input_tokens);
            totals.output_tokens.add(attempt.usage.output_tokens);
            totals.cost_nano_usd.add(attempt.cost_nano_usd);
        }
        totals
    }

    /// Takes the attempts of an answered call; one that lists none is one attempt by itself.
    pub(crate) fn answered(
        &mut self,
        cycle: u32,
        attempts: &[RequestMeter],
        usage: TokenUsage,
        cost_nano_usd: Option<u64>,
    ) {
        if attempts.is_empty() {
            self.attempts.push(Attempt { cycle, end: TurnEnd::Completed, usage, cost_nano_usd });
        }
        self.metered(cycle, attempts);
    }

    /// Takes the attempts of a failed call; one that lists none and may have arrived is one
    /// attempt of which nothing is known.
    pub(crate) fn failed(&mut self, cycle: u32, failure: &PortFailure) {
        if failure.attempts.is_empty() && failure.commit != CommitDisposition::NotCommitted {
            self.unknown(cycle, end_of(failure.kind));
        }
        self.metered(cycle, &failure.attempts);
    }

    /// Takes a call that was in flight when its process was lost.
    pub(crate) fn interrupted(&mut self, cycle: u32) {
        self.unknown(cycle, TurnEnd::Interrupted);
    }

    fn unknown(&mut self, cycle: u32, end: TurnEnd) {
        let usage = TokenUsage::default();
        self.attempts.push(Attempt { cycle, end, usage, cost_nano_usd: None });
    }

    fn metered(&mut self, cycle: u32, attempts: &[RequestMeter]) {
        let entry = |meter: &RequestMeter| Attempt {
            cycle,
            end: meter.end,
            usage: match meter.metering {
                Metering::Tokens(usage) => usage,
                Metering::DurationSeconds(_) | Metering::Unavailable => TokenUsage::default(),
            },
            cost_nano_usd: meter.cost_nano_usd,
        };
        self.attempts.extend(attempts.iter().map(entry));
    }
}

const fn end_of(kind: PortFailureKind) -> TurnEnd {
    match kind {
        PortFailureKind::Timeout => TurnEnd::TimedOut,
        PortFailureKind::Canceled => TurnEnd::Cancelled,
        _ => TurnEnd::Failed,
    }
}

/// An attempt as a list, since a stored run has many: cycle, end, the five counts, cost.
type Compact = (u32, TurnEnd, [Option<u64>; 5], Option<u64>);

impl Serialize for Attempt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let compact: Compact = (self.cycle, self.end, self.usage.fields(), self.cost_nano_usd);
        compact.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Attempt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (cycle, end, fields, cost_nano_usd) = Compact::deserialize(deserializer)?;
        Ok(Self { cycle, end, usage: usage_of(fields), cost_nano_usd })
    }
}

const fn usage_of(fields: [Option<u64>; 5]) -> TokenUsage {
    let [input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens] =
        fields;
    TokenUsage {
        input_tokens,
        output_tokens,
        cached_input_tokens,
        cache_write_tokens,
        reasoning_tokens,
    }
}

pub(crate) mod compact_usage {
    //! Writes usage as the list of its five counts.

    use runtime_ports::TokenUsage;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        usage: &TokenUsage,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        usage.fields().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<TokenUsage, D::Error> {
        <[Option<u64>; 5]>::deserialize(deserializer).map(super::usage_of)
    }
}

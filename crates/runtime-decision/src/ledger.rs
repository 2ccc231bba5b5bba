//! Decides how the model attempts of a run add up.
//!
//! Knows no prices and no budgets. Invariant: what was not reported never becomes zero.

use runtime_ports::{
    CommitDisposition, Metering, PortFailure, PortFailureKind, RequestMeter, TokenUsage, TurnEnd,
    UsageTotal,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    counts::{Counts, usage_of},
    log::Log,
};

/// Every attempt to call the model, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger {
    attempts: Log<Noted>,
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

/// An attempt in less room, since there is one of each cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Noted {
    /// The five counts of its tokens, and its cost.
    counts: Counts<6>,
    cycle: u32,
    end: TurnEnd,
}

impl Ledger {
    /// The attempts, oldest first.
    pub fn attempts(&self) -> impl Iterator<Item = Attempt> {
        self.attempts.iter().map(Noted::attempt)
    }

    /// Tokens of all attempts; a field that one attempt does not know is unknown.
    #[must_use]
    pub fn usage(&self) -> TokenUsage {
        let mut sum = TokenUsage::zero();
        self.attempts().for_each(|attempt| sum.add_assign(&attempt.usage));
        sum
    }

    /// Sums that keep what is known.
    #[must_use]
    pub fn totals(&self) -> LedgerTotals {
        let mut totals = LedgerTotals { attempts: self.attempts.len(), ..LedgerTotals::default() };
        for attempt in self.attempts() {
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
            self.note(&Attempt { cycle, end: TurnEnd::Completed, usage, cost_nano_usd });
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
        self.note(&Attempt { cycle, end, usage, cost_nano_usd: None });
    }

    fn note(&mut self, attempt: &Attempt) {
        self.attempts.push(Noted::of(attempt));
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
        self.attempts.extend(attempts.iter().map(|meter| Noted::of(&entry(meter))));
    }
}

const fn end_of(kind: PortFailureKind) -> TurnEnd {
    match kind {
        PortFailureKind::Timeout => TurnEnd::TimedOut,
        PortFailureKind::Canceled => TurnEnd::Cancelled,
        _ => TurnEnd::Failed,
    }
}

impl Noted {
    fn of(attempt: &Attempt) -> Self {
        let [a, b, c, d, e] = attempt.usage.fields();
        let counts = Counts::of([a, b, c, d, e, attempt.cost_nano_usd]);
        Self { counts, cycle: attempt.cycle, end: attempt.end }
    }

    fn attempt(&self) -> Attempt {
        let [usage @ .., cost_nano_usd] = self.counts.get();
        Attempt { cycle: self.cycle, end: self.end, usage: usage_of(usage), cost_nano_usd }
    }
}

/// An attempt as a list, since a stored run has many: cycle, end, the five counts, cost.
type Compact = (u32, TurnEnd, [Option<u64>; 5], Option<u64>);

impl Serialize for Noted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [usage @ .., cost_nano_usd] = self.counts.get();
        let compact: Compact = (self.cycle, self.end, usage, cost_nano_usd);
        compact.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Noted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (cycle, end, fields, cost_nano_usd) = Compact::deserialize(deserializer)?;
        Ok(Self::of(&Attempt { cycle, end, usage: usage_of(fields), cost_nano_usd }))
    }
}

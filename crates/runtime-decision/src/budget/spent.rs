//! Decides what was used, from what providers reported, and what of it counts against budgets.
//!
//! Knows prices and reservations; refuses to know limits. Invariant: what was not reported never
//! becomes zero: it leaves a sum incomplete, and counts as all that was reserved for it.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use runtime_ports::{
    CommitDisposition, ModelResponse, PortFailure, Price, RequestMeter, TokenUsage, UsageTotal,
};
use serde::{Deserialize, Serialize};

use super::Amounts;

/// What a run used, with the runs that it started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Spent {
    /// What counts against budgets. Of what nobody reported that is all that was reserved for it,
    /// so that it may be more than what was really used; without budgets it is what is known.
    pub charged: Amounts,
    /// Tokens of prompts and answers.
    pub tokens: UsageTotal,
    /// Tokens of prompts that came from no cache.
    pub uncached_input_tokens: UsageTotal,
    /// Cost in nano-dollars: as the provider says, else by the price of the model.
    pub cost_nano_usd: UsageTotal,
}

/// As a list, since every stored run has one: of what counts the six amounts and the calls by name,
/// then each sum and whether it is complete.
type Written = ([u64; 6], BTreeMap<Arc<str>, u64>, [(u64, bool); 3]);

impl From<Written> for Spent {
    fn from((amounts, tool_calls_by_name, sums): Written) -> Self {
        let [tokens, uncached_input_tokens, cost_nano_usd, model_calls, tool_calls, sub_tasks] =
            amounts;
        let charged = Amounts {
            tokens,
            uncached_input_tokens,
            cost_nano_usd,
            model_calls,
            tool_calls,
            tool_calls_by_name,
            sub_tasks,
        };
        let [tokens, uncached_input_tokens, cost_nano_usd] =
            sums.map(|(at_least, complete)| UsageTotal { at_least, complete });
        Self { charged, tokens, uncached_input_tokens, cost_nano_usd }
    }
}

impl From<Spent> for Written {
    fn from(spent: Spent) -> Self {
        let Amounts {
            tokens,
            uncached_input_tokens,
            cost_nano_usd,
            model_calls,
            tool_calls,
            tool_calls_by_name,
            sub_tasks,
        } = spent.charged;
        let amounts =
            [tokens, uncached_input_tokens, cost_nano_usd, model_calls, tool_calls, sub_tasks];
        let sums = [spent.tokens, spent.uncached_input_tokens, spent.cost_nano_usd];
        (amounts, tool_calls_by_name, sums.map(|sum| (sum.at_least, sum.complete)))
    }
}

impl Spent {
    /// Adds what another used.
    pub fn add(&mut self, more: &Self) {
        self.charged.add(&more.charged);
        merge(&mut self.tokens, more.tokens);
        merge(&mut self.uncached_input_tokens, more.uncached_input_tokens);
        merge(&mut self.cost_nano_usd, more.cost_nano_usd);
    }

    /// What was used since `before`, which is a part of it.
    #[must_use]
    pub fn since(mut self, before: &Self) -> Self {
        self.charged.take(&before.charged);
        less(&mut self.tokens, before.tokens);
        less(&mut self.uncached_input_tokens, before.uncached_input_tokens);
        less(&mut self.cost_nano_usd, before.cost_nano_usd);
        self
    }

    /// Things of which nothing but their number is used.
    pub(crate) fn counted(charged: Amounts) -> Self {
        Self { charged, ..Self::default() }
    }
}

const fn merge(sum: &mut UsageTotal, more: UsageTotal) {
    sum.at_least = sum.at_least.saturating_add(more.at_least);
    sum.complete &= more.complete;
}

const fn less(sum: &mut UsageTotal, part: UsageTotal) {
    sum.at_least = sum.at_least.saturating_sub(part.at_least);
}

/// Takes the attempts of a model call and says what they used.
pub(crate) struct Bill<'a> {
    /// What was reserved for one attempt.
    pub(crate) reserved: &'a Amounts,
    pub(crate) price: Option<&'a Price>,
}

impl Bill<'_> {
    /// Of an answered call; one that lists no attempts is one by itself.
    pub(crate) fn answered(&self, response: &ModelResponse) -> Spent {
        let mut spent = Spent::default();
        let (last, earlier) = match response.attempts.split_last() {
            Some((last, earlier)) => (Some(last), earlier),
            None => (None, &[][..]),
        };
        earlier.iter().for_each(|meter| self.attempt(meter, &mut spent));
        let reported = last.and_then(usage_of).filter(|usage| !usage.is_unreported());
        let cost = last.and_then(|meter| meter.cost_nano_usd).or(response.cost_nano_usd);
        self.used(&reported.unwrap_or(response.usage), cost, &mut spent);
        spent
    }

    /// Of a call that failed. What was not sent used nothing, and so did a last attempt that was
    /// refused; of anything else that was not reported nobody knows.
    pub(crate) fn failed(&self, failure: &PortFailure) -> Spent {
        let mut spent = Spent::default();
        let was_refused = failure.commit == CommitDisposition::NotCommitted;
        match failure.attempts.split_last() {
            None if was_refused => {}
            None => self.used(&TokenUsage::default(), None, &mut spent),
            Some((last, earlier)) => {
                earlier.iter().for_each(|meter| self.attempt(meter, &mut spent));
                let is_reported = usage_of(last).is_some() || last.cost_nano_usd.is_some();
                match was_refused && !is_reported {
                    true => spent.charged.model_calls += 1,
                    false => self.attempt(last, &mut spent),
                }
            }
        }
        spent
    }

    /// Of a call whose outcome was lost with its process.
    pub(crate) fn lost(&self) -> Spent {
        let mut spent = Spent::default();
        self.used(&TokenUsage::default(), None, &mut spent);
        spent
    }

    fn attempt(&self, meter: &RequestMeter, spent: &mut Spent) {
        self.used(&usage_of(meter).unwrap_or_default(), meter.cost_nano_usd, spent);
    }

    fn used(&self, usage: &TokenUsage, cost: Option<u64>, spent: &mut Spent) {
        let reserved = self.reserved;
        let charged = &mut spent.charged;
        charged.model_calls = charged.model_calls.saturating_add(1);
        take(tokens(usage), reserved.tokens, &mut charged.tokens, &mut spent.tokens);
        take(
            uncached(usage),
            reserved.uncached_input_tokens,
            &mut charged.uncached_input_tokens,
            &mut spent.uncached_input_tokens,
        );
        let cost = cost.map_or_else(|| self.cost(usage), Bounds::exactly);
        take(cost, reserved.cost_nano_usd, &mut charged.cost_nano_usd, &mut spent.cost_nano_usd);
    }

    fn cost(&self, usage: &TokenUsage) -> Bounds {
        let Some(price) = self.price else { return Bounds::UNKNOWN };
        if let Some(cost) = price.cost_nano_usd(usage) {
            return Bounds::exactly(cost);
        }
        let (Some(input), Some(output)) = (usage.input_tokens, usage.output_tokens) else {
            return Bounds::UNKNOWN;
        };
        // Only what came from a cache, or went into one, is not known.
        let own = [price.cached_input, price.cache_write].into_iter().flatten();
        let cheapest = own.fold(price.input, u64::min);
        let least = cost_of(input, cheapest).saturating_add(cost_of(output, price.output));
        Bounds { least, most: Some(most_cost(price, input, output)) }
    }
}

/// Most that so many tokens can cost, in nano-dollars, whatever of them is cached.
pub(crate) fn most_cost(price: &Price, input: u64, output: u64) -> u64 {
    let own = [price.cached_input, price.cache_write].into_iter().flatten();
    let dearest = own.fold(price.input, u64::max);
    cost_of(input, dearest).saturating_add(cost_of(output, price.output))
}

/// Rounded up; so great that it fits nowhere when it does not fit.
fn cost_of(tokens: u64, per_million: u64) -> u64 {
    let cost = (u128::from(tokens) * u128::from(per_million)).div_ceil(1_000_000);
    u64::try_from(cost).unwrap_or(u64::MAX)
}

/// What is known of an amount.
#[derive(Clone, Copy)]
struct Bounds {
    least: u64,
    /// `None` when it has no upper bound.
    most: Option<u64>,
}

impl Bounds {
    const UNKNOWN: Self = Self { least: 0, most: None };

    const fn exactly(amount: u64) -> Self {
        Self { least: amount, most: Some(amount) }
    }

    fn exact(self) -> Option<u64> {
        self.most.filter(|most| *most == self.least)
    }
}

/// What has no upper bound counts as what was reserved for it, or as what is known if that is more.
fn take(amount: Bounds, reserved: u64, charged: &mut u64, known: &mut UsageTotal) {
    let counts = amount.most.unwrap_or_else(|| reserved.max(amount.least));
    *charged = charged.saturating_add(counts);
    known.at_least = known.at_least.saturating_add(amount.least);
    known.complete &= amount.exact().is_some();
}

fn tokens(usage: &TokenUsage) -> Bounds {
    let least = usage.input_tokens.unwrap_or(0).saturating_add(usage.output_tokens.unwrap_or(0));
    let is_known = usage.input_tokens.is_some() && usage.output_tokens.is_some();
    Bounds { least, most: Some(least).filter(|_| is_known) }
}

/// What was cached is not known to have been, unless it is reported.
fn uncached(usage: &TokenUsage) -> Bounds {
    let Some(input) = usage.input_tokens else { return Bounds::UNKNOWN };
    let uncached = usage.cached_input_tokens.and_then(|cached| input.checked_sub(cached));
    uncached.map_or(Bounds { least: 0, most: Some(input) }, Bounds::exactly)
}

const fn usage_of(meter: &RequestMeter) -> Option<TokenUsage> {
    meter.metering.tokens()
}

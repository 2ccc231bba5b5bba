//! Decides which numbers of a usage report are taken, and what they mean.
//!
//! Knows nothing about which frame carried the report. Invariant: a number that was not reported,
//! or that contradicts another of the same report, is `None`.

use runtime_ports::{CumulativeUsage, Metering, TokenUsage};
use serde_json::Value;

/// The counts and the cost of one request, folded over all reports about it.
#[derive(Debug, Clone, Default)]
pub struct Meter {
    usage: CumulativeUsage,
    cost_nano_usd: Option<u64>,
    view: Option<fn(&CumulativeUsage) -> TokenUsage>,
}

impl Meter {
    /// A meter that gathers the counts as an API reports them, and shows them through `view`: for an
    /// API whose counts mean something else than the fields they are gathered in.
    #[must_use]
    pub fn viewed(view: fn(&CumulativeUsage) -> TokenUsage) -> Self {
        Self { view: Some(view), ..Self::default() }
    }

    /// Takes a report of the counts so far; see [`CumulativeUsage`].
    pub fn observe_usage(&mut self, usage: &TokenUsage) {
        self.usage.observe(usage);
    }

    /// Takes a cost that was reported beside the usage; a later one replaces it.
    pub fn observe_cost(&mut self, cost_nano_usd: Option<u64>) {
        self.cost_nano_usd = cost_nano_usd.or(self.cost_nano_usd);
    }

    /// What is known after the reports so far.
    pub fn usage(&self) -> TokenUsage {
        self.view.map_or_else(|| self.usage.usage(), |view| view(&self.usage))
    }

    /// Whether the provider counted tokens that the model wrote: then it has served, for a price.
    pub fn has_output(&self) -> bool {
        self.usage().output_tokens.is_some_and(|count| count > 0)
    }

    /// The cost in nano-dollars, when the provider told one.
    pub const fn cost_nano_usd(&self) -> Option<u64> {
        self.cost_nano_usd
    }

    /// The same as the metering of a receipt.
    pub fn metering(&self) -> Metering {
        let usage = self.usage();
        if usage.is_unreported() { Metering::Unavailable } else { Metering::Tokens(usage) }
    }

    /// One sentence for each count that later reports contradicted.
    pub fn warnings(&self) -> Vec<String> {
        self.usage.warnings()
    }
}

/// A cost in dollars as nano-dollars; `None` for what is no amount of money.
pub fn nano_usd(dollars: f64) -> Option<u64> {
    let nano = (dollars * 1e9).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    (nano.is_finite() && (0.0..=9e18).contains(&nano)).then_some(nano as u64)
}

/// Most servers count a part within its whole. Some count it beside: then the total, where there
/// is one, proves it, and the whole is completed. A part above its whole without such a proof is
/// no number that anybody measured.
pub fn whole_and_part(
    whole: Option<u64>,
    part: Option<u64>,
    other: Option<u64>,
    total: Option<u64>,
) -> (Option<u64>, Option<u64>) {
    let (Some(counted), Some(extra)) = (whole, part) else { return (whole, part) };
    let both = counted.checked_add(extra);
    let beside = both.zip(other).and_then(|(both, other)| both.checked_add(other));
    match () {
        () if extra > 0 && beside.is_some() && beside == total => (both, part),
        () if extra > counted => (whole, None),
        () => (whole, part),
    }
}

/// The first of the fields `names` that is a whole number, written as one or as `12.0`.
pub fn count(report: &Value, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| whole_number(report.get(*name)?))
}

/// Some gateways write counts as `12.0`.
fn whole_number(value: &Value) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = || value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..=EXACT).contains(n));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "exact above")]
    value.as_u64().or_else(|| float().map(|n| n as u64))
}

/// The first of the fields `names` that is there and not `null`.
pub fn first<'a>(report: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| report.get(*name).filter(|value| !value.is_null()))
}

//! Decides how reported token counts add up without inventing any.
//!
//! Knows nothing about prices or providers. Invariant: what was not reported is `None`, never 0.

use serde::{Deserialize, Serialize};

/// Tokens of one request, or of several. `None` means that the provider did not report the value;
/// 0 is a report of zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenUsage {
    /// All tokens of the prompt, cached ones included.
    pub input_tokens: Option<u64>,
    /// All tokens of the answer, reasoning included.
    pub output_tokens: Option<u64>,
    /// Tokens of the prompt that were read from a cache; part of `input_tokens`.
    pub cached_input_tokens: Option<u64>,
    /// Tokens of the prompt that were written to a cache; part of `input_tokens`.
    pub cache_write_tokens: Option<u64>,
    /// Tokens spent on reasoning; part of `output_tokens`.
    pub reasoning_tokens: Option<u64>,
}

impl TokenUsage {
    /// The additive identity. Use it only to begin a sum of known values.
    #[must_use]
    pub const fn zero() -> Self {
        Self {
            input_tokens: Some(0),
            output_tokens: Some(0),
            cached_input_tokens: Some(0),
            cache_write_tokens: Some(0),
            reasoning_tokens: Some(0),
        }
    }

    /// Adds `value`, saturating. A field that either side does not know becomes unknown.
    pub fn add_assign(&mut self, value: &Self) {
        for (sum, addend) in self.fields_mut().into_iter().zip(value.fields()) {
            *sum = sum.zip(addend).map(|(left, right)| left.saturating_add(right));
        }
    }

    /// Whether no field is known.
    #[must_use]
    pub fn is_unreported(&self) -> bool {
        self.fields().iter().all(Option::is_none)
    }

    /// The fields in the order of their declaration, for code that treats them alike.
    #[must_use]
    pub const fn fields(&self) -> [Option<u64>; 5] {
        [
            self.input_tokens,
            self.output_tokens,
            self.cached_input_tokens,
            self.cache_write_tokens,
            self.reasoning_tokens,
        ]
    }

    fn fields_mut(&mut self) -> [&mut Option<u64>; 5] {
        [
            &mut self.input_tokens,
            &mut self.output_tokens,
            &mut self.cached_input_tokens,
            &mut self.cache_write_tokens,
            &mut self.reasoning_tokens,
        ]
    }
}

/// A sum that says whether it is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageTotal {
    /// Sum of what is known; the true sum is not below it.
    pub at_least: u64,
    /// Whether every addend was known, so that `at_least` is exact.
    pub complete: bool,
}

impl UsageTotal {
    /// The empty sum: zero and complete.
    pub const EMPTY: Self = Self { at_least: 0, complete: true };

    /// Adds a value, saturating; `None` leaves the sum and makes it a lower bound.
    pub fn add(&mut self, value: Option<u64>) {
        self.complete &= value.is_some();
        self.at_least = self.at_least.saturating_add(value.unwrap_or(0));
    }
}

impl Default for UsageTotal {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// Folds the usage reports of **one** request, which providers send cumulatively and more than
/// once: the last known value of a field wins, and a value below an earlier one makes the field
/// unknown for good, because one of the two reports must be wrong.
#[derive(Debug, Clone, Default)]
pub struct CumulativeUsage {
    latest: TokenUsage,
    contradicted: [bool; 5],
}

const FIELD_NAMES: [&str; 5] = [
    "input_tokens",
    "output_tokens",
    "cached_input_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
];

impl CumulativeUsage {
    /// Takes one report.
    pub fn observe(&mut self, report: &TokenUsage) {
        let fields = self.latest.fields_mut().into_iter().zip(report.fields());
        for ((latest, reported), contradicted) in fields.zip(&mut self.contradicted) {
            let Some(value) = reported else { continue };
            *contradicted |= latest.is_some_and(|earlier| value < earlier);
            *latest = Some(value);
        }
    }

    /// What is known after the reports so far.
    #[must_use]
    pub fn usage(&self) -> TokenUsage {
        let mut usage = self.latest;
        for (field, contradicted) in usage.fields_mut().into_iter().zip(self.contradicted) {
            *field = field.filter(|_| !contradicted);
        }
        usage
    }

    /// One sentence for each field that became unknown because a later report was lower.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let contradicted = FIELD_NAMES.iter().zip(self.contradicted).filter(|(_, is)| *is);
        contradicted
            .map(|(name, _)| format!("{name} was reported lower than before; kept as unknown"))
            .collect()
    }
}

//! Decides which of two numbers is greater, to the last digit.
//!
//! Knows nothing about schemas. A whole number is compared as one, however large: by way of a
//! floating-point number, neighbours beyond 2^53 would be the same.

use std::{cmp::Ordering, fmt};

use serde_json::Number;

/// Whole numbers of this size and below have an exact `i128`.
const EXACT: f64 = 1e38;

/// A number of JSON that can be compared.
#[derive(Debug, Clone)]
pub(super) struct Exact(pub(super) Number);

impl Exact {
    fn whole(&self) -> Option<i128> {
        let integer = self.0.as_i64().map(i128::from).or_else(|| self.0.as_u64().map(i128::from));
        integer.or_else(|| {
            let whole = self.0.as_f64().filter(|it| it.fract() == 0.0 && it.abs() < EXACT);
            whole.map(|it| it as i128)
        })
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self.whole(), other.whole()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            // A part of one is below 2^53, or one is beyond every integer of JSON: either way the
            // other's rounding does not change the order.
            _ => self.0.as_f64()?.partial_cmp(&other.0.as_f64()?),
        }
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_f64().filter(|_| self.0.is_f64()) {
            Some(value) => value.fmt(formatter),
            None => self.0.fmt(formatter),
        }
    }
}

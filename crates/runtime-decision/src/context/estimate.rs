//! Decides how many tokens a request is taken to have, before a provider has counted it.
//!
//! Knows what the provider reported of the request before, and no tokenizer. Invariant: of two
//! requests, the one with more tokens by the plain estimate never has fewer by this one.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

/// Fewest tokens of a request from whose report something is learnt about what is appended.
const TELLING: u64 = 256;
/// Most times its estimate that a token is taken for: a language of one token a character has four.
const MOST_TIMES: u64 = 8;

/// What a provider reported of a request, beside the plain estimate of the same request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Measured {
    /// Tokens that the provider counted; at least 1.
    reported: u64,
    /// The plain estimate; at least 1.
    estimated: u64,
}

impl Measured {
    /// Nothing is learnt from a report of nothing.
    pub(crate) const fn of(reported: u64, estimated: u64) -> Option<Self> {
        match reported > 0 && estimated > 0 {
            true => Some(Self { reported, estimated }),
            false => None,
        }
    }

    /// Whether it could be one.
    pub(crate) const fn is_sound(self) -> bool {
        self.reported > 0 && self.estimated > 0
    }
}

/// Tokens of a request whose plain estimate is `plain`: what was reported, and what was appended
/// since, which counts for more when the report did; less in proportion when the request shrank.
pub(crate) fn estimated(measured: Option<Measured>, plain: u64) -> u64 {
    let Some(Measured { reported, estimated }) = measured else { return plain };
    match plain.checked_sub(estimated) {
        None => scaled(plain, reported, estimated),
        Some(appended) => {
            reported.saturating_add(scaled(appended, for_appended(reported, estimated), estimated))
        }
    }
}

/// The greatest plain estimate with which [`estimated`] stays within `limit`, or a little less.
pub(crate) fn plain_within(measured: Option<Measured>, limit: u64) -> u64 {
    let Some(Measured { reported, estimated }) = measured else { return limit };
    match limit.checked_sub(reported) {
        None => scaled(limit, estimated, reported),
        Some(rest) => {
            estimated.saturating_add(scaled(rest, estimated, for_appended(reported, estimated)))
        }
    }
}

/// What stands to the plain estimate as what is appended is taken to stand to its own: never less,
/// and more as far as the request was long enough to tell a dense text from a fixed overhead.
fn for_appended(reported: u64, estimated: u64) -> u64 {
    match estimated < TELLING {
        true => estimated,
        false => reported.clamp(estimated, estimated.saturating_mul(MOST_TIMES)),
    }
}

/// `value * times / parts`, rounded down.
fn scaled(value: u64, times: u64, parts: u64) -> u64 {
    let scaled = u128::from(value) * u128::from(times) / u128::from(parts.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

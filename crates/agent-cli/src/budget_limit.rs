//! Decides how much work may cost, as it is written on the command line.
//!
//! Knows dollars with decimals, and tokens. Refuses to round: a budget that cannot be kept to the
//! nano-dollar is wrong.

use std::num::NonZeroU64;

const NANO_DIGITS: usize = 9;
const USD_FORM: &str = "write dollars like 2, 0.50 or 0.000001";

/// Reads `2`, `0.50`, `$1.25` as nano-dollars.
pub(crate) fn usd(text: &str) -> Result<u64, String> {
    let plain = text.trim().strip_prefix('$').unwrap_or(text.trim());
    let (whole, part) = plain.split_once('.').unwrap_or((plain, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|at| at.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || part.len() > NANO_DIGITS {
        return Err(USD_FORM.to_owned());
    }
    let too_much = || format!("that is more than can be counted; {USD_FORM}");
    let nano: u64 = format!("{whole}{part:0<NANO_DIGITS$}").parse().map_err(|_| too_much())?;
    match nano {
        0 => Err(format!("a budget of nothing allows no request; {USD_FORM}")),
        nano => Ok(nano),
    }
}

/// Reads a number of tokens.
pub(crate) fn tokens(text: &str) -> Result<u64, &'static str> {
    let plain = text.trim().replace('_', "");
    let count: Result<NonZeroU64, _> = plain.parse();
    count.map(NonZeroU64::get).map_err(|_| "give a whole number of tokens, at least 1")
}

#[cfg(test)]
mod tests;

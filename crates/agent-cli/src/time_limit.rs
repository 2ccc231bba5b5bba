//! Decides how a length of time is written on the command line.
//!
//! Knows hours, minutes and seconds. Refuses to guess a unit.

use std::time::Duration;

/// Longest limit, and the one of a run without a word about it.
pub(crate) const LONGEST: Duration = Duration::from_hours(24);

const FORM: &str = "write it like 90s, 10m, 2h or 1h30m";

/// Reads `90s`, `10m`, `1h30m`: each unit at most once, the largest first.
pub(crate) fn time_limit(text: &str) -> Result<Duration, String> {
    let (mut rest, mut total) = (text.trim(), Duration::ZERO);
    let mut units = [('h', 3_600), ('m', 60), ('s', 1)].into_iter();
    while !rest.is_empty() {
        let digits = rest.find(|at: char| !at.is_ascii_digit()).ok_or(FORM)?;
        let (count, unit) = rest.split_at(digits);
        let unit = unit.chars().next().unwrap_or_default();
        let (_, seconds) = units.find(|(name, _)| *name == unit).ok_or(FORM)?;
        let count: u64 = count.parse().map_err(|_| FORM)?;
        total = total.saturating_add(Duration::from_secs(count.saturating_mul(seconds)));
        rest = &rest[digits + unit.len_utf8()..];
    }
    match total {
        Duration::ZERO => Err(format!("a run needs some time; {FORM}")),
        total if total > LONGEST => Err("the longest is 24h".to_owned()),
        total => Ok(total),
    }
}

#[cfg(test)]
mod tests;

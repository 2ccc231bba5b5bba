//! Decides how long a server asked to wait.
//!
//! Knows nothing about whether to wait at all. Invariant: hostile values never give a wait: what is
//! no number of seconds and no date is `None`, and nothing is longer than a day.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The wait that the headers of a response ask for.
pub fn wait_of_headers(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let millis = text("retry-after-ms").and_then(|text| seconds(text, 1e-3));
    millis.or_else(|| of_value(text(RETRY_AFTER.as_str())?, now))
}

fn of_value(text: &str, now: SystemTime) -> Option<Duration> {
    seconds(text, 1.0).or_else(|| with_units(text)).or_else(|| until(text, now))
}

/// A number without a sign, also one like `1e3`.
pub(crate) fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let begins = text.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let value = text.parse::<f64>().ok().filter(|value| begins && value.is_finite())? * unit;
    Some(Duration::try_from_secs_f64(value).map_or(LONGEST, |wait| wait.min(LONGEST)))
}

/// Times like `1m30s` and `250ms`, as some gateways write them.
fn with_units(text: &str) -> Option<Duration> {
    const UNITS: [(&str, f64); 4] = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let (mut rest, mut sum) = (text, Duration::ZERO);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(end);
        let (name, unit) = UNITS.into_iter().find(|(name, _)| tail.starts_with(name))?;
        sum = sum.saturating_add(seconds(number, unit)?);
        rest = &tail[name.len()..];
    }
    (!text.is_empty()).then(|| sum.min(LONGEST))
}

fn until(text: &str, now: SystemTime) -> Option<Duration> {
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default().min(LONGEST))
}

#[cfg(test)]
mod tests;

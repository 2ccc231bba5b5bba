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
    seconds(text, 1.0).or_else(|| until(text, now))
}

/// So many seconds, or parts of them (`unit`).
pub(crate) fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value = text.parse::<f64>().ok().filter(|value| plain && value.is_finite())? * unit;
    Some(Duration::try_from_secs_f64(value).map_or(LONGEST, |wait| wait.min(LONGEST)))
}

fn until(text: &str, now: SystemTime) -> Option<Duration> {
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default().min(LONGEST))
}

#[cfg(test)]
mod tests;

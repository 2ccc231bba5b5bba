//! Decides how long a server asked to wait.
//!
//! Knows nothing about whether to wait at all. Invariant: hostile values never give a wait: what is
//! no number of seconds and no date is `None`, and nothing is longer than a day.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

use crate::heads;

const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The wait that the headers of a response ask for.
pub fn wait_of_headers(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| heads::text(headers, name).map(str::trim);
    let millis = text("retry-after-ms").and_then(|text| seconds(text, 1e-3));
    let named = millis.or_else(|| of_value(text("retry-after")?, now));
    named.or_else(|| until_reset(text, now))
}

/// Limits that say what remains of them, and when they begin anew.
const LIMITS: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];

/// The longest wait for a limit of which nothing remains, where no header says it plainly.
fn until_reset<'a>(text: impl Fn(&str) -> Option<&'a str>, now: SystemTime) -> Option<Duration> {
    let header = |limit: &str, what: &str| text(&format!("anthropic-ratelimit-{limit}-{what}"));
    let spent = LIMITS.into_iter().filter(|limit| header(limit, "remaining") == Some("0"));
    let waits = spent.filter_map(|limit| {
        let reset = moment(header(limit, "reset")?)?;
        Some(reset.duration_since(now).unwrap_or_default().min(LONGEST))
    });
    waits.max()
}

/// The moment of a time like `2026-11-30T03:04:05Z`, whose fractions of a second are left out.
fn moment(text: &str) -> Option<SystemTime> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, mark| {
        let parts: Option<Vec<i64>> = text.split(mark).map(|part| part.parse().ok()).collect();
        parts.and_then(|parts| <[i64; 3]>::try_from(parts).ok())
    };
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time.split('.').next()?, ':')?;
    let fits = (1970..10_000).contains(&year) && (1..=12).contains(&month);
    let fits = fits && (1..=31).contains(&day) && (0..24).contains(&hour);
    if !fits || !(0..60).contains(&minute) || !(0..=60).contains(&second) {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}

/// Days from the first of January 1970, counted in years that begin in March.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_years = year * 365 + year / 4 - year / 100 + year / 400;
    of_years + (153 * month + 2) / 5 + day - 719_469
}

fn of_value(text: &str, now: SystemTime) -> Option<Duration> {
    let epoch = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    // Nobody waits for as long as the calendar: some servers name the second in which a wait ends,
    // which is over when their clock or the answer was slow.
    let is_near = |at: &u64| at.abs_diff(epoch) <= LONGEST.as_secs();
    let end = text.parse::<u64>().ok().filter(is_near);
    let until_then = end.map(|at| Duration::from_secs(at.saturating_sub(epoch)));
    let wait = until_then.or_else(|| seconds(text, 1.0)).or_else(|| with_units(text));
    wait.or_else(|| until(text, now))
}

/// A number without a sign, also one like `1e3`.
pub(crate) fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let begins = text.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let value = text.parse::<f64>().ok().filter(|value| begins && value.is_finite())? * unit;
    Some(Duration::try_from_secs_f64(value).map_or(LONGEST, |wait| wait.min(LONGEST)))
}

/// Times like `1m30s` and `250ms`, as some gateways write them.
pub(crate) fn with_units(text: &str) -> Option<Duration> {
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
    let date = httpdate::parse_http_date(text).ok().or_else(|| moment(text))?;
    Some(date.duration_since(now).unwrap_or_default().min(LONGEST))
}

#[cfg(test)]
mod tests;

//! Decides what the structured details of an error say beside its message.
//!
//! Knows the forms of `google.rpc`, and that gateways keep of them what they like. Invariant: a wait
//! is one that the server named; a quota is called spent only when waiting a minute cannot help.

use std::time::Duration;

use serde_json::Value;

use crate::{
    answer::{filled, list},
    metering::first,
    retry_after::{seconds, with_units},
};

/// What details say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Details {
    /// The reason in a word, for example `API_KEY_INVALID`.
    pub(crate) reason: Option<String>,
    /// How long to wait.
    pub(crate) retry_after: Option<Duration>,
    /// Whether a quota is used up that is not of a minute.
    pub(crate) quota_is_spent: bool,
}

impl Details {
    /// Reads the details of `error`, whose texts are `text`, lower case.
    pub(crate) fn of(error: &Value, text: &str) -> Self {
        let details = list(error, "details").iter();
        let named = details.clone().find_map(|detail| filled(detail, "reason"));
        let delay = |detail| first(detail, &["retryDelay", "retry_delay"]);
        let wait = details.clone().find_map(|detail| duration(delay(detail)?));
        let violations = details.flat_map(|detail| list(detail, "violations"));
        let quota = |violation| first(violation, &["quotaId", "quota_id"])?.as_str();
        let mut quotas = violations.filter_map(quota);
        Self {
            reason: named.map(str::to_owned),
            retry_after: wait.or_else(|| said(text)),
            quota_is_spent: quotas.any(|quota| quota.contains("PerDay"))
                || SPENT_IDS.iter().any(|id| text.contains(id))
                || (is_about_quota(error) && SPENT.iter().any(|words| text.contains(words))),
        }
    }
}

/// The words below mean a quota only in an error that is about one.
fn is_about_quota(error: &Value) -> bool {
    filled(error, "status") == Some("RESOURCE_EXHAUSTED")
}

/// How a quota is worded that does not come back in a minute: none at all, none left, none paid.
const SPENT: &[&str] =
    &["limit: 0,", "limit: 0\n", "per day", "credits are depleted", "spending cap"];

/// What stands in the names of quotas of a day. Gateways keep the whole error of the server behind
/// them as the text of their own.
const SPENT_IDS: &[&str] = &["perdayperproject", "perdayperuser"];

/// A duration is a text in seconds (`17s`, `2.46s`), or an object.
fn duration(value: &Value) -> Option<Duration> {
    match value {
        Value::String(text) => seconds(text.strip_suffix('s')?, 1.0),
        _ => {
            let whole = value.get("seconds")?;
            seconds(whole.as_str().unwrap_or(&whole.to_string()), 1.0)
        }
    }
}

/// The same in words: `please retry in 53.01s.`, `try again in 1m2.5s`, `try again in 20 seconds`.
fn said(text: &str) -> Option<Duration> {
    let (_, rest) = ["retry in ", "try again in ", "retry after "]
        .into_iter()
        .find_map(|words| text.split_once(words))?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
    let (time, unit) = rest.split_at(end);
    let unit = unit.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next()?;
    match time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        true => seconds(time.trim_end_matches('.'), of_word(unit)?),
        false => with_units(time.trim_end_matches('.')),
    }
}

/// A unit of time in a word, in seconds.
fn of_word(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" | "milliseconds" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;

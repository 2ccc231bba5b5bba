//! Decides how the answer of a tape comes: as it came then, without its delays.
//!
//! Knows one recorded exchange. Refuses to know how it was found.

use std::{
    collections::VecDeque,
    time::{Duration, UNIX_EPOCH},
};

use bytes::Bytes;
use reqwest::{
    StatusCode,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use runtime_ports::Interruption;

use super::line::{End, ExchangeLine};
use crate::response::{Head, Stop, Unanswered, Unreachable};

/// The answer of an exchange that was recorded.
#[derive(Debug)]
pub(crate) struct TapedAnswer {
    head: Result<Head, (End, bool, String)>,
    chunks: VecDeque<Bytes>,
    end: End,
}

impl TapedAnswer {
    /// That of `line`, whose chunks are `chunks`.
    pub(super) fn new(line: &ExchangeLine, chunks: VecDeque<Bytes>) -> Self {
        let status = line.status.and_then(|status| StatusCode::from_u16(status).ok());
        let head = match status {
            Some(status) => Ok(Head {
                status,
                headers: headers(line),
                at: UNIX_EPOCH + Duration::from_millis(line.at_ms),
            }),
            // Whoever did not say may have sent it.
            None => {
                Err((line.end, line.sent.unwrap_or(true), line.reason.clone().unwrap_or_default()))
            }
        };
        Self { head, chunks, end: line.end }
    }

    /// Status and headers, if there were any.
    pub(crate) fn head(&self) -> Result<Head, Unanswered> {
        let (end, sent, reason) = match &self.head {
            Ok(head) => return Ok(head.clone()),
            Err((end, sent, reason)) => (*end, *sent, reason.clone()),
        };
        Err(match stop(end) {
            _ if end == End::NotReached => Unanswered::Unreachable(Unreachable { sent, reason }),
            Some(Stop::Interrupted(interruption)) => Unanswered::Interrupted { interruption, sent },
            Some(Stop::TimedOut) => Unanswered::TimedOut { sent },
            _ => Unanswered::Unreachable(Unreachable { sent: true, reason }),
        })
    }

    /// The next chunk; then the end that there was.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, Stop> {
        match (self.chunks.pop_front(), stop(self.end)) {
            (Some(chunk), _) => Ok(Some(chunk)),
            (None, Some(stop)) => Err(stop),
            (None, None) => Ok(None),
        }
    }
}

/// What ended the answer, unless it was over. Whoever went away in the middle of it had no use for
/// the rest; nobody has seen that, and the replay is cancelled there.
const fn stop(end: End) -> Option<Stop> {
    match end {
        End::Complete | End::Enough => None,
        End::Broken | End::NotReached => Some(Stop::Broken),
        End::TimedOut => Some(Stop::TimedOut),
        End::Cancelled | End::Abandoned => Some(Stop::Interrupted(Interruption::Canceled)),
        End::DeadlineExceeded => Some(Stop::Interrupted(Interruption::DeadlineExceeded)),
    }
}

fn headers(line: &ExchangeLine) -> HeaderMap {
    let known = line.headers.iter().filter_map(|(name, value)| {
        Some((name.parse::<HeaderName>().ok()?, HeaderValue::from_str(value).ok()?))
    });
    known.collect()
}

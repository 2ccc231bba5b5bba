//! Decides what a failed connection means: that nothing was sent, or that nobody knows.
//!
//! Knows nothing about what was said over it. Messages name the server, never the address in full.
//! Invariant: after sending, `Unavailable` is what a server said of itself; a connection that broke
//! is `Protocol`, so that a caller may repeat the one and not the other.

use std::error::Error;

use runtime_ports::{PortFailure, PortFailureKind as Kind};

use crate::{failure::broken, response::Unreachable};

/// The failure of a request that got no response.
pub(crate) fn failure(unreachable: &Unreachable, origin: &str) -> PortFailure {
    if unreachable.sent {
        let message = format!("the connection to {origin} broke before the answer");
        return broken("CONNECTION_LOST", &message);
    }
    let reason = &unreachable.reason;
    let message = format!("cannot reach {origin}: {reason}; check the base url and the server");
    PortFailure::not_sent(Kind::Unavailable, "CONNECT_FAILED", message).retryable()
}

/// The failure of an answer whose connection broke while it was read.
pub(crate) fn lost(origin: &str) -> PortFailure {
    let message = format!("the connection to {origin} broke in the middle of the answer");
    broken("CONNECTION_LOST", &message)
}

/// The failure of a request whose answer did not begin in time.
pub(crate) fn head_timeout(was_sent: bool, origin: &str) -> PortFailure {
    if was_sent {
        let message = format!("{origin} did not begin to answer in time");
        return PortFailure::in_flight_unknown(Kind::Timeout, "HEAD_TIMEOUT", message).retryable();
    }
    let message = format!("cannot reach {origin} in time; check the base url and the server");
    PortFailure::not_sent(Kind::Unavailable, "CONNECT_FAILED", message).retryable()
}

/// The failure of an answer that stopped without ending.
pub(crate) fn idle(origin: &str) -> PortFailure {
    let message = format!("{origin} stopped in the middle of the answer");
    PortFailure::in_flight_unknown(Kind::Timeout, "STREAM_IDLE", message).retryable()
}

/// What failed, in words without addresses.
pub(crate) fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "it does not answer in time".to_owned();
    }
    if error.is_dns() {
        return "its name cannot be resolved".to_owned();
    }
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
            return format!("tls failed ({tls})");
        }
        if let Some(io) = cause.downcast_ref::<std::io::Error>() {
            let inner = io.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            return inner
                .map_or_else(|| io.kind().to_string(), |tls| format!("tls failed ({tls})"));
        }
        source = cause.source();
    }
    "the connection failed".to_owned()
}

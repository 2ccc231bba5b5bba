//! Decides how an answer is asked for.
//!
//! Knows nothing about how a vendor writes that.

use serde::{Deserialize, Serialize};

/// How an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// As a stream of events. The default, also for callers that do not watch: a broken connection
    /// is noticed at once, and no gateway in between gives up waiting for a long answer.
    Streamed,
    /// As one JSON document, for servers that cannot stream.
    Whole,
}

//! Decides how an answer is asked for.
//!
//! Knows nothing about what it says.

/// How an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// As a stream of events (`streamGenerateContent`). The default, also for callers that do not
    /// watch: a broken connection is noticed at once, and no gateway in between gives up waiting
    /// for a long answer.
    Streamed,
    /// As one JSON document (`generateContent`), for gateways that cannot stream.
    Whole,
}

impl Delivery {
    /// The method of the API, with its query.
    pub(crate) const fn method(self) -> &'static str {
        match self {
            Self::Streamed => "streamGenerateContent?alt=sse",
            Self::Whole => "generateContent",
        }
    }
}

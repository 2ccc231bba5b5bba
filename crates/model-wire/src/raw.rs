//! Decides how an answer is looked at as it is: bytes, and when they came.
//!
//! Knows nothing about what it says. For those who examine a server; a session reads answers with a
//! decoder.

use std::time::Duration;

use bytes::Bytes;
use runtime_ports::PortFailure;
use tokio::time::Instant;

use crate::{
    exchange::Exchange,
    heads,
    response::{self, Asked, Stop},
};

/// Most bytes of an answer that are looked at.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// An answer as it came.
#[derive(Debug, Clone)]
pub struct RawAnswer {
    /// The status.
    pub status: u16,
    /// The content type, as the server wrote it; empty when it did not.
    pub content_type: String,
    /// The bytes, as they arrived; at most 4 MiB in all.
    pub chunks: Vec<RawChunk>,
    /// How it ended.
    pub end: RawEnd,
}

/// Bytes that arrived together.
#[derive(Debug, Clone)]
pub struct RawChunk {
    /// How long after the request was begun.
    pub after: Duration,
    /// The bytes.
    pub bytes: Bytes,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawEnd {
    /// With its end.
    Complete,
    /// The connection broke.
    Broken,
    /// Nothing more came in time.
    TimedOut,
    /// This side had enough.
    HungUp,
}

/// When this side has enough of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HangUp {
    /// At its end, or at 4 MiB.
    AtTheEnd,
    /// After its first bytes.
    AfterTheFirstBytes,
}

impl Exchange<'_> {
    /// Posts `body` to `path`, or gets `path` without one, and takes whatever comes.
    ///
    /// # Cancellation
    /// Ends soon after the operation is cancelled; whether the request took effect is then unknown.
    ///
    /// # Errors
    /// There was no answer.
    pub async fn raw(
        &self,
        path: &str,
        body: Option<Bytes>,
        hang_up: HangUp,
    ) -> Result<RawAnswer, PortFailure> {
        let begun = Instant::now();
        let asked = body.map_or(Asked::Get, Asked::Post);
        let asked = response::ask(self.client, self.operation, path, asked).await;
        let mut response = asked.map_err(|unanswered| self.unanswered(unanswered))?;
        let head = response.head().clone();
        let (mut chunks, mut size) = (Vec::new(), 0);
        let end = loop {
            let until = Instant::now() + self.timeouts().idle;
            match response.chunk(self.operation, until).await {
                Ok(None) => break RawEnd::Complete,
                Err(Stop::Broken) => break RawEnd::Broken,
                Err(Stop::TimedOut) => break RawEnd::TimedOut,
                Err(Stop::Interrupted(interruption)) => return Err(interruption.in_flight()),
                Ok(Some(bytes)) => {
                    size += bytes.len();
                    chunks.push(RawChunk { after: begun.elapsed(), bytes });
                    if hang_up == HangUp::AfterTheFirstBytes || size > MOST_BYTES {
                        break RawEnd::HungUp;
                    }
                }
            }
        };
        response.end(self.operation).await;
        let content_type = heads::text(&head.headers, "content-type");
        let content_type = content_type.unwrap_or_default().to_owned();
        Ok(RawAnswer { status: head.status.as_u16(), content_type, chunks, end })
    }
}

impl RawAnswer {
    /// All bytes.
    pub fn body(&self) -> Vec<u8> {
        self.chunks.iter().flat_map(|chunk| chunk.bytes.iter().copied()).collect()
    }
}

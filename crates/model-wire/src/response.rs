//! Decides where the answer to a request comes from, the network or a tape, and says how far it
//! came when it does not come whole.
//!
//! Knows nothing about what is asked and answered. Invariant: whoever reads an answer cannot tell a
//! replay from the network: the same chunks come in the same order, and it ends in the same way.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use reqwest::{StatusCode, header::HeaderMap};
use runtime_ports::{Interruption, OperationContext, PortFailure};
use tokio::time::{Instant, timeout, timeout_at};

use crate::{
    client::HttpClient,
    connection,
    sent_body::SentFlag,
    tape::{End, Recording, TapedAnswer, millis},
};

/// What is sent.
#[derive(Debug, Clone)]
pub(crate) enum Asked {
    /// A request without a body.
    Get,
    /// A request with one.
    Post(Bytes),
}

impl Asked {
    /// The method, as it stands in a request line.
    pub(crate) const fn method(&self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post(_) => "POST",
        }
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// Nothing was sent, because a tape stands in the way.
    Tape(PortFailure),
    /// The connection failed.
    Unreachable(Unreachable),
    /// It did not begin in time.
    TimedOut {
        /// Whether the request had begun to leave.
        sent: bool,
    },
    /// The operation was interrupted.
    Interrupted {
        /// By what.
        interruption: Interruption,
        /// Whether the request had begun to leave.
        sent: bool,
    },
}

/// A connection that failed before an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreachable {
    /// Whether the request can have taken effect.
    pub(crate) sent: bool,
    /// What failed, in words without addresses.
    pub(crate) reason: String,
}

/// Why there are no more chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The connection broke.
    Broken,
    /// Nothing came in time.
    TimedOut,
    /// The operation was interrupted.
    Interrupted(Interruption),
}

/// An answer whose head has come.
pub(crate) struct Response {
    head: Head,
    body: Body,
    recording: Option<Recording>,
}

/// Status and headers.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// When it came; in a replay, when it came then.
    pub(crate) at: SystemTime,
}

enum Body {
    Network(reqwest::Response),
    Taped(TapedAnswer),
}

impl Response {
    pub(crate) const fn head(&self) -> &Head {
        &self.head
    }

    /// The next chunk; `None` at the end. Dropped before it is ready, it has taken nothing.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Stop> {
        let came = match &mut self.body {
            Body::Taped(answer) => return answer.next(),
            Body::Network(response) => response.chunk().await.map_err(|_| Stop::Broken),
        };
        if let Some(recording) = &mut self.recording {
            recording.chunk(&came);
        }
        came
    }

    /// The same within bounds.
    pub(crate) async fn chunk(
        &mut self,
        operation: &OperationContext,
        until: Instant,
    ) -> Result<Option<Bytes>, Stop> {
        match operation.bounded(timeout_at(until, self.next())).await {
            Ok(Ok(came)) => came,
            Ok(Err(_)) => Err(self.stopped(Stop::TimedOut)),
            Err(interruption) => Err(self.stopped(Stop::Interrupted(interruption))),
        }
    }

    /// No more chunks are waited for, because of `stop`.
    pub(crate) fn stopped(&mut self, stop: Stop) -> Stop {
        if let Some(recording) = &mut self.recording {
            recording.chunk(&Err(stop));
        }
        stop
    }

    /// Nothing more of it is wanted. What was recorded is written before this returns, unless the
    /// operation is interrupted.
    pub(crate) async fn end(self, operation: &OperationContext) {
        let Self { body, recording, .. } = self;
        // The connection is free at once.
        drop(body);
        if let Some(recording) = recording {
            settle(recording, operation).await;
        }
    }
}

/// Whatever happens to the operation, the writer has the recording; only the word that it is
/// written may be missed.
async fn settle(recording: Recording, operation: &OperationContext) {
    let _ = operation.bounded(recording.written()).await;
}

/// Sends a request and waits for the head of its answer.
pub(crate) async fn ask(
    client: &HttpClient,
    operation: &OperationContext,
    path: &str,
    asked: Asked,
) -> Result<Response, Unanswered> {
    if let Some(replay) = client.replay() {
        let answer = replay.answer(client.place(), asked.method(), path, &body_of(&asked));
        let answer = answer.map_err(Unanswered::Tape)?;
        let head = answer.head()?;
        return Ok(Response { head, body: Body::Taped(answer), recording: None });
    }
    let recording = match client.recorder() {
        None => None,
        Some(recorder) => {
            let begun = recorder.begin(client.place(), asked.method(), path);
            let begun = operation.bounded(begun).await;
            let begun = begun
                .map_err(|interruption| Unanswered::Interrupted { interruption, sent: false })?;
            let mut recording = begun.map_err(Unanswered::Tape)?;
            recording.request(&body_of(&asked));
            Some(recording)
        }
    };
    over_the_network(client, operation, path, asked, recording).await
}

fn body_of(asked: &Asked) -> Bytes {
    match asked {
        Asked::Get => Bytes::new(),
        Asked::Post(body) => body.clone(),
    }
}

async fn over_the_network(
    client: &HttpClient,
    operation: &OperationContext,
    path: &str,
    asked: Asked,
    mut recording: Option<Recording>,
) -> Result<Response, Unanswered> {
    let timeouts = client.timeouts();
    let patience = timeouts.connect.saturating_add(timeouts.head);
    let flag = SentFlag::default();
    // A request without a body shows nobody that it leaves.
    let always_sent = matches!(asked, Asked::Get);
    let sent = || always_sent || flag.is_up();
    let Some(request) = client.request(path, asked, &flag) else {
        let reason = "there is no network in a replay".to_owned();
        return Err(Unanswered::Unreachable(Unreachable { sent: false, reason }));
    };
    let failed = match operation.bounded(timeout(patience, request.send())).await {
        Ok(Ok(Ok(response))) => {
            let head = Head {
                status: response.status(),
                headers: response.headers().clone(),
                at: whole_millis(SystemTime::now()),
            };
            if let Some(recording) = &mut recording {
                recording.head(&head);
            }
            return Ok(Response { head, body: Body::Network(response), recording });
        }
        Ok(Ok(Err(error))) => {
            let sent = sent() && !error.is_connect();
            let reason = connection::reason(&error);
            Unanswered::Unreachable(Unreachable { sent, reason })
        }
        Ok(Err(_)) => Unanswered::TimedOut { sent: sent() },
        Err(interruption) => Unanswered::Interrupted { interruption, sent: sent() },
    };
    if let Some(mut recording) = recording {
        recording.unanswered(&failed);
        settle(recording, operation).await;
    }
    Err(failed)
}

/// A tape keeps milliseconds; what is told of a live answer must not be finer.
fn whole_millis(at: SystemTime) -> SystemTime {
    UNIX_EPOCH + std::time::Duration::from_millis(millis(at))
}

impl From<&Stop> for End {
    fn from(stop: &Stop) -> Self {
        match stop {
            Stop::Broken => Self::Broken,
            Stop::TimedOut => Self::TimedOut,
            Stop::Interrupted(Interruption::Canceled) => Self::Cancelled,
            Stop::Interrupted(Interruption::DeadlineExceeded) => Self::DeadlineExceeded,
        }
    }
}

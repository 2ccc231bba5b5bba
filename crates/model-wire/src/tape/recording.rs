//! Decides what is kept of one exchange, while it goes on.
//!
//! Knows the exchange as it happens. Refuses to know files. Invariant: an exchange that began is
//! written once, however it ends; also when nobody waits for it any more.

use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::{mpsc::OwnedPermit, oneshot};

use super::{
    TapeError,
    line::{Chunk, End, ExchangeLine, millis},
    recorder::{Fate, Job},
    secrets::{Known, Secrets},
};
use crate::{
    heads,
    response::{Head, Stop, Unanswered},
};

/// Most bytes of one answer, in MiB.
const LARGEST_MIB: usize = 64;

/// An exchange that goes on.
pub(crate) struct Recording {
    place: Option<OwnedPermit<Job>>,
    taken: Option<Box<Taken>>,
    fate: Arc<Fate>,
}

/// What is known of an exchange.
pub(super) struct Taken {
    line: ExchangeLine,
    request: Bytes,
    chunks: Vec<Bytes>,
    size: usize,
    end: Option<End>,
    known: Arc<Known>,
}

impl Recording {
    pub(super) fn new(place: OwnedPermit<Job>, taken: Taken, fate: Arc<Fate>) -> Self {
        Self { place: Some(place), taken: Some(Box::new(taken)), fate }
    }

    /// The body that is about to leave.
    pub(crate) fn request(&mut self, body: &Bytes) {
        if let Some(taken) = &mut self.taken {
            taken.request = body.clone();
        }
    }

    /// The head of the answer has come.
    pub(crate) fn head(&mut self, head: &Head) {
        if let Some(taken) = &mut self.taken {
            taken.head(head);
        }
    }

    /// A chunk has come, or none.
    pub(crate) fn chunk(&mut self, came: &Result<Option<Bytes>, Stop>) {
        if let Some(taken) = &mut self.taken {
            taken.chunk(came, &self.fate);
        }
    }

    /// There is no answer.
    pub(crate) fn unanswered(&mut self, why: &Unanswered) {
        if let Some(taken) = &mut self.taken {
            taken.unanswered(why);
        }
    }

    /// It is over; ready when it is written.
    pub(crate) async fn written(mut self) {
        let (written, word) = oneshot::channel();
        if let Some(taken) = &mut self.taken {
            taken.end.get_or_insert(End::Enough);
        }
        self.give(Some(written));
        // A writer that is gone has said why, and the next request is told.
        let _ = word.await;
    }

    fn give(&mut self, word: Option<oneshot::Sender<()>>) {
        if let (Some(place), Some(taken)) = (self.place.take(), self.taken.take()) {
            place.send(Job::Exchange(taken, word));
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.give(None);
    }
}

impl Taken {
    pub(super) fn new(
        number: u64,
        (to, method, path): (&str, &str, &str),
        known: Arc<Known>,
    ) -> Self {
        let line = ExchangeLine {
            exchange: number,
            at_ms: millis(SystemTime::now()),
            to: to.to_owned(),
            method: method.to_owned(),
            path: path.to_owned(),
            request: None,
            redacted: 0,
            sent: None,
            status: None,
            headers: BTreeMap::new(),
            chunks: Vec::new(),
            end: End::Abandoned,
            reason: None,
        };
        let (request, chunks, size, end) = (Bytes::new(), Vec::new(), 0, None);
        Self { line, request, chunks, size, end, known }
    }

    fn head(&mut self, head: &Head) {
        self.line.at_ms = millis(head.at);
        self.line.status = Some(head.status.as_u16());
        for name in heads::READ {
            if let Some(value) = heads::text(&head.headers, name) {
                self.line.headers.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    fn chunk(&mut self, came: &Result<Option<Bytes>, Stop>, fate: &Fate) {
        match came {
            Ok(Some(chunk)) => {
                self.size += chunk.len();
                if self.size > LARGEST_MIB * 1024 * 1024 {
                    fate.set(TapeError::TooLarge(LARGEST_MIB));
                    self.chunks.clear();
                } else {
                    self.chunks.push(chunk.clone());
                }
            }
            Ok(None) => self.end = Some(End::Complete),
            Err(stop) => self.end = Some(stop.into()),
        }
    }

    fn unanswered(&mut self, why: &Unanswered) {
        let (end, sent) = match why {
            Unanswered::Tape(_) => return,
            Unanswered::Unreachable(unreachable) => {
                self.line.reason = Some(unreachable.reason.clone());
                (End::NotReached, unreachable.sent)
            }
            Unanswered::TimedOut { sent } => (End::TimedOut, *sent),
            Unanswered::Interrupted { interruption, sent } => {
                (End::from(&Stop::Interrupted(*interruption)), *sent)
            }
        };
        (self.end, self.line.sent) = (Some(end), Some(sent));
    }

    /// What is written: nothing that is secret.
    pub(super) fn into_line(self) -> ExchangeLine {
        let Self { mut line, request, chunks, end, known, .. } = self;
        // By now: a client may have come since the exchange began.
        let secrets = known.all();
        if !request.is_empty() {
            let mut value = serde_json::from_slice(&request)
                .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&request).into_owned()));
            line.redacted = secrets.blot_value(&mut value);
            line.request = Some(value);
        }
        for text in line.headers.values_mut().chain(&mut line.reason) {
            *text = secrets.blotted(text);
        }
        line.path = secrets.blotted(&line.path);
        line.to = secrets.blotted(&line.to);
        line.chunks = blotted(&chunks, &secrets);
        line.end = end.unwrap_or(End::Abandoned);
        line
    }
}

/// A secret may lie across chunks.
fn blotted(chunks: &[Bytes], secrets: &Secrets) -> Vec<Chunk> {
    let mut joined = chunks.concat();
    secrets.blot(&mut joined);
    let mut rest = Bytes::from(joined);
    chunks.iter().map(|chunk| Chunk(rest.split_to(chunk.len()))).collect()
}

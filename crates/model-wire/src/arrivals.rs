//! Decides when to wait for the next bytes of an answer, and when to look once more whether they
//! are there already.
//!
//! Knows nothing about what they say. Invariant: before a wait, what was told so far is handed on.

use std::{pin::pin, time::Duration};

use bytes::Bytes;
use tokio::{task::yield_now, time::Instant};

use crate::{
    gathered::Gathered,
    response::{Response, Stop},
    waiting::{Waited, Waiting},
};

/// Pieces that come faster than this are parts of one burst: the task that reads the connection
/// hands them over one by one, and has its turn before they are told.
const BURST: Duration = Duration::from_micros(20);

/// The pieces of one answer.
pub(crate) struct Arrivals<'a> {
    waiting: Waiting<'a>,
    last: Option<Instant>,
    in_a_burst: bool,
}

/// More bytes, or the end of them.
type Piece = Result<Option<Bytes>, Stop>;

impl<'a> Arrivals<'a> {
    /// Nothing has arrived yet.
    pub(crate) const fn new(waiting: Waiting<'a>) -> Self {
        Self { waiting, last: None, in_a_burst: false }
    }

    /// The next piece. What `sink` holds is handed on before waiting for it, and not before each
    /// of those that are there already.
    pub(crate) async fn next(
        &mut self,
        response: &mut Response,
        patience: Instant,
        sink: &Gathered<'_>,
    ) -> Waited<Piece> {
        let mut piece = pin!(response.next());
        if self.in_a_burst {
            if let Some(ready) = self.waiting.if_ready(piece.as_mut()).await {
                return ready;
            }
            yield_now().await;
        }
        let piece = self.waiting.until(patience, piece, || sink.release()).await;
        self.note(Instant::now());
        piece
    }

    fn note(&mut self, now: Instant) {
        self.in_a_burst = self.last.is_some_and(|last| now - last < BURST);
        self.last = Some(now);
    }
}

//! Decides when to wait for the next bytes of an answer, and when to look once more whether they
//! are there already.
//!
//! Knows nothing about what they say. Invariant: before a wait, what was told so far is handed on.

use std::pin::pin;

use bytes::Bytes;
use tokio::{task::yield_now, time::Instant};

use crate::{
    gathered::Gathered,
    response::{Response, Stop},
    waiting::{Waited, Waiting},
};

/// Most waits until it is tried again whether a burst is under way.
const MOST_WAITS: u32 = 64;

/// The pieces of one answer.
pub(crate) struct Arrivals<'a> {
    waiting: Waiting<'a>,
    bursts: Bursts,
}

/// More bytes, or the end of them.
type Piece = Result<Option<Bytes>, Stop>;

impl<'a> Arrivals<'a> {
    /// Nothing has arrived yet.
    pub(crate) const fn new(waiting: Waiting<'a>) -> Self {
        Self { waiting, bursts: Bursts::new() }
    }

    /// When the last piece came, or nothing yet.
    pub(crate) const fn seen(&self) -> Instant {
        self.waiting.seen()
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
        if self.bursts.may_be_under_way() {
            if let Some(ready) = self.waiting.if_ready(piece.as_mut()).await {
                return ready;
            }
            // The task that reads the connection hands pieces over one by one: it has its turn.
            yield_now().await;
            let ready = self.waiting.if_ready(piece.as_mut()).await;
            self.bursts.learn(ready.is_some());
            if let Some(ready) = ready {
                return ready;
            }
        }
        self.waiting.until(patience, piece, || sink.release()).await
    }
}

/// Whether pieces come in bursts: learnt from looking for one more, which costs a little, and
/// looked for the less often the more often in vain.
#[derive(Debug)]
struct Bursts {
    waits_left: u32,
    waits_next: u32,
}

impl Bursts {
    const fn new() -> Self {
        Self { waits_left: 0, waits_next: 1 }
    }

    const fn may_be_under_way(&mut self) -> bool {
        let is_time = self.waits_left == 0;
        self.waits_left = self.waits_left.saturating_sub(1);
        is_time
    }

    fn learn(&mut self, was_one: bool) {
        if was_one {
            *self = Self::new();
            return;
        }
        self.waits_left = self.waits_next;
        self.waits_next = (self.waits_next * 2).min(MOST_WAITS);
    }
}

#[cfg(test)]
mod tests;

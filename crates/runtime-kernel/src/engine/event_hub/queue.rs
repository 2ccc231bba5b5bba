//! Decides which event is left out when a watcher is slow.
//!
//! Knows nothing about watchers. Invariants: at most `capacity` events wait; what was left out is
//! counted between the events that it stood between.

use std::{collections::VecDeque, sync::Arc};

use runtime_decision::RunEvent;

/// Room for so many events is kept when none waits.
const KEPT_ROOM: usize = 4;

/// The events that wait for one watcher.
pub(super) struct Queue {
    capacity: usize,
    waiting: VecDeque<Waiting>,
    /// Deltas among them.
    deltas: usize,
    /// Left out after all of them.
    missed: u64,
}

struct Waiting {
    /// Left out before this one.
    missed: u64,
    is_delta: bool,
    event: Arc<RunEvent>,
}

/// What a watcher gets next.
pub(super) enum Taken {
    Event(Arc<RunEvent>),
    Missed(u64),
}

impl Queue {
    pub(super) const fn new(capacity: usize) -> Self {
        let capacity = if capacity == 0 { 1 } else { capacity };
        Self { capacity, waiting: VecDeque::new(), deltas: 0, missed: 0 }
    }

    /// Takes an event in. When there is no room, the oldest delta is left out, be it the new
    /// event; without a delta the oldest event, which is never the last one of a run: nothing is
    /// pushed after it.
    pub(super) fn push(&mut self, event: Arc<RunEvent>) {
        let is_delta = event.event.is_delta();
        if self.waiting.len() >= self.capacity {
            if is_delta && self.deltas == 0 {
                self.missed += 1;
                return;
            }
            self.leave_out_one();
        }
        let missed = std::mem::take(&mut self.missed);
        self.deltas += usize::from(is_delta);
        self.waiting.push_back(Waiting { missed, is_delta, event });
    }

    pub(super) fn take(&mut self) -> Option<Taken> {
        let missed = self.waiting.front_mut().map_or(&mut self.missed, |first| &mut first.missed);
        if *missed > 0 {
            return Some(Taken::Missed(std::mem::take(missed)));
        }
        let first = self.waiting.pop_front()?;
        if self.waiting.is_empty() {
            // What a burst took is given back: a run may wait for long.
            self.waiting.shrink_to(KEPT_ROOM);
        }
        self.deltas -= usize::from(first.is_delta);
        Some(Taken::Event(first.event))
    }

    fn leave_out_one(&mut self) {
        let oldest_delta = match self.deltas {
            0 => None,
            _ => self.waiting.iter().position(|waiting| waiting.is_delta),
        };
        let place = oldest_delta.unwrap_or(0);
        let Some(gone) = self.waiting.remove(place) else { return };
        self.deltas -= usize::from(gone.is_delta);
        let next = self.waiting.get_mut(place).map_or(&mut self.missed, |next| &mut next.missed);
        *next += gone.missed + 1;
    }
}

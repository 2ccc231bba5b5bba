//! Decides what becomes of the keys and signals that stop, while a message is worked on.
//!
//! Knows how often they came. Refuses to know what is at work. Invariant: a process that does not
//! come to its end can be ended all the same, and the terminal is given back first.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::seat::Seat;
use crate::{
    exit::Exit,
    job::Job,
    panel::{Panel, Wish},
    show::Show,
};

/// So many times Ctrl-C ends the process, whatever is at work.
const PRESSES_THAT_END: u32 = 3;

/// What the person pressed while a message is worked on.
pub(super) struct Pressed {
    stop: CancellationToken,
    show: Arc<dyn Show>,
    panel: Option<Arc<Panel>>,
    presses: u32,
    /// Whether the person leaves.
    pub(super) leaves: bool,
    /// Whether somebody else wants the process to end.
    pub(super) ends: bool,
}

impl Pressed {
    /// Nothing yet.
    pub(super) fn new(job: &Job<'_>, seat: &Seat) -> Self {
        Self {
            stop: job.operation.cancellation.clone(),
            show: Arc::clone(&job.bench.ground.show),
            panel: seat.panel.clone(),
            presses: 0,
            leaves: false,
            ends: false,
        }
    }

    /// Does what is wished for.
    pub(super) fn take(&mut self, wish: Wish) {
        match wish {
            // Nothing is typed, and something is at work: whoever wants to leave stops it first.
            Wish::Leave => return,
            Wish::Stop => self.ends |= self.panel.is_none(),
            Wish::Quit => self.leaves = true,
            Wish::End => self.ends = true,
        }
        self.leaves |= self.ends;
        self.presses += 1;
        match self.presses {
            1 => self.show.note("agent: stopping"),
            PRESSES_THAT_END => self.end_at_once(),
            _ => self.show.note("agent: still stopping; press Ctrl-C again to end at once"),
        }
        self.stop.cancel();
    }

    fn end_at_once(&self) {
        if let Some(panel) = &self.panel {
            panel.close();
        }
        std::process::exit(i32::from(Exit::Cancelled.code()));
    }
}

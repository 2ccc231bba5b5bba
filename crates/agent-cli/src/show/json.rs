//! Decides how an event is printed for a program: one JSON object a line, on standard output.
//!
//! Knows nothing about terminals. Raw text is kept: JSON escapes control characters itself.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{
    event::{EVENT_VERSION, Envelope, Event},
    screen::Screen,
    show::Show,
};

/// Prints events and counts them.
pub(crate) struct JsonLines {
    screen: Arc<Screen>,
    sequence: Mutex<u64>,
}

impl JsonLines {
    pub(crate) fn new(screen: Arc<Screen>) -> Self {
        Self { screen, sequence: Mutex::new(0) }
    }
}

impl Show for JsonLines {
    fn show(&self, event: &Event) {
        let mut sequence = self.sequence.lock().unwrap_or_else(PoisonError::into_inner);
        *sequence += 1;
        let envelope =
            Envelope { version: EVENT_VERSION, sequence: *sequence, at_ms: now_ms(), event };
        if let Ok(mut line) = serde_json::to_vec(&envelope) {
            line.push(b'\n');
            self.screen.lines_out(&line);
        }
    }

    fn note(&self, _text: &str) {}
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

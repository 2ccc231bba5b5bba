//! Decides how events reach whoever watches: a person, or a program.
//!
//! Knows the two forms; refuses to know what led to an event.

mod human;
mod json;
pub(crate) mod tap;

use std::sync::Arc;

use crate::event::Event;

/// Takes events in order. Must not fail: a closed pipe ends nothing.
pub(crate) trait Show: Send + Sync {
    /// Shows one event.
    fn show(&self, event: &Event);

    /// A line for a person that is no event; programs are not shown it.
    fn note(&self, text: &str);
}

/// The form that the command line asked for.
pub(crate) fn form(json: bool) -> Arc<dyn Show> {
    if json { Arc::new(json::JsonLines::new()) } else { Arc::new(human::Terminal::new()) }
}

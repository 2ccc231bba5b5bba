//! Decides how what is told reaches whoever watches: a person, or a program.
//!
//! Knows the two forms; refuses to know what led to an event.

mod call;
mod calls;
mod detour;
mod human;
mod json;
mod outcome;
mod receipt;

pub(crate) use receipt::end_text;

use std::sync::Arc;

use crate::{screen::Screen, told::Told};

/// Takes what is told, in order. Must not fail: a closed pipe ends nothing.
pub(crate) trait Show: Send + Sync {
    /// Shows it.
    fn show(&self, told: Told<'_>);

    /// A line for a person that is no event; programs are not shown it.
    fn note(&self, text: &str);
}

/// How much a person is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Of one task: each request and each cycle.
    Task,
    /// In a conversation: what each answer comes to.
    Talk,
}

/// The form that the command line asked for.
pub(crate) fn form(json: bool, screen: &Arc<Screen>, manner: Manner) -> Arc<dyn Show> {
    let screen = Arc::clone(screen);
    match json {
        true => Arc::new(json::JsonLines::new(screen)),
        false => Arc::new(human::Person::new(screen, manner)),
    }
}

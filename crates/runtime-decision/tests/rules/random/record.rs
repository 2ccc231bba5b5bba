//! Decides what is kept of a random run.

use runtime_decision::{Charge, EffectId, Halt, Input, Requested, RunEvent};

/// Everything that happened, in order.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) happenings: Vec<Happening>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Happening {
    /// An input that was taken.
    Taken(Input),
    /// An effect that was asked for.
    Asked(Requested),
    /// An effect that was halted.
    Halted(EffectId, Halt),
    /// What was reserved was settled.
    Charged(Charge),
    /// An event.
    Told(RunEvent),
    /// The process was lost, with all that was in flight.
    Crashed,
}

impl Record {
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.happenings.iter().filter_map(|happening| match happening {
            Happening::Taken(input) => Some(input),
            _ => None,
        })
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = &RunEvent> {
        self.happenings.iter().filter_map(|happening| match happening {
            Happening::Told(event) => Some(event),
            _ => None,
        })
    }

    pub(crate) fn asked(&self) -> impl Iterator<Item = &Requested> {
        self.happenings.iter().filter_map(|happening| match happening {
            Happening::Asked(requested) => Some(requested),
            _ => None,
        })
    }
}

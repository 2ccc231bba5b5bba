//! Decides what is said of one thing that was tried at a server.
//!
//! Knows nothing about how it was tried.

use crate::endpoint::Api;

/// What follows from what came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// As the API says.
    Works,
    /// Otherwise, and the adapter copes with it.
    Handled,
    /// It cannot be used.
    Broken,
    /// It was not tried, or what came says nothing.
    Untested,
}

impl Verdict {
    /// For people.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Handled => "handled",
            Self::Broken => "will not work",
            Self::Untested => "not tested",
        }
    }

    /// For programs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Handled => "deviates_handled",
            Self::Broken => "will_not_work",
            Self::Untested => "not_tested",
        }
    }
}

/// What an agent can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Not this.
    Needed,
    /// This.
    Spared,
}

/// One thing that can be tried: what it is called, in which APIs it makes sense, what is asked, and
/// whether an agent needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe {
    pub(crate) name: &'static str,
    pub(crate) apis: &'static [Api],
    pub(crate) asked: &'static str,
    pub(crate) need: Need,
    /// What is lost where it does not work.
    pub(crate) loss: &'static str,
}

/// What came of it.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) probe: Probe,
    pub(crate) verdict: Verdict,
    pub(crate) came: String,
}

impl Finding {
    /// Whether an agent cannot work with this server.
    pub(crate) fn is_fatal(&self) -> bool {
        self.verdict == Verdict::Broken && self.probe.need == Need::Needed
    }
}

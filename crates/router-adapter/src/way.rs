//! Decides who is asked first for an answer, and who after one that failed.
//!
//! Knows circuits and windows. Refuses to know why a call goes on. Invariant: the way leads only
//! forward; where every endpoint is left alone, one call at a time tries one of them.

use runtime_ports::{PortFailure, PortFailureKind};

use crate::{
    candidate::{Candidate, Pass},
    policy::RetryPolicy,
    retry::Next,
    route::Route,
};

/// The candidates of one call.
#[derive(Clone, Copy)]
pub(crate) struct Way<'a> {
    pub(crate) route: &'a Route,
    pub(crate) policy: &'a RetryPolicy,
    /// About so many tokens are asked.
    pub(crate) tokens: u64,
}

/// A candidate that is asked.
#[derive(Clone, Copy)]
pub(crate) struct Stop<'a> {
    /// 0 is the model that was asked for.
    pub(crate) place: usize,
    pub(crate) candidate: &'a Candidate,
}

/// A candidate that lets the call in.
pub(crate) type Entered<'a> = (Stop<'a>, Pass);

impl<'a> Way<'a> {
    /// The first candidate that is not left alone. Where all are, one that nobody else tries.
    ///
    /// # Errors
    /// All are left alone and tried by others: nothing was sent.
    pub(crate) fn first(self) -> Result<Entered<'a>, PortFailure> {
        let policy = self.policy.circuit;
        let entered = self.stops().find_map(|stop| Some((stop, stop.candidate.gate.pass(policy)?)));
        let early =
            || self.stops().find_map(|stop| Some((stop, stop.candidate.gate.early_pass(policy)?)));
        entered.or_else(early).ok_or_else(|| left_alone(self.policy))
    }

    /// The same candidate once more.
    pub(crate) fn again(self, stop: Stop<'a>) -> Option<Entered<'a>> {
        Some((stop, stop.candidate.gate.pass(self.policy.circuit)?))
    }

    /// The next candidate that is not left alone.
    pub(crate) fn after(self, stop: Stop<'a>) -> Option<Entered<'a>> {
        self.entered(self.later(stop))
    }

    /// The next one with a larger window.
    pub(crate) fn larger_after(self, stop: Stop<'a>) -> Option<Entered<'a>> {
        self.entered(self.later(stop).filter(move |next| next.is_larger_than(stop)))
    }

    /// Whether there is one.
    pub(crate) fn next(self, stop: Stop<'a>) -> Next {
        let open = self.later(stop).filter(|next| next.candidate.gate.admits());
        open.fold(Next::Nobody, |found, next| match found {
            Next::Larger => found,
            _ if next.is_larger_than(stop) => Next::Larger,
            _ => Next::Somebody,
        })
    }

    fn entered(self, stops: impl Iterator<Item = Stop<'a>>) -> Option<Entered<'a>> {
        let policy = self.policy.circuit;
        stops.into_iter().find_map(|stop| Some((stop, stop.candidate.gate.pass(policy)?)))
    }

    fn later(self, stop: Stop<'a>) -> impl Iterator<Item = Stop<'a>> {
        self.stops().filter(move |next| next.place > stop.place)
    }

    /// Whoever is asked in the place of another should be able to hold what is asked.
    fn stops(self) -> impl Iterator<Item = Stop<'a>> {
        let stops = self.route.candidates().enumerate();
        let stops = stops.map(|(place, candidate)| Stop { place, candidate });
        stops.filter(move |stop| stop.place == 0 || stop.candidate.fits(self.tokens))
    }
}

impl Stop<'_> {
    fn is_larger_than(self, other: Self) -> bool {
        self.candidate.profile.max_input_tokens > other.candidate.profile.max_input_tokens
    }
}

fn left_alone(policy: &RetryPolicy) -> PortFailure {
    let message = "the provider failed too often just now, and another call finds out whether it \
                   works again; nothing was sent, try again soon";
    PortFailure::not_sent(PortFailureKind::Unavailable, "provider_left_alone", message)
        .retry_after(policy.circuit.cool_down)
}

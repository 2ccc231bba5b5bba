//! Decides who may be asked for an answer, and what a call teaches about an endpoint.
//!
//! Knows nothing about what is asked. Invariant: whoever was let in to an endpoint settles its pass
//! once; a pass that is dropped says nothing about the endpoint.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runtime_ports::{
    AgentProvider, CommitDisposition, ModelProfile, ModelSession, PortFailure, PortFailureKind,
};
use tokio::time::Instant;

use crate::{
    circuit::{Circuit, Entry, Report},
    observer::ServedModel,
    policy::CircuitPolicy,
};

/// A session and the model that it is asked for.
#[derive(Clone)]
pub(crate) struct Candidate {
    pub(crate) provider: AgentProvider,
    pub(crate) provider_model: Arc<str>,
    pub(crate) profile: ModelProfile,
    pub(crate) session: Arc<dyn ModelSession>,
    pub(crate) gate: Gate,
}

/// The circuit of an endpoint. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<Mutex<Circuit>>);

/// A call that was let in to an endpoint.
pub(crate) struct Pass {
    gate: Gate,
    policy: CircuitPolicy,
    entry: Option<Entry>,
}

impl Candidate {
    /// The model and who serves it, for people.
    pub(crate) fn name(&self) -> String {
        format!("{} at {}", self.provider_model, self.provider)
    }

    /// The same, for programs.
    pub(crate) fn served(&self) -> ServedModel {
        let (provider, model) = (self.provider.to_string(), self.provider_model.to_string());
        ServedModel { provider, model }
    }

    /// Whether a request of so many tokens should fit.
    pub(crate) const fn fits(&self, estimated_tokens: u64) -> bool {
        estimated_tokens <= self.profile.max_input_tokens
    }
}

impl Gate {
    /// Whether a call would be let in now.
    pub(crate) fn admits(&self) -> bool {
        self.lock().admits(Instant::now())
    }

    /// Lets a call in; `None` while the endpoint is left alone.
    pub(crate) fn pass(&self, policy: CircuitPolicy) -> Option<Pass> {
        let entry = self.lock().admit(Instant::now());
        entry.map(|entry| self.issued(policy, entry))
    }

    /// Lets a call in although the endpoint is left alone; `None` while another finds out.
    pub(crate) fn early_pass(&self, policy: CircuitPolicy) -> Option<Pass> {
        let entry = self.lock().admit_early();
        entry.map(|entry| self.issued(policy, entry))
    }

    fn issued(&self, policy: CircuitPolicy, entry: Entry) -> Pass {
        Pass { gate: self.clone(), policy, entry: Some(entry) }
    }

    fn lock(&self) -> MutexGuard<'_, Circuit> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass {
    /// Says what became of the call.
    pub(crate) fn settle(mut self, report: Report) {
        self.tell(report);
    }

    fn tell(&mut self, report: Report) {
        if let Some(entry) = self.entry.take() {
            self.gate.lock().settle(entry, report, Instant::now(), &self.policy);
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.tell(Report::Nothing);
    }
}

/// What a failure says about the endpoint that it came from.
pub(crate) const fn report_of(failure: &PortFailure, delta_delivered: bool) -> Report {
    use PortFailureKind::{Canceled, Internal, Protocol, Timeout, Unavailable};
    let is_open = matches!(failure.commit, CommitDisposition::Unknown);
    match failure.kind {
        Unavailable => Report::Failed,
        // Refused on this side: nobody knows whether the endpoint would have answered.
        _ if is_refused_here(failure) => Report::Nothing,
        // Silence, or a connection that broke, before anything came; later it was alive.
        Timeout | Protocol if is_open && !delta_delivered => Report::Failed,
        // Before anything was sent, time and cancellation are the caller's.
        Timeout | Protocol | Canceled | Internal => Report::Nothing,
        _ => Report::Alive,
    }
}

const fn is_refused_here(failure: &PortFailure) -> bool {
    matches!(failure.commit, CommitDisposition::NotCommitted) && failure.attempts.is_empty()
}

#[cfg(test)]
mod tests;

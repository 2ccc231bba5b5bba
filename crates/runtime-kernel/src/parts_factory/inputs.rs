//! Decides which inputs are delivered, and which were delivered already.
//!
//! Knows nothing about who takes them. Invariant: of one operation at most one input is delivered;
//! one that may have been is never delivered again.

#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, VecDeque},
    future::Future,
    sync::{Mutex, MutexGuard, PoisonError},
};

use runtime_ports::{
    CommitDisposition, Digest, InteractionResponse, Interruption, OperationContext, PortFailure,
    PortFailureKind,
};
use runtime_types::{ExecutionId, OperationId};
use tokio::sync::watch;

/// How many inputs are remembered.
const REMEMBERED: usize = 10_000;

type Delivered = Result<(), PortFailure>;

/// An input, by the digest of what it says to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Input(Digest);

impl Input {
    pub(super) fn new(
        execution: &ExecutionId,
        request_id: &str,
        response: &InteractionResponse,
    ) -> Self {
        Self(Digest::of_json(&(execution.as_str(), request_id, response)))
    }
}

/// The inputs of a factory.
#[derive(Default)]
pub(super) struct Inputs(Mutex<Known>);

#[derive(Default)]
struct Known {
    by_operation: HashMap<OperationId, (Input, watch::Receiver<Option<Delivered>>)>,
    delivered: VecDeque<OperationId>,
}

impl Inputs {
    /// Delivers the input of an operation, unless that was done or is being done.
    pub(super) async fn once(
        &self,
        operation: &OperationContext,
        id: &OperationId,
        input: Input,
        deliver: impl Future<Output = Delivered>,
    ) -> Delivered {
        let (duty, mut told) = {
            let mut known = self.known();
            match known.by_operation.get(id) {
                Some((before, _)) if *before != input => return Err(conflict()),
                Some((_, told)) => (None, told.clone()),
                None => {
                    let (sender, told) = watch::channel(None);
                    known.by_operation.insert(id.clone(), (input, told.clone()));
                    let (inputs, sender) = (self, Some(sender));
                    (Some(Duty { inputs, id: id.clone(), sender }), told)
                }
            }
        };
        if let Some(mut duty) = duty {
            let delivered = operation.bounded(deliver).await;
            let delivered = delivered.unwrap_or_else(|ended| Err(ended.in_flight()));
            duty.say(delivered.clone());
            return delivered;
        }
        let told = operation.bounded(told.wait_for(Option::is_some)).await;
        let told = told.map_err(Interruption::in_flight)?;
        told.ok().and_then(|told| told.clone()).unwrap_or_else(|| Err(lost()))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The duty to say what became of an input. Dropped before that, it says that nobody knows.
struct Duty<'a> {
    inputs: &'a Inputs,
    id: OperationId,
    sender: Option<watch::Sender<Option<Delivered>>>,
}

impl Duty<'_> {
    fn say(&mut self, delivered: Delivered) {
        let Some(sender) = self.sender.take() else { return };
        let mut known = self.inputs.known();
        match &delivered {
            Err(failure) if failure.commit == CommitDisposition::NotCommitted => {
                known.by_operation.remove(&self.id);
            }
            _ => known.remember(self.id.clone()),
        }
        drop(known);
        sender.send_replace(Some(delivered));
    }
}

impl Drop for Duty<'_> {
    fn drop(&mut self) {
        self.say(Err(lost()));
    }
}

impl Known {
    fn remember(&mut self, id: OperationId) {
        self.delivered.push_back(id);
        if self.delivered.len() > REMEMBERED
            && let Some(oldest) = self.delivered.pop_front()
        {
            self.by_operation.remove(&oldest);
        }
    }
}

fn conflict() -> PortFailure {
    let message = "this operation submitted another input; use a new operation";
    PortFailure::rejected(PortFailureKind::Conflict, "input_conflict", message)
}

fn lost() -> PortFailure {
    let message = "the call that delivered this input was dropped; look whether its question waits";
    PortFailure::in_flight_unknown(PortFailureKind::Canceled, "input_lost", message)
}

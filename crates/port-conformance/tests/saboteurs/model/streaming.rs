//! What the saboteur does wrong with deltas.
//!
//! Knows nothing about the answer that they belong to.

use std::sync::{Mutex, MutexGuard, PoisonError};

use in_memory_fakes::DeltaLog;
use runtime_ports::{DeltaSink, ModelDelta, ModelResponse, PortFailure, TokenUsage};

use super::ModelFault;

/// A sink that passes deltas on, but not as they are.
pub(super) struct SpoiledDeltas<'a> {
    fault: ModelFault,
    sink: &'a dyn DeltaSink,
    texts: Mutex<u32>,
    held: DeltaLog,
}

impl<'a> SpoiledDeltas<'a> {
    pub(super) fn new(fault: ModelFault, sink: &'a dyn DeltaSink) -> Self {
        Self { fault, sink, texts: Mutex::default(), held: DeltaLog::default() }
    }

    /// Passes on what was held back.
    pub(super) fn finish(&self) {
        self.held.all().iter().for_each(|delta| self.sink.delta(delta.as_delta()));
    }

    fn texts(&self) -> MutexGuard<'_, u32> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_lost(&self, delta: ModelDelta<'_>) -> bool {
        match (self.fault, delta) {
            (ModelFault::LosesADelta, ModelDelta::Text(_)) => {
                *self.texts() += 1;
                *self.texts() == 2
            }
            (ModelFault::LosesArgumentDeltas, ModelDelta::ToolArguments { .. }) => true,
            _ => false,
        }
    }
}

impl DeltaSink for SpoiledDeltas<'_> {
    fn delta(&self, delta: ModelDelta<'_>) {
        if self.fault == ModelFault::HoldsDeltasBack {
            self.held.delta(delta);
        } else if !self.is_lost(delta) {
            self.sink.delta(delta);
        }
    }
}

/// What a streamed call gives.
pub(super) fn spoiled_outcome(
    fault: ModelFault,
    streamed: bool,
    outcome: Result<ModelResponse, PortFailure>,
) -> Result<ModelResponse, PortFailure> {
    match outcome {
        Ok(response) if streamed && fault == ModelFault::StreamsOtherUsage => {
            Ok(ModelResponse { usage: TokenUsage::default(), ..response })
        }
        outcome => outcome,
    }
}

//! Decides what requests to a model may hold, as far as whoever built the session said so.
//!
//! Knows no model by itself.

use std::collections::HashMap;

use runtime_ports::{ModelProfile, PortFailure, PortFailureKind};

/// The profiles that a session was built with.
#[derive(Debug, Clone, Default)]
pub struct Profiles {
    by_model: HashMap<String, ModelProfile>,
    other: Option<ModelProfile>,
}

impl Profiles {
    /// Sets what requests to `model` may hold.
    pub fn set(&mut self, model: impl Into<String>, profile: ModelProfile) {
        self.by_model.insert(model.into(), profile);
    }

    /// Sets what requests to any other model may hold.
    pub fn set_other(&mut self, profile: ModelProfile) {
        self.other = Some(profile);
    }

    /// What requests to `model` may hold.
    #[must_use]
    pub fn get(&self, model: &str) -> Option<&ModelProfile> {
        self.by_model.get(model).or(self.other.as_ref())
    }

    /// The same, as a session answers it.
    ///
    /// # Errors
    /// `NotFound` when nobody said what the model is.
    pub fn of(&self, model: &str) -> Result<&ModelProfile, PortFailure> {
        self.get(model).ok_or_else(|| {
            let message = "this session has no profile of the model; build it with `profile` or \
                           `default_profile`";
            PortFailure::not_sent(PortFailureKind::NotFound, "MODEL_NOT_FOUND", message)
        })
    }
}

//! Decides how the answer of a run becomes a value of a type.
//!
//! Knows serde; refuses to know schemas.

use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::{RunResult, RunStatus};

/// Why a run has no answer of a type.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The run did not complete, or its agent has no schema for its answer.
    #[error(
        "the run has no answer as JSON and ended as {status:?}; \
         look at its status, and give the agent a schema"
    )]
    None {
        /// How the run ended.
        status: RunStatus,
    },
    /// The answer follows the schema, and the type demands something else.
    #[error("the answer does not fit the type; derive the schema of the agent from the type")]
    OtherType(#[source] serde_json::Error),
}

impl RunResult {
    /// The answer as a value of the type that the agent's schema was derived from, or that fits it.
    ///
    /// # Errors
    /// There is no answer as JSON, or it is none of this type.
    pub fn answer_as<T: DeserializeOwned>(&self) -> Result<T, AnswerError> {
        let answer = self.answer.as_ref().ok_or(AnswerError::None { status: self.status })?;
        T::deserialize(answer).map_err(AnswerError::OtherType)
    }
}

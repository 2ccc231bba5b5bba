//! Decides why an input is refused. A refused input changes nothing.
//!
//! Knows nothing about who gave it.

use thiserror::Error;

use crate::EffectId;

/// Why an input was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refused {
    /// The effect is not open: it was settled or withdrawn, or there never was one.
    #[error("effect {effect} is not open; each effect has one outcome")]
    NotOpen {
        /// The effect.
        effect: EffectId,
    },
    /// The outcome is none of this effect.
    #[error("the outcome does not belong to effect {effect}; report the one of its kind")]
    WrongOutcome {
        /// The effect.
        effect: EffectId,
    },
    /// No such approval was ever asked for.
    #[error("no approval {request_id} is asked for; take the id from approval_requested")]
    UnknownApproval {
        /// The question.
        request_id: String,
    },
    /// The approval was decided before, or its call was skipped.
    #[error("approval {request_id} was decided before; the first decision stands")]
    AlreadyDecided {
        /// The question.
        request_id: String,
    },
    /// Nobody decided in the time that the approval could be given.
    #[error("approval {request_id} lapsed; the call does not run unless it is asked again")]
    ApprovalLapsed {
        /// The question.
        request_id: String,
    },
    /// A steering message that says nothing.
    #[error("steering message {steering_id} is blank; say something")]
    SteeringBlank {
        /// The message.
        steering_id: u64,
    },
    /// A steering message with this or a later id was taken before.
    #[error("steering message {steering_id} was taken before; number them upwards")]
    SteeringRepeated {
        /// The message.
        steering_id: u64,
    },
    /// Too many steering messages wait to be applied.
    #[error("{waiting} steering messages wait already; say more when they were applied")]
    SteeringFull {
        /// How many wait.
        waiting: usize,
    },
    /// The run is over.
    #[error("the run has ended; start another")]
    Ended,
    /// The input cannot come in this phase.
    #[error("{input} cannot come while the run is {phase}")]
    OutOfTurn {
        /// Name of the phase.
        phase: &'static str,
        /// Name of the input.
        input: &'static str,
    },
}

//! Decides which values of an answer are taken as the text that they were sent in.
//!
//! Knows nothing about what they say.

use model_wire::Place;

/// The arguments of calls.
pub(crate) const VERBATIM: &[Place] = &[
    Place::at(&["candidates", "*", "content", "parts", "*", "functionCall", "args"]),
    Place::at(&["candidates", "*", "content", "parts", "*", "function_call", "args"]),
];

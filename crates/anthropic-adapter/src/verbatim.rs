//! Decides which values of an answer are taken as the text that they were sent in.
//!
//! Knows nothing about what they say.

use model_wire::Place;

/// The arguments of calls. Those of calls that the server makes by itself go back as they came.
pub(crate) const VERBATIM: &[Place] = &[
    Place::at(&["content_block", "input"]).beside("type", "tool_use"),
    Place::at(&["delta", "partial_json"]),
    Place::at(&["message", "content", "*", "input"]).beside("type", "tool_use"),
    Place::at(&["content", "*", "input"]).beside("type", "tool_use"),
];

//! Responses: how a request is written and how its answer is read.

mod encode;
mod ending;
mod items;
mod pieces;
mod snapshot;
mod stream;

pub(crate) use encode::{Kept, body, piece, tools};
pub(crate) use ending::{IGNORED, IGNORED_AMID};
pub(crate) use stream::{KeptResponse, ResponsesStream};

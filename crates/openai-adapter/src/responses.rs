//! Responses: how a request is written and how its answer is read.

mod encode;
mod items;
mod stream;

pub(crate) use encode::{body, piece, tools};
pub(crate) use stream::ResponsesStream;

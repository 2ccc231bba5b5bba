//! Chat Completions: how a request is written and how its answer is read.

mod calls;
mod encode;
mod reasoning;
mod stream;

pub(crate) use encode::{body, piece, tools};
pub(crate) use stream::ChatStream;

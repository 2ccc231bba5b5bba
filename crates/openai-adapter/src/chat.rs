//! Chat Completions: how a request is written and how its answer is read.

mod call;
mod calls;
mod encode;
mod finish;
mod fragment;
mod plain;
mod reasoning;
mod stream;
mod thinking;

pub(crate) use encode::{body, piece, tools};
pub(crate) use stream::ChatStream;

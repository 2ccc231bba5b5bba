//! The scenarios of the model suite, by what they are about.
//!
//! Each is one promise of the list, tried on one fresh subject.

mod answers;
mod calls;
mod interruption;
mod refusals;
mod requests;
mod usage;

pub(crate) use answers::*;
pub(crate) use calls::*;
pub(crate) use interruption::*;
pub(crate) use refusals::*;
pub(crate) use requests::*;
pub(crate) use usage::*;

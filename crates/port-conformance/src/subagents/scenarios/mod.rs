//! The scenarios of the suite of sub-agent sessions, by what they are about.
//!
//! Each is one promise of the list, tried on one fresh subject.

mod answers;
mod at_once;
mod ending;
mod failing;
mod identity;

pub(crate) use answers::*;
pub(crate) use at_once::*;
pub(crate) use ending::*;
pub(crate) use failing::*;
pub(crate) use identity::*;

//! The scenarios of the suite of context audits, by what they are about.
//!
//! Each is one promise of the list, tried on one fresh subject.

mod at_once;
mod contexts;
mod identity;
mod interruption;
mod invocations;
mod owners;
mod trouble;
mod values;

pub(crate) use at_once::*;
pub(crate) use contexts::*;
pub(crate) use identity::*;
pub(crate) use interruption::*;
pub(crate) use invocations::*;
pub(crate) use owners::*;
pub(crate) use trouble::*;
pub(crate) use values::*;

//! The scenarios of the suite of session factories, by what they are about.
//!
//! Each is one promise of the list, tried on one fresh subject.

mod inputs;
mod interruption;
mod leases;
mod owners;

pub(crate) use inputs::*;
pub(crate) use interruption::*;
pub(crate) use leases::*;
pub(crate) use owners::*;

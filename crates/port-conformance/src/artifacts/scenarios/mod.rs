//! The scenarios of the suite of artifact stores, by what they are about.
//!
//! Each is one promise of the list, tried on one fresh subject.

mod interruption;
mod owners;
mod parts;
mod putting;

pub(crate) use interruption::*;
pub(crate) use owners::*;
pub(crate) use parts::*;
pub(crate) use putting::*;

//! The scenarios of the suite of receipt stores, by what they are about.
//!
//! Each is one promise of the list, tried on one fresh subject.

mod interruption;
mod owners;
mod reading;
mod writing;

pub(crate) use interruption::*;
pub(crate) use owners::*;
pub(crate) use reading::*;
pub(crate) use writing::*;

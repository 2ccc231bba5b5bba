//! The scenarios of the suite of resources, by what they are about.
//!
//! Each is one promise of the list, tried on one fresh subject.

mod content;
mod digests;
mod interruption;

pub(crate) use content::*;
pub(crate) use digests::*;
pub(crate) use interruption::*;

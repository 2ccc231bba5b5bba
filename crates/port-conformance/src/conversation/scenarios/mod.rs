//! The scenarios of the suite of conversations, by what they are about.
//!
//! Each is one promise of the list, tried on one fresh subject.

mod at_once;
mod content;
mod interruption;
mod operations;
mod owners;
mod trouble;

pub(crate) use at_once::*;
pub(crate) use content::*;
pub(crate) use interruption::*;
pub(crate) use operations::*;
pub(crate) use owners::*;
pub(crate) use trouble::*;

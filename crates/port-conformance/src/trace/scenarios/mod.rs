//! The scenarios of the suite of traces, by what they are about.
//!
//! Each is one promise of the list, tried on one fresh subject.

mod at_once;
mod events;
mod interruption;
mod pages;
mod trouble;

pub(crate) use at_once::*;
pub(crate) use events::*;
pub(crate) use interruption::*;
pub(crate) use pages::*;
pub(crate) use trouble::*;

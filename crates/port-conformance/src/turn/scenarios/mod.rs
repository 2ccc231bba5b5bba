//! The scenarios of the suite of intelligence and turn, by what they are about.
//!
//! Each is one promise of the list, tried on one fresh subject.

mod ending;
mod events;
mod receipts;
mod requests;
mod starting;

pub(crate) use ending::*;
pub(crate) use events::*;
pub(crate) use receipts::*;
pub(crate) use requests::*;
pub(crate) use starting::*;

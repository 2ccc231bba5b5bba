//! Decides what a random run is made of, and what must be true of every one of them.
//!
//! Knows the machine from outside only. A run is a sequence of numbers: each choice takes the next
//! one, and where none is left takes what comes to an end soonest.

mod answers;
mod children;
mod dice;
mod outcomes;
mod purse;
mod record;
mod scene;
mod steady;
mod truths;
mod world;

pub(crate) use answers::assert_beginning_and_end;
pub(crate) use dice::Dice;
pub(crate) use outcomes::answer_of;
pub(crate) use purse::{Family, Purse, limits};
pub(crate) use record::{Happening, Record};
pub(crate) use scene::{Scene, budgeted_scene, steady_scene};
pub(crate) use steady::steady_run;
pub(crate) use truths::{assert_paired, assert_truths};
pub(crate) use world::{World, replayed};

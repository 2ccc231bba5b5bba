//! Decides whether the rules understand their tasks and follow the results that they get.

mod plans;
mod sessions;
mod tasks;

//! The tool host: what a model is told of every call, well served or not.

mod arguments;
mod failures;
mod hostile;
mod loops;
mod output;
mod registration;
mod stage;
mod state;
mod work;

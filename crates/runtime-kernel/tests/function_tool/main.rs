//! Functions as tools, as a host serves them.

#![cfg(feature = "schemars")]

mod arguments;
mod replies;
mod schemas;
mod stage;

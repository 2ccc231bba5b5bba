//! Decides whether the whole holds: kernel, router, adapters and tools together, over no fake where
//! a real one can be had.

mod lost_connection;
mod main_job;
mod seed_names;
mod swap_programs;

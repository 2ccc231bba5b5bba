//! Decides whether the whole holds: kernel, router, adapters and tools together, over no fake where
//! a real one can be had.

mod complaints;
mod delegated;
mod lost_connection;
mod main_job;
mod over_the_wire;
mod parts;
mod resumed_elsewhere;
mod seed_names;
mod shared_receipts;
mod swap_programs;
mod switched_provider;
mod there_and_back;
mod wire;

//! Decides whether the values of the ports keep their promises.

mod digest;
mod estimate;
mod failure;
mod model;
mod operation;
mod price;
mod receipt_totals;
mod tool_set;
mod transcript;
mod transcript_entry;
mod usage;
mod utc_day;

//! Decides whether files keep what they were given, whoever reads them and whatever befell them.

mod artifacts;
mod audit;
mod children;
mod damage;
mod full_disk;
mod gate;
mod golden;
mod kills;
mod ledger;
mod lines;
mod processes;
mod record;
mod resources;
mod rights;
mod sample;
mod speed;
mod store;

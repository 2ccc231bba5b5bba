//! The command `agent`: puts the kernel, the adapters and the tools together, and does one job.
//!
//! Knows every crate that it composes. Refuses to decide anything that belongs to one of them: it
//! finds the model, the folder and the receipts, asks the person at the terminal, and shows what
//! happens.

mod amounts;
mod answer_schema;
mod approval;
mod arguments;
mod bench;
mod budget_left;
mod budget_limit;
mod chat;
mod composition;
mod configuration;
mod console;
mod diagnosis;
mod doctor;
mod ending;
mod endpoint;
mod exit;
mod interrupt;
mod job;
mod live;
mod models;
mod panel;
mod places;
mod question;
mod receipts;
mod run;
mod safe_text;
mod screen;
mod server;
mod servers;
mod show;
mod table;
mod tally;
mod taping;
mod terminal;
mod time_limit;
mod told;
mod totals;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            screen::print_err(&format!("agent: could not start the async runtime: {error}\n"));
            return exit::Exit::Failed.into();
        }
    };
    let exit = runtime.block_on(async {
        match arguments.command {
            Command::Run(run) => run::run(run).await,
            Command::Chat(chat) => Box::pin(chat::chat(chat)).await,
            Command::Receipts(receipts) => receipts::receipts(receipts).await,
            Command::Doctor(doctor) => Box::pin(doctor::doctor(doctor)).await,
            Command::Models(arguments) => models::models(arguments).await,
        }
    });
    // A prompt may still be reading the terminal in a thread that cannot be interrupted.
    runtime.shutdown_background();
    exit.into()
}

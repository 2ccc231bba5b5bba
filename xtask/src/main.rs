//! Decides which developer command runs; each command is a module of its own.
//!
//! Knows the repository, its rules and cargo. Refuses to know what any crate of ours does: nothing
//! here depends on them.

mod arrows;
mod built;
mod ci;
mod fuzz;
mod licences;
mod problem;
mod public_api;
mod servers;
mod size;
mod source;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use workspace::Workspace;

/// The developer's commands. `cargo xtask ci` is what has to be green.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Xtask {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything below but `size`, and format, lints, tests, doctests, docs; stops at the first
    /// failure.
    Ci(ci::Options),
    /// The rules of the house for files: docs, lengths, names, words, paths, decision notes.
    Tidy,
    /// Which crate may depend on which.
    Arrows,
    /// Every licence in the dependency tree is on the allow-list.
    Licences,
    /// The public items of types, ports, kernel and decision are those of docs/public-api.
    PublicApi {
        /// Writes the listing instead of comparing with it.
        #[arg(long)]
        bless: bool,
    },
    /// The decoders of model answers hold their promises on bytes that nobody should send.
    Fuzz(fuzz::Options),
    /// The adapters against servers that others wrote, installed into `target/servers`.
    Servers(servers::Options),
    /// The command as it is shipped is within its bound; builds it, and is part of `ci --full`.
    Size,
}

fn main() -> ExitCode {
    let command = Xtask::parse().command;
    match Workspace::locate().and_then(|workspace| run(&workspace, &command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(workspace: &Workspace, command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Ci(options) => ci::run(workspace, options),
        Command::Tidy => tidy::run(workspace),
        Command::Arrows => arrows::run(workspace),
        Command::Licences => licences::run(workspace),
        Command::PublicApi { bless: true } => public_api::bless(workspace),
        Command::PublicApi { bless: false } => public_api::compare(workspace),
        Command::Fuzz(options) => fuzz::run(workspace, options),
        Command::Servers(options) => servers::run(workspace, options),
        Command::Size => size::run(workspace),
    }
}

//! Decides what the command line may say.
//!
//! Knows no defaults that depend on the environment; those are found later.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::exit::EXIT_CODES_HELP;

/// An agent for one folder: it lists, reads, searches and writes files, and runs commands when you
/// allow them.
#[derive(Debug, Parser)]
#[command(name = "agent", version, about, after_help = EXIT_CODES_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Do one task in a folder.
    Run(RunArguments),
    /// List and total what turns have cost.
    Receipts(ReceiptsArguments),
}

/// `agent run`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES_HELP)]
pub(crate) struct RunArguments {
    /// What to do, in a sentence.
    pub(crate) task: String,
    /// Model to use. Without it: AGENT_MODEL, then the configuration file, then what the endpoint
    /// offers; with no endpoint at all, the embedded offline model.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Folder to work in.
    #[arg(long, short, value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Allow writing files without asking. Commands are asked for even then.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print one JSON event a line on standard output instead of the answer.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `agent receipts`.
#[derive(Debug, Args)]
pub(crate) struct ReceiptsArguments {
    /// Only turns that started on this UTC day.
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) day: Option<runtime_ports::UtcDay>,
    /// Only the newest turns; 0 shows totals alone.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print one JSON object a line: first the receipts, then the totals.
    #[arg(long)]
    pub(crate) json: bool,
}

//! Decides what the command line may say.
//!
//! Knows no defaults that depend on the environment; those are found later.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::exit::exit_codes_help;

/// An agent for one folder.
///
/// It lists, reads, searches and writes files, and runs commands when you allow them.
#[derive(Debug, Parser)]
#[command(name = "agent", version, after_help = exit_codes_help())]
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

const RUN_HELP: &str = "Examples:
  agent run \"what is planned for the balcony?\"
  agent run --yes --folder notes \"count the lines of every file and write them to TOTALS.md\"
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 agent run --model my-model \"summarise this folder\"

The model, in this order: --model; AGENT_MODEL, OPENAI_BASE_URL and OPENAI_API_KEY; the file
agent/config.toml in the configuration folder of the user; the embedded offline model.";

/// `agent run`.
#[derive(Debug, Args)]
#[command(after_help = format!("{RUN_HELP}\n\n{}", exit_codes_help()))]
pub(crate) struct RunArguments {
    /// What to do, in a sentence.
    #[arg(value_parser = task)]
    pub(crate) task: String,
    /// Model to use; `offline` is always the embedded one.
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
    /// Only so many of the newest turns; 0 shows totals alone. Totals are always over all of them.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print one JSON object a line: first the receipts, then the totals.
    #[arg(long)]
    pub(crate) json: bool,
}

fn task(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() {
        return Err("the task is empty; say what to do, in a sentence");
    }
    Ok(text.to_owned())
}

//! Decides what the command line may say.
//!
//! Knows no defaults that depend on the environment; those are found later.

use std::{num::NonZeroU32, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};

use crate::{
    budget_limit::{tokens, usd},
    endpoint::Api,
    exit::exit_codes_help,
    time_limit::time_limit,
};

/// Cycles of a run without a word about it: each is one request to the model.
pub(crate) const DEFAULT_MAX_CYCLES: u32 = 250;

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
    /// Keep a conversation about a folder.
    Chat(ChatArguments),
    /// List and total what turns have cost.
    Receipts(ReceiptsArguments),
    /// Examine a model server, and say what will not work with it.
    Doctor(DoctorArguments),
    /// List the models that can be used, and what they cost.
    Models(ModelsArguments),
}

const RUN_HELP: &str = "Examples:
  agent run \"what is planned for the balcony?\"
  agent run --yes --folder notes \"count the lines of every file and write them to TOTALS.md\"
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 agent run --model my-model \"summarise this folder\"
  agent run --model claude-sonnet-5-5 --fallback gpt-5 \"summarise this folder\"

While it works, a line that you type steers it; a line below a question answers the question.

The model, in this order: --model; AGENT_MODEL; the file agent/config.toml in the configuration
folder of the user; the default of the first key that is there. Who serves it follows from its name
and from OPENAI_API_KEY, OPENAI_BASE_URL, ANTHROPIC_API_KEY, GEMINI_API_KEY and the providers of the
file; agent models lists them. With nothing of this the embedded offline model is used.";

/// `agent run`.
#[derive(Debug, Args)]
#[command(after_help = format!("{RUN_HELP}\n\n{}", exit_codes_help()))]
pub(crate) struct RunArguments {
    /// What to do, in a sentence.
    #[arg(value_parser = task)]
    pub(crate) task: String,
    #[command(flatten)]
    pub(crate) work: WorkArguments,
    /// File with the JSON Schema that the answer must follow; the answer is JSON then.
    #[arg(long, value_name = "FILE")]
    pub(crate) output_schema: Option<PathBuf>,
}

/// With what, and how far, is worked.
#[derive(Debug, Args)]
pub(crate) struct WorkArguments {
    /// Model to use; `offline` is always the embedded one.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Model that may serve in its place when it cannot; several are tried in this order.
    #[arg(long, value_name = "NAME")]
    pub(crate) fallback: Vec<String>,
    /// Folder to work in.
    #[arg(long, short, value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Allow writing files without asking. Commands are asked for even then.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Let the agent give parts of its task to sub-agents, each with its tools and under its limits.
    #[arg(long)]
    pub(crate) sub_agents: bool,
    /// Most cycles, each a request to the model and the tools that it asks for.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_CYCLES, value_parser = cycles)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) max_cycles: u32,
    /// Most time, like 90s, 10m or 1h30m; time that an approval waits counts. 24h at most.
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = time_limit)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) timeout: Duration,
    /// Most that it may cost in dollars, like 0.50; a conversation in all. The model needs a price.
    #[arg(long, value_name = "USD", value_parser = usd, allow_hyphen_values = true)]
    pub(crate) budget_usd: Option<u64>,
    /// Most tokens of prompts and answers; of a conversation in all.
    #[arg(long, value_name = "N", value_parser = tokens, allow_hyphen_values = true)]
    pub(crate) budget_tokens: Option<u64>,
    /// Record what is said over the wire in a new file, without keys. It holds prompts and answers.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Replay a recording of the same task: no network, no key, no cost.
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Print one JSON event a line on standard output instead of the answer.
    #[arg(long)]
    pub(crate) json: bool,
}

const CHAT_HELP: &str = "Examples:
  agent chat
  agent chat --folder notes --resume
  printf 'list the files\\nread ideas.md\\n' | agent chat

Enter sends a message; Alt-Enter, Ctrl-J or a backslash at the end begins another line. While the
agent works, what you send steers it. Ctrl-C stops it, and leaves when pressed twice at an empty
prompt. /help lists more. Limits hold for each message.";

/// `agent chat`.
#[derive(Debug, Args)]
#[command(after_help = format!("{CHAT_HELP}\n\n{}", exit_codes_help()))]
pub(crate) struct ChatArguments {
    #[command(flatten)]
    pub(crate) work: WorkArguments,
    /// Take up the newest conversation in this folder.
    #[arg(long, conflicts_with = "session")]
    pub(crate) resume: bool,
    /// Take up this conversation, named by the beginning of its id.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
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

/// What an examination takes.
pub(crate) const EXAMINATION: &str = "about 35 requests and 15,000 tokens";

const DOCTOR_HELP: &str = "Examples:
  agent doctor --base-url http://127.0.0.1:11434/v1 --model qwen3
  agent doctor --base-url http://127.0.0.1:8080/v1 --profile-out server.toml
  agent doctor --base-url http://127.0.0.1:11434/v1 --model qwen3 --window-up-to 32000

A key is sent only to the address that it is set up with (OPENAI_BASE_URL, or base_url in the
configuration file).";

/// `agent doctor`.
#[derive(Debug, Args)]
#[command(after_help = format!("{DOCTOR_HELP} It takes {EXAMINATION}, most of\nthem prompt.\n\n{}", exit_codes_help()))]
pub(crate) struct DoctorArguments {
    /// Server to examine, like http://127.0.0.1:8080/v1; else the one that is set up.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Model to examine; else the only one of the server.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// API to speak; else the one that is set up, or the first that the server answers in.
    #[arg(long, value_enum)]
    pub(crate) api: Option<Api>,
    /// Write what was found to a new file: the profile that `profile` in the configuration file
    /// names, or for messages and gemini a section of that file.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile_out: Option<PathBuf>,
    /// Look for the real window of the model with prompts of up to so many tokens; the cost is told
    /// first.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1_024..=4_000_000))]
    pub(crate) window_up_to: Option<u64>,
    /// Print one JSON object a line: the findings, then the whole.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `agent models`.
#[derive(Debug, Args)]
pub(crate) struct ModelsArguments {
    /// Ask this server for its models, and show no others.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

fn cycles(text: &str) -> Result<u32, &'static str> {
    let count: Result<NonZeroU32, _> = text.parse();
    count
        .map(NonZeroU32::get)
        .map_err(|_| "give a whole number of cycles, at least 1, at most 4294967295")
}

fn task(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() {
        return Err("the task is empty; say what to do, in a sentence");
    }
    Ok(text.to_owned())
}

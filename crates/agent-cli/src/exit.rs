//! Decides which exit code tells a script what happened.
//!
//! Knows no failure in detail; `diagnosis` maps failures to these.

use std::process::ExitCode;

/// Every code with its meaning, as `--help` and the README list them. The command line parser
/// gives 2 by itself.
pub(crate) const EXIT_CODES: [(u8, &str); 13] = [
    (Exit::Done.code(), "done"),
    (Exit::Failed.code(), "the run failed"),
    (2, "the command line is wrong"),
    (Exit::Configuration.code(), "the configuration is wrong, or a folder is missing"),
    (Exit::Refused.code(), "the provider refused: key, model, or request"),
    (Exit::Unreachable.code(), "the provider could not be reached, or did not answer"),
    (Exit::NobodyToAsk.code(), "something needed approval, and there was no terminal to ask on"),
    (Exit::Waiting.code(), "the agent asked something that was not answered"),
    (Exit::CyclesUsedUp.code(), "all cycles were used up (--max-cycles)"),
    (Exit::BudgetUsedUp.code(), "the time or a budget was used up (--timeout, --budget-...)"),
    (Exit::AnswerInvalid.code(), "the answer did not follow the schema (--output-schema)"),
    (Exit::Unfit.code(), "the server lacks something that an agent needs (agent doctor)"),
    (Exit::Cancelled.code(), "cancelled with Ctrl-C"),
];

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    Failed,
    Configuration,
    Refused,
    Unreachable,
    NobodyToAsk,
    Waiting,
    CyclesUsedUp,
    BudgetUsedUp,
    AnswerInvalid,
    Unfit,
    Cancelled,
}

impl Exit {
    /// The number that the process ends with.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Configuration => 3,
            Self::Refused => 4,
            Self::Unreachable => 5,
            Self::NobodyToAsk => 6,
            Self::Waiting => 7,
            Self::CyclesUsedUp => 8,
            Self::BudgetUsedUp => 9,
            Self::AnswerInvalid => 10,
            Self::Unfit => 11,
            Self::Cancelled => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The codes for `--help`.
pub(crate) fn exit_codes_help() -> String {
    let lines = EXIT_CODES.map(|(code, meaning)| format!("  {code:>3}  {meaning}"));
    format!("Exit codes:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests;

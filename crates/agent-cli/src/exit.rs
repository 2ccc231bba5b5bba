//! Decides which exit code tells a script what happened.
//!
//! Knows no failure in detail; `diagnosis` maps failures to these.

use std::process::ExitCode;

/// The codes, for `--help`. Keep in step with [`Exit`] and with the README.
pub(crate) const EXIT_CODES_HELP: &str = "Exit codes:
    0    done
    1    the run failed
    2    the command line is wrong
    3    the configuration is wrong, or a folder is missing
    4    the provider refused: key, model, or request
    5    the provider could not be reached, or did not answer
    6    something needed approval, and there was no terminal to ask on
  130    cancelled with Ctrl-C";

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    Failed,
    Configuration,
    Refused,
    Unreachable,
    NobodyToAsk,
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
            Self::Cancelled => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

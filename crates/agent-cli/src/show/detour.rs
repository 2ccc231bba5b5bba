//! Decides how it reads that a model call is sent again or goes elsewhere.
//!
//! Knows names, codes and waits. Refuses to show what a server wrote.

use router_adapter::{Detour, ServedModel};

use crate::{amounts::duration, safe_text::safe_line};

const NAME_SHOWN: usize = 100;
const CODE_SHOWN: usize = 80;

/// `gpt-5 at api.openai.com failed (RATE_LIMITED); claude-opus-5-5 at api.anthropic.com is asked`.
pub(super) fn detour_line(detour: &Detour) -> String {
    match detour {
        Detour::SentAgain { served, code, wait } => {
            let milliseconds = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            format!("{}; again in {}", failed(served, code), duration(milliseconds))
        }
        Detour::Moved { from, to, code } => {
            format!("{}; {} is asked instead", failed(from, code), name(to))
        }
        Detour::LeftOut { from, to } => {
            format!("{} failed too often just now; {} is asked instead", name(from), name(to))
        }
        Detour::Hedged { from, to } => {
            format!("{} is slow; {} is asked as well", name(from), name(to))
        }
        _ => "a model call takes a detour; the receipt says more".to_owned(),
    }
}

fn failed(served: &ServedModel, code: &str) -> String {
    format!("{} failed ({})", name(served), safe_line(code, CODE_SHOWN))
}

fn name(served: &ServedModel) -> String {
    let (model, provider) = (&served.model, &served.provider);
    format!("{} at {}", safe_line(model, NAME_SHOWN), safe_line(provider, NAME_SHOWN))
}

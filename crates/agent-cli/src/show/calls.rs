//! Decides how the calls of a run are numbered, and told apart while several are at work.
//!
//! Knows call ids, which are unique within a cycle of a run alone. Invariant: a line about a call that does
//! not follow the call's own line names the call again.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;

use super::call::arguments_line;
use crate::safe_text::safe_line;

const TOOL_SHOWN: usize = 60;

/// The calls of a run and of those below it.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    count: u64,
    /// By run and call.
    of_cycle: HashMap<Arc<str>, HashMap<Arc<str>, Numbered>>,
    newest_line: u64,
}

/// A call with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
    pub(crate) tool: String,
    pub(crate) arguments: String,
}

/// A call that more is told about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mentioned {
    pub(crate) number: u64,
    /// The call in words, unless its own line is the newest.
    pub(crate) again: Option<String>,
}

impl Calls {
    /// From here on ids of this run name other calls, if any.
    pub(crate) fn forget(&mut self, run: &str) {
        self.of_cycle.remove(run);
    }

    /// A call that gets its line now.
    pub(crate) fn begin(
        &mut self,
        run: &Arc<str>,
        id: &Arc<str>,
        tool: &str,
        arguments: &Value,
    ) -> Numbered {
        self.count += 1;
        let call = Numbered {
            number: self.count,
            tool: safe_line(tool, TOOL_SHOWN),
            arguments: arguments_line(tool, arguments),
        };
        self.newest_line = call.number;
        let of_run = self.of_cycle.entry(Arc::clone(run)).or_default();
        of_run.insert(Arc::clone(id), call.clone());
        call
    }

    /// A call that has its line; `None` of one that never got one.
    pub(crate) fn mention(&mut self, run: &str, id: &str) -> Option<Mentioned> {
        let call = self.of_cycle.get(run)?.get(id)?;
        let is_newest = self.newest_line == call.number;
        self.newest_line = call.number;
        let again = (!is_newest).then(|| format!("{} {}", call.tool, call.arguments));
        Some(Mentioned { number: call.number, again })
    }
}

#[cfg(test)]
mod tests;

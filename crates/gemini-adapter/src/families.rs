//! Decides what a family of models is taken to accept, as data.
//!
//! Knows nothing about how a request is written. Invariant: a model of an unknown name is taken for
//! one of the newest family; only names that are known to be older are told otherwise.

/// What the models of one family accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Family {
    /// What their names begin with.
    prefix: &'static str,
    /// How they are told how much to think.
    pub(crate) thinking: Thinking,
    /// Whether they refuse a history whose calls bear no thought signature.
    pub(crate) signed_calls: bool,
    /// Whether calls and their results bear ids. Some endpoints of older models refuse the field.
    pub(crate) call_ids: bool,
    /// Whether they take tools and a form of the answer in one request.
    pub(crate) json_beside_tools: bool,
}

/// How a model is told how much to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// `thinkingLevel`, a name.
    Level,
    /// `thinkingBudget`, tokens.
    Budget,
    /// It does not think.
    Absent,
}

const fn family(prefix: &'static str, thinking: Thinking) -> Family {
    Family { prefix, thinking, signed_calls: false, call_ids: false, json_beside_tools: false }
}

/// The first that fits counts.
const OLDER: &[Family] = &[
    family("gemini-1", Thinking::Absent),
    family("gemini-2.0", Thinking::Absent),
    family("gemini-2", Thinking::Budget),
    family("gemini-robotics-er-1", Thinking::Budget),
    family("gemma-", Thinking::Absent),
    family("learnlm-", Thinking::Absent),
];

const NEWEST: Family = Family {
    prefix: "",
    thinking: Thinking::Level,
    signed_calls: true,
    call_ids: true,
    json_beside_tools: true,
};

impl Family {
    /// The family of a model, which may be named with the collection that it is in.
    pub(crate) fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let known = OLDER.iter().find(|family| name.starts_with(family.prefix));
        known.copied().unwrap_or(NEWEST)
    }
}

impl Thinking {
    /// The field of `thinkingConfig` that says `effort`; `None` for an effort that these models do
    /// not have. Budgets are those that the vendor documents for the same names.
    pub(crate) fn field(self, effort: &str) -> Option<(&'static str, Amount)> {
        match (self, effort) {
            (Self::Level, "minimal" | "low" | "medium" | "high") => {
                Some(("thinkingLevel", Amount::Named))
            }
            (Self::Budget, "none") => Some(("thinkingBudget", Amount::Tokens(0))),
            (Self::Budget, "minimal" | "low") => Some(("thinkingBudget", Amount::Tokens(1_024))),
            (Self::Budget, "medium") => Some(("thinkingBudget", Amount::Tokens(8_192))),
            (Self::Budget, "high") => Some(("thinkingBudget", Amount::Tokens(24_576))),
            _ => None,
        }
    }
}

/// How much a model shall think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amount {
    /// By the name of the effort.
    Named,
    /// This many tokens.
    Tokens(u32),
}

#[cfg(test)]
mod tests;

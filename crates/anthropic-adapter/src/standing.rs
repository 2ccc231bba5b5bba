//! Decides what a session asks with each of its requests, beyond the options that every provider
//! has.
//!
//! Knows nothing about one request. Invariant: what is asked for is sent or refused before sending,
//! never dropped, but the showing of thoughts, where a model has none to show.

use serde_json::{Value, json};

use crate::family::{ModelFamily, Temperature};

/// Least `top_p` beside thinking.
const LEAST_TOP_P: f64 = 0.95;

/// How much of its reasoning a model shows. It reasons, and is billed, in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ThinkingDisplay {
    /// Summaries of it.
    Summarized,
    /// Nothing but its signature, which makes the answer begin sooner.
    Omitted,
}

/// What a session asks each time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Standing {
    pub(crate) display: Option<ThinkingDisplay>,
    pub(crate) top_p: Option<f64>,
    pub(crate) top_k: Option<u32>,
    pub(crate) service_tier: Option<String>,
    pub(crate) user_id: Option<String>,
}

/// What it is asked of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct With {
    pub(crate) family: ModelFamily,
    pub(crate) thinks: bool,
}

impl ThinkingDisplay {
    /// As the API says it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Summarized => "summarized",
            Self::Omitted => "omitted",
        }
    }
}

impl Standing {
    /// Nothing.
    pub(crate) const NONE: Self =
        Self { display: None, top_p: None, top_k: None, service_tier: None, user_id: None };

    /// The fields, but for the showing of thoughts, which stands among those of thinking.
    ///
    /// # Errors
    /// A sentence about what cannot be asked.
    pub(crate) fn fields(&self, with: With) -> Result<Vec<(&'static str, Value)>, &'static str> {
        self.check(with)?;
        let user = self.user_id.as_ref().map(|user| json!({ "user_id": user }));
        let fields = [
            ("top_p", self.top_p.map(Value::from)),
            ("top_k", self.top_k.map(Value::from)),
            ("service_tier", self.service_tier.as_deref().map(Value::from)),
            ("metadata", user),
        ];
        Ok(fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
    }

    fn check(&self, With { family, thinks }: With) -> Result<(), &'static str> {
        if self.top_p.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
            return Err("top_p must be a number from 0 to 1");
        }
        let narrows = self.top_p.is_some_and(|value| value < 1.0);
        let is_any = family.temperature == Temperature::Any;
        match family.temperature {
            Temperature::One if narrows || self.top_k.is_some() => {
                Err("this model takes neither top_p nor top_k; leave them out of the session")
            }
            _ if !is_any && thinks && self.top_k.is_some() => {
                Err("a model that thinks takes no top_k; leave it out of the session")
            }
            _ if !is_any && thinks && self.top_p.is_some_and(|value| value < LEAST_TOP_P) => {
                Err("a model that thinks takes a top_p from 0.95 to 1")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;

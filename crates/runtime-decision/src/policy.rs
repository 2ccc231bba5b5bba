//! Decides which tool calls run at once, which are asked for, and which are denied.
//!
//! Knows what tools declare and what they are called. Refuses to know who is asked.

use std::collections::BTreeMap;

use runtime_ports::{EffectClass, ToolDescriptor};
use serde::{Deserialize, Serialize};

/// What becomes of a call that could run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Ruling {
    /// It runs.
    #[default]
    Allow,
    /// It waits for an approval.
    Ask,
    /// It does not run, and the model is told why.
    Deny {
        /// For the model.
        reason: String,
    },
}

impl Ruling {
    /// The stricter of two; of two denials the first.
    const fn stricter<'a>(&'a self, other: &'a Self) -> &'a Self {
        match (self, other) {
            (Self::Deny { .. }, _) => self,
            (_, Self::Deny { .. }) => other,
            (Self::Ask, _) => self,
            (Self::Allow, _) => other,
        }
    }
}

/// Rules by name, then by what a tool may do to the world. The default allows everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolPolicy {
    /// For tools of a name.
    pub by_name: BTreeMap<String, Ruling>,
    /// For tools that only read.
    pub read_only: Ruling,
    /// For tools that write into the workspace.
    pub workspace_write: Ruling,
    /// For tools that run a process.
    pub process: Ruling,
    /// For tools that reach anything else.
    pub external: Ruling,
}

impl ToolPolicy {
    /// Everything but reading asks.
    #[must_use]
    pub fn ask_for_effects() -> Self {
        let (workspace_write, process, external) = (Ruling::Ask, Ruling::Ask, Ruling::Ask);
        Self { workspace_write, process, external, ..Self::default() }
    }

    /// The same policy with a rule for the tools of one name.
    #[must_use]
    pub fn with_rule(mut self, tool: impl Into<String>, ruling: Ruling) -> Self {
        self.by_name.insert(tool.into(), ruling);
        self
    }

    /// A policy that is as strict as this one and as another one, for an agent that has `tools`:
    /// each call is denied if one of them denies it, else asked about if one of them asks.
    #[must_use]
    pub fn stricter<'a>(
        &self,
        other: &Self,
        tools: impl IntoIterator<Item = &'a ToolDescriptor>,
    ) -> Self {
        let mut policy = Self {
            by_name: BTreeMap::new(),
            read_only: self.read_only.stricter(&other.read_only).clone(),
            workspace_write: self.workspace_write.stricter(&other.workspace_write).clone(),
            process: self.process.stricter(&other.process).clone(),
            external: self.external.stricter(&other.external).clone(),
        };
        for tool in tools {
            let ruling = self.ruling(tool).stricter(other.ruling(tool));
            if policy.ruling(tool) != ruling {
                policy.by_name.insert(tool.definition.name.clone(), ruling.clone());
            }
        }
        policy
    }

    /// What becomes of a call of `tool`.
    #[must_use]
    pub fn ruling(&self, tool: &ToolDescriptor) -> &Ruling {
        self.by_name.get(&tool.definition.name).unwrap_or(match tool.effect {
            EffectClass::ReadOnly => &self.read_only,
            EffectClass::WorkspaceWrite => &self.workspace_write,
            EffectClass::Process => &self.process,
            EffectClass::External => &self.external,
        })
    }
}

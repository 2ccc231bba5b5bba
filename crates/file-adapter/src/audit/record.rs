//! Decides what one line of the audit says.
//!
//! Knows the form of a record; refuses to know what records mean together. Invariant: what is
//! written reads back equal, or is not written.

use runtime_ports::{
    ContextAuditDerivation, ContextAuditSnapshot, Digest, ModelInvocationAudit, ModelMessage,
    ModelToolDefinition,
};
use serde::{Deserialize, Serialize};

use crate::{
    checked_line::{self, Unreadable},
    failure::FileError,
};

/// Version of the lines that this release writes.
pub(crate) const AUDIT_VERSION: u16 = 1;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuditRecord {
    pub(crate) version: u16,
    pub(crate) kept: Kept,
}

/// What is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) enum Kept {
    /// A message, under the SHA-256 of its canonical JSON.
    Message {
        digest: Digest,
        message: ModelMessage,
    },
    /// A set of tools, under its digest.
    Tools {
        digest: Digest,
        tools: Vec<ModelToolDefinition>,
    },
    Snapshot(Box<SnapshotLine>),
    Derivation(ContextAuditDerivation),
    Invocation(ModelInvocationAudit),
}

/// A snapshot whose messages and tools stand in lines of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SnapshotLine {
    /// The snapshot without messages and tools.
    pub(crate) rest: ContextAuditSnapshot,
    pub(crate) tools: Digest,
    /// Digest of the whole context.
    pub(crate) messages: Digest,
    /// Digest of the context that it goes on from.
    pub(crate) after: Digest,
    /// Digests of the messages that follow that one, in order.
    pub(crate) entries: Vec<Digest>,
}

impl AuditRecord {
    pub(crate) const fn of(kept: Kept) -> Self {
        Self { version: AUDIT_VERSION, kept }
    }

    /// The line, with its line feed.
    ///
    /// # Errors
    /// [`FileError::NotStorable`] when the line would not read back as this very record.
    pub(crate) fn to_line(&self) -> Result<String, FileError> {
        let line = checked_line::written(self)?;
        match Self::from_line(line.trim_end_matches('\n').as_bytes()) {
            Ok(read) if read == *self => Ok(line),
            _ => Err(FileError::NotStorable("it would not read back equal")),
        }
    }

    /// Reads a line without its line feed.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(crate) fn from_line(line: &[u8]) -> Result<Self, Unreadable> {
        let json = checked_line::checked_json(line).map_err(Unreadable::Damaged)?;
        match serde_json::from_slice::<Self>(json) {
            Ok(record) if record.version > AUDIT_VERSION => Err(Unreadable::Newer(record.version)),
            Ok(record) if record.version < AUDIT_VERSION => {
                Err(Unreadable::Damaged("the record has a version that never was"))
            }
            Ok(record) => record.with_its_digest(),
            Err(_) => Err(checked_line::unknown_form(json, AUDIT_VERSION)),
        }
    }

    /// The record at the end of a damaged line, when a line feed was lost.
    pub(crate) fn last_in(line: &[u8]) -> Option<Self> {
        Self::from_line(checked_line::last_in(line)?).ok()
    }

    /// What is kept under a digest has it.
    fn with_its_digest(self) -> Result<Self, Unreadable> {
        let has_it = match &self.kept {
            Kept::Message { digest, message } => Digest::of_json(message) == *digest,
            Kept::Tools { digest, tools } => Digest::of_json(tools) == *digest,
            Kept::Snapshot(_) | Kept::Derivation(_) | Kept::Invocation(_) => true,
        };
        if has_it { Ok(self) } else { Err(Unreadable::Damaged("the digest does not match")) }
    }
}

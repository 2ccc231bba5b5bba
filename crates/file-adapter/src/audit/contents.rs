//! Decides how the records of an audit are put together again.
//!
//! Knows nothing about files. Invariant: what is given is what was kept, exactly.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use runtime_ports::{
    ContextAuditDerivation, ContextAuditSnapshot, Digest, ModelInvocationAudit, ToolSet,
    Transcript, TranscriptEntry,
};

use super::{
    index::Index,
    record::{AuditRecord, Kept, SnapshotLine},
};

/// What an audit holds, each kind by id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AuditContents {
    /// The snapshots, with their messages.
    pub snapshots: BTreeMap<String, ContextAuditSnapshot>,
    /// The derivations.
    pub derivations: BTreeMap<String, ContextAuditDerivation>,
    /// The invocations, each as far as it came.
    pub invocations: BTreeMap<String, ModelInvocationAudit>,
    /// How many messages stand in the file.
    pub stored_messages: usize,
}

/// A file that is being read.
#[derive(Default)]
pub(super) struct Reading {
    index: Index,
    messages: HashMap<Digest, Arc<TranscriptEntry>>,
    tools: HashMap<Digest, ToolSet>,
    snapshots: BTreeMap<String, SnapshotLine>,
    contents: AuditContents,
}

impl Reading {
    /// Takes one line; one that is of no use is passed over.
    pub(super) fn take(&mut self, line: &[u8]) {
        let record = AuditRecord::from_line(line).ok().or_else(|| AuditRecord::last_in(line));
        let Some(AuditRecord { kept, .. }) = record else { return };
        if self.index.apply(&kept).is_ok() {
            self.keep(kept);
        }
    }

    fn keep(&mut self, kept: Kept) {
        match kept {
            Kept::Message { digest, message } => {
                self.contents.stored_messages += 1;
                self.messages.insert(digest, Arc::new(TranscriptEntry::new(message)));
            }
            Kept::Tools { digest, tools } => {
                self.tools.insert(digest, ToolSet::new(tools));
            }
            Kept::Snapshot(line) => {
                self.snapshots.entry(line.rest.id.clone()).or_insert(*line);
            }
            Kept::Derivation(it) => {
                self.contents.derivations.insert(it.id.clone(), it);
            }
            Kept::Invocation(it) => {
                self.contents.invocations.insert(it.id.clone(), it);
            }
        }
    }

    /// Everything that was taken.
    pub(super) fn contents(mut self) -> AuditContents {
        let lines = std::mem::take(&mut self.snapshots);
        let whole = lines.into_iter().map(|(id, line)| {
            let messages = self.transcript(line.messages);
            let tools = self.tools.get(&line.tools).cloned().unwrap_or_default();
            (id, ContextAuditSnapshot { messages, tools, ..line.rest })
        });
        let snapshots = whole.collect();
        AuditContents { snapshots, ..self.contents }
    }

    fn transcript(&self, digest: Digest) -> Transcript {
        let (mut entries, mut prefix) = (Vec::new(), digest);
        while let Some((before, entry)) = self.index.last_of(prefix) {
            entries.extend(self.messages.get(&entry));
            prefix = before;
        }
        let mut messages = Transcript::new();
        entries.into_iter().rev().for_each(|entry| messages.push_entry(Arc::clone(entry)));
        messages
    }
}

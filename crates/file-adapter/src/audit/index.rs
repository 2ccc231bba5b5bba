//! Decides what is known of the records before, and which of them a new one contradicts.
//!
//! Knows digests and ids; refuses to know what the messages say, and keeps none of them. Invariant:
//! a prefix of a context is known only together with all shorter ones.

use std::collections::{HashMap, HashSet};

use runtime_ports::{
    ContextAuditDerivation, ContextAuditSnapshot, Digest, ModelInvocationAudit,
    ModelInvocationAuditState, ToolSet, Transcript,
};

use super::record::{AuditRecord, Kept, SnapshotLine};
use crate::{failure::FileError, ledger::Novelty};

/// What the file holds.
#[derive(Debug, Default)]
pub(super) struct Index {
    messages: HashSet<Digest>,
    tools: HashSet<Digest>,
    /// Of each prefix of a context: what was before its last message, and that message.
    prefixes: HashMap<Digest, (Digest, Digest)>,
    /// Each as a digest of all that it says.
    snapshots: HashMap<String, Digest>,
    derivations: HashMap<String, Digest>,
    invocations: HashMap<String, ModelInvocationAudit>,
}

impl Index {
    /// Whether a snapshot is new or known.
    ///
    /// # Errors
    /// When another one has its id.
    pub(super) fn judge_snapshot(
        &self,
        snapshot: &ContextAuditSnapshot,
    ) -> Result<Novelty, FileError> {
        let rest = rest_of(snapshot.clone());
        let said = said(&rest, snapshot.tools.digest(), snapshot.messages.digest());
        judged(self.snapshots.get(&snapshot.id), &said)
    }

    /// Whether a derivation is new or known.
    ///
    /// # Errors
    /// When another one has its id.
    pub(super) fn judge_derivation(
        &self,
        derivation: &ContextAuditDerivation,
    ) -> Result<Novelty, FileError> {
        judged(self.derivations.get(&derivation.id), &Digest::of_json(derivation))
    }

    /// Whether an invocation is new, also as the end of one, or known.
    ///
    /// # Errors
    /// When another one has its id, which it does not follow.
    pub(super) fn judge_invocation(
        &self,
        invocation: &ModelInvocationAudit,
    ) -> Result<Novelty, FileError> {
        match self.invocations.get(&invocation.id) {
            Some(known) if ends(known, invocation) => Ok(Novelty::New),
            known => judged(known, invocation),
        }
    }

    /// The lines of a snapshot that is new: what is not there of its messages and tools, and its
    /// own line last.
    pub(super) fn lines_of(&self, snapshot: ContextAuditSnapshot) -> Result<String, FileError> {
        let (messages, tools) = (snapshot.messages.clone(), snapshot.tools.clone());
        let known = messages.known_len(|prefix| self.prefixes.contains_key(prefix));
        let (mut lines, mut written) = (String::new(), HashSet::new());
        let mut write = |kept| {
            lines.push_str(&AuditRecord::of(kept).to_line()?);
            Ok::<_, FileError>(())
        };
        if !self.tools.contains(&tools.digest()) {
            write(Kept::Tools { digest: tools.digest(), tools: tools.to_vec() })?;
        }
        for entry in messages.entries_from(known) {
            let digest = entry.digest();
            if !self.messages.contains(&digest) && written.insert(digest) {
                let message = entry.show(Clone::clone);
                write(Kept::Message { digest, message })?;
            }
        }
        write(Kept::Snapshot(Box::new(SnapshotLine {
            tools: tools.digest(),
            messages: messages.digest(),
            after: messages.prefix(known).digest(),
            entries: messages.entries_from(known).map(|entry| entry.digest()).collect(),
            rest: rest_of(snapshot),
        })))?;
        Ok(lines)
    }

    /// What a prefix was before its last message, and that message.
    pub(super) fn last_of(&self, prefix: Digest) -> Option<(Digest, Digest)> {
        self.prefixes.get(&prefix).copied()
    }

    /// Takes a record over.
    ///
    /// # Errors
    /// Why it is of no use.
    pub(super) fn apply(&mut self, kept: &Kept) -> Result<(), &'static str> {
        match kept {
            Kept::Message { digest, .. } => {
                self.messages.insert(*digest);
            }
            Kept::Tools { digest, .. } => {
                self.tools.insert(*digest);
            }
            Kept::Snapshot(line) => return self.apply_snapshot(line),
            Kept::Derivation(it) => {
                self.judge_derivation(it).map_err(contradicts)?;
                self.derivations.insert(it.id.clone(), Digest::of_json(it));
            }
            Kept::Invocation(it) => {
                self.judge_invocation(it).map_err(contradicts)?;
                self.invocations.insert(it.id.clone(), it.clone());
            }
        }
        Ok(())
    }

    fn apply_snapshot(&mut self, line: &SnapshotLine) -> Result<(), &'static str> {
        let said = said(&line.rest, line.tools, line.messages);
        judged(self.snapshots.get(&line.rest.id), &said).map_err(contradicts)?;
        let is_known =
            line.after == Transcript::new().digest() || self.prefixes.contains_key(&line.after);
        if !is_known || !line.entries.iter().all(|entry| self.messages.contains(entry)) {
            return Err("messages of the snapshot are missing");
        }
        let chain = chain(line);
        if chain.last().map_or(line.after, |(prefix, _)| *prefix) != line.messages {
            return Err("the digest of the snapshot does not match");
        }
        self.prefixes.extend(chain);
        self.snapshots.insert(line.rest.id.clone(), said);
        Ok(())
    }
}

/// The prefixes that a snapshot adds, each with what was before its last message, and that message.
fn chain(line: &SnapshotLine) -> Vec<(Digest, (Digest, Digest))> {
    let mut before = line.after;
    let step = |entry: &Digest| {
        let prefix = Digest::of_parts(&[before.as_bytes(), entry.as_bytes()]);
        (prefix, (std::mem::replace(&mut before, prefix), *entry))
    };
    line.entries.iter().map(step).collect()
}

fn rest_of(snapshot: ContextAuditSnapshot) -> ContextAuditSnapshot {
    ContextAuditSnapshot { messages: Transcript::new(), tools: ToolSet::default(), ..snapshot }
}

/// A digest of all that a snapshot says.
fn said(rest: &ContextAuditSnapshot, tools: Digest, messages: Digest) -> Digest {
    let rest = Digest::of_json(rest);
    Digest::of_parts(&[rest.as_bytes(), tools.as_bytes(), messages.as_bytes()])
}

fn ends(known: &ModelInvocationAudit, end: &ModelInvocationAudit) -> bool {
    known.state == ModelInvocationAuditState::Prepared
        && end.state != ModelInvocationAuditState::Prepared
        && (&known.request_snapshot_id, &known.model) == (&end.request_snapshot_id, &end.model)
}

fn judged<T: PartialEq>(known: Option<&T>, offered: &T) -> Result<Novelty, FileError> {
    match known {
        None => Ok(Novelty::New),
        Some(known) if known == offered => Ok(Novelty::Repeated),
        Some(_) => Err(FileError::AuditConflict),
    }
}

fn contradicts(_: FileError) -> &'static str {
    "the record contradicts those before it"
}

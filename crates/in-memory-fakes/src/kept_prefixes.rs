//! Decides how many transcripts are kept with each message once.
//!
//! Knows digests; refuses to know what the messages say. Invariant: a prefix is kept only together
//! with all shorter ones.

use std::{collections::HashMap, sync::Arc};

use runtime_ports::{Digest, Transcript, TranscriptEntry};

/// Transcripts, each by its digest.
#[derive(Default)]
pub(crate) struct KeptPrefixes {
    entries: HashMap<Digest, Arc<TranscriptEntry>>,
    /// What each prefix was before its last message, and that message.
    prefixes: HashMap<Digest, (Digest, Digest)>,
}

impl KeptPrefixes {
    /// Keeps what of `messages` is not known yet. Work is proportional to that.
    pub(crate) fn keep(&mut self, messages: &Transcript) {
        let known = messages.known_len(|digest| self.prefixes.contains_key(digest));
        let mut before = messages.prefix(known).digest();
        let new = messages.entries_from(known).zip(messages.prefix_digests_from(known));
        for (entry, prefix) in new {
            self.entries.entry(entry.digest()).or_insert_with(|| Arc::clone(entry));
            self.prefixes.insert(prefix, (before, entry.digest()));
            before = prefix;
        }
    }

    /// The transcript of this digest; empty for one that was never kept.
    pub(crate) fn transcript(&self, digest: Digest) -> Transcript {
        let mut entries = Vec::new();
        let mut prefix = digest;
        while let Some((before, entry)) = self.prefixes.get(&prefix) {
            entries.extend(self.entries.get(entry));
            prefix = *before;
        }
        let mut messages = Transcript::new();
        entries.into_iter().rev().for_each(|entry| messages.push_entry(Arc::clone(entry)));
        messages
    }

    /// How many different messages are kept.
    pub(crate) fn message_count(&self) -> usize {
        self.entries.len()
    }
}

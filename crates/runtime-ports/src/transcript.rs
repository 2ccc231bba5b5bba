//! Decides how a history grows without being copied, hashed or counted again.
//!
//! Knows nothing about what the messages mean. Invariant: the digest and the token count of every
//! prefix are fixed when its last message is pushed; older clones never see later messages.
//!
//! A transcript is a chain of sealed chunks, newest first, and a tail of fewer than
//! [`CHUNK_ENTRIES`] + 1 entries. A clone costs two reference counts. A push copies at most one
//! tail of pointers, and only while an older clone shares it.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Digest, EncodingKey, ModelMessage, TranscriptEntry};

const CHUNK_ENTRIES: usize = 32;
const EMPTY_SEED: &[u8] = b"agent-runtime transcript v1";

/// An append-only history of messages that is cheap to clone and to extend.
///
/// ```
/// use runtime_ports::{ModelMessage, ModelRole, Transcript};
///
/// let mut history = Transcript::new();
/// history.push(ModelMessage::text(ModelRole::User, "hello"));
/// let request = history.clone();
/// history.push(ModelMessage::text(ModelRole::Assistant, "hi"));
/// assert_eq!((request.len(), history.len()), (1, 2));
/// assert_eq!(history.prefix(1), request);
/// ```
#[derive(Clone, Default)]
pub struct Transcript {
    sealed: Option<Arc<Chunk>>,
    tail: Arc<Vec<Link>>,
}

struct Chunk {
    previous: Option<Arc<Chunk>>,
    start: usize,
    links: Vec<Link>,
}

#[derive(Clone)]
struct Link {
    entry: Arc<TranscriptEntry>,
    prefix_digest: Digest,
    prefix_tokens: u64,
}

impl Transcript {
    /// An empty transcript.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a message. Work is linear in the message and independent of the history.
    pub fn push(&mut self, message: ModelMessage) {
        self.push_entry(Arc::new(TranscriptEntry::new(message)));
    }

    /// Appends an entry of another transcript without digesting or measuring it again.
    pub fn push_entry(&mut self, entry: Arc<TranscriptEntry>) {
        let link = Link {
            prefix_digest: Digest::of_parts(&[self.digest().as_bytes(), entry.digest().as_bytes()]),
            prefix_tokens: self.estimated_tokens().saturating_add(entry.estimated_tokens()),
            entry,
        };
        if self.tail.len() == CHUNK_ENTRIES {
            self.seal_tail();
        }
        Arc::make_mut(&mut self.tail).push(link);
    }

    fn seal_tail(&mut self) {
        let start = self.sealed_len();
        let links = Arc::unwrap_or_clone(std::mem::take(&mut self.tail));
        self.sealed = Some(Arc::new(Chunk { previous: self.sealed.take(), start, links }));
    }

    fn sealed_len(&self) -> usize {
        self.sealed.as_ref().map_or(0, |chunk| chunk.start + chunk.links.len())
    }

    /// Number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sealed_len() + self.tail.len()
    }

    /// Whether there is no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn last_link(&self) -> Option<&Link> {
        self.tail.last().or_else(|| self.sealed.as_ref().and_then(|chunk| chunk.links.last()))
    }

    /// The newest entry.
    #[must_use]
    pub fn last(&self) -> Option<&Arc<TranscriptEntry>> {
        self.last_link().map(|link| &link.entry)
    }

    /// Chained digest of the whole transcript: SHA-256 over (digest of the prefix, digest of the
    /// newest message), from a fixed seed.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.last_link().map_or_else(|| Digest::of(EMPTY_SEED), |link| link.prefix_digest)
    }

    /// Estimated tokens of all messages.
    #[must_use]
    pub fn estimated_tokens(&self) -> u64 {
        self.last_link().map_or(0, |link| link.prefix_tokens)
    }

    /// The first `len` messages, or all when there are fewer. Costs one step for each chunk after
    /// the cut, and copies no message.
    #[must_use]
    pub fn prefix(&self, len: usize) -> Self {
        if len >= self.len() {
            return self.clone();
        }
        if len >= self.sealed_len() {
            let tail = self.tail[..len - self.sealed_len()].to_vec();
            return Self { sealed: self.sealed.clone(), tail: Arc::new(tail) };
        }
        let mut chunk = self.sealed.as_ref();
        while let Some(held) = chunk.filter(|held| held.start > len) {
            chunk = held.previous.as_ref();
        }
        chunk.map_or_else(Self::new, |held| Self {
            sealed: held.previous.clone(),
            tail: Arc::new(held.links[..len - held.start].to_vec()),
        })
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<TranscriptEntry>> {
        self.entries_from(0)
    }

    /// The entries from position `start` on, oldest first. Work is proportional to what is
    /// yielded, not to the history.
    pub fn entries_from(&self, start: usize) -> impl Iterator<Item = &Arc<TranscriptEntry>> {
        self.links_from(start).map(|link| &link.entry)
    }

    /// The messages, oldest first.
    pub fn messages(&self) -> impl Iterator<Item = &ModelMessage> {
        self.entries().map(|entry| entry.message())
    }

    /// Chained digests of every prefix that is longer than `start`, shortest first.
    pub fn prefix_digests_from(&self, start: usize) -> impl Iterator<Item = Digest> {
        self.links_from(start).map(|link| link.prefix_digest)
    }

    /// How many messages both begin with. Work is proportional to what follows them, in the longer
    /// of both, and not to what they share.
    #[must_use]
    pub fn shared_len(&self, other: &Self) -> usize {
        longest_known(self.len().min(other.len()), |start| {
            let pairs = self.prefix_digests_from(start).zip(other.prefix_digests_from(start));
            pairs.take_while(|(own, others)| own == others).count()
        })
    }

    /// Length of the longest prefix that `knows` its digest, for who keeps every message once: a
    /// prefix is known only together with all shorter ones. Work is proportional to what follows
    /// it.
    #[must_use]
    pub fn known_len(&self, knows: impl Fn(&Digest) -> bool) -> usize {
        longest_known(self.len(), |start| {
            self.prefix_digests_from(start).take_while(&knows).count()
        })
    }

    fn links_from(&self, start: usize) -> impl Iterator<Item = &Link> {
        let mut chunks = Vec::new();
        let mut chunk = self.sealed.as_deref();
        while let Some(held) = chunk.filter(|held| held.start + held.links.len() > start) {
            chunks.push(held);
            chunk = held.previous.as_deref();
        }
        let first = chunks.last().map_or_else(|| self.sealed_len(), |held| held.start);
        let sealed = chunks.into_iter().rev().flat_map(|held| held.links.iter());
        sealed.chain(self.tail.iter()).skip(start.saturating_sub(first))
    }

    /// Drops the wire encodings that adapters left with the entries, for a run that stays idle.
    /// They are shared with every clone, and made again when the transcript is next sent.
    pub fn forget_encodings(&self) {
        self.entries().for_each(|entry| entry.forget_encoding());
    }

    /// The encodings of all entries under `key`, oldest first; those that are missing are made.
    pub fn encodings<'a>(
        &'a self,
        key: &'a EncodingKey,
        encode: impl Fn(&ModelMessage) -> Vec<u8> + 'a,
    ) -> impl Iterator<Item = Arc<[u8]>> + 'a {
        self.entries().map(move |entry| entry.encoding(key, &encode))
    }
}

/// Goes back from `end` in growing steps. `known` says how many prefixes are known without a break
/// from the one that is by one longer than its argument.
fn longest_known(mut end: usize, known: impl Fn(usize) -> usize) -> usize {
    let mut step = 1;
    loop {
        let start = end.saturating_sub(step);
        match known(start) {
            0 if start > 0 => (end, step) = (start, step * 2),
            more => return start + more,
        }
    }
}

impl Drop for Chunk {
    /// Unlinks the chain step by step: a long history must not overflow the stack.
    fn drop(&mut self) {
        let mut previous = self.previous.take();
        while let Some(mut chunk) = previous.and_then(Arc::into_inner) {
            previous = chunk.previous.take();
        }
    }
}

impl fmt::Debug for Transcript {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.entries().map(|entry| entry.kept())).finish()
    }
}

impl PartialEq for Transcript {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.digest() == other.digest()
    }
}

impl Extend<ModelMessage> for Transcript {
    fn extend<I: IntoIterator<Item = ModelMessage>>(&mut self, messages: I) {
        messages.into_iter().for_each(|message| self.push(message));
    }
}

impl FromIterator<ModelMessage> for Transcript {
    fn from_iter<I: IntoIterator<Item = ModelMessage>>(messages: I) -> Self {
        let mut transcript = Self::new();
        transcript.extend(messages);
        transcript
    }
}

impl From<Vec<ModelMessage>> for Transcript {
    fn from(messages: Vec<ModelMessage>) -> Self {
        messages.into_iter().collect()
    }
}

impl Serialize for Transcript {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.entries().map(|entry| Written(entry)))
    }
}

struct Written<'a>(&'a TranscriptEntry);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.show(|message| message.serialize(serializer))
    }
}

impl<'de> Deserialize<'de> for Transcript {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<ModelMessage>::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests;

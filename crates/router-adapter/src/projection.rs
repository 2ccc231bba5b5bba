//! Decides what of a history another provider is given, and says what it is not.
//!
//! Knows nothing about why a request goes elsewhere. Invariant: the history itself stays as it is,
//! so that its issuer gets its own items back; what is left out is counted, each kind with whom it
//! belongs to. Reasoning is the model's: it stands in messages of the assistant alone.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use runtime_ports::{Digest, ModelContent, ModelMessage, ModelRole, Transcript, TranscriptEntry};

use crate::losses::Omission;

/// What stands in the place of a picture.
const PICTURE: &str = "[a picture was here; this model takes none]";

/// Histories whose projection is remembered.
const REMEMBERED: usize = 64;

/// Besides the end of a history the places so many messages before it are remembered: where a
/// request ends with words that are no part of the history, the next one goes on before them.
const BEFORE_THE_END: [usize; 3] = [1, 2, 4];

/// What a provider takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    /// Whose reasoning it takes back; `None` when it does not say, and takes care of it itself.
    pub(crate) issuer: Option<&'a str>,
    pub(crate) images: bool,
}

/// What was left out of a history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Losses {
    /// Pieces of reasoning, by issuer.
    reasoning: BTreeMap<String, u64>,
    pictures: u64,
}

/// Remembers how far histories were looked through, so that a request costs what is new in it,
/// whichever turn or session it is of. Nothing is taken out while it is in use.
#[derive(Default)]
pub(crate) struct Projections {
    /// Those that were used last come first.
    known: Mutex<Vec<Arc<Known>>>,
    /// Messages that were looked at.
    #[cfg(test)]
    pub(crate) looked_at: std::sync::atomic::AtomicUsize,
}

/// How some beginnings of a history look to a target.
#[derive(Clone)]
struct Known {
    issuer: Option<String>,
    images: bool,
    /// From the shortest to the longest.
    marks: Vec<Mark>,
}

/// How the beginning of a history looks to a target.
#[derive(Clone)]
struct Mark {
    len: usize,
    digest: Digest,
    /// `None` while nothing of it is left out.
    projected: Option<Transcript>,
    losses: Losses,
}

/// Where to go on from.
struct Base {
    known: Arc<Known>,
    mark: Mark,
}

/// How a message looks to a target.
enum Seen {
    Whole,
    Changed(ModelMessage),
    /// Nothing of it is left.
    Gone,
}

impl Projections {
    /// The history as `target` is given it, and what is missing from it.
    pub(crate) fn project(&self, history: &Transcript, target: Target<'_>) -> (Transcript, Losses) {
        if target.takes_everything() {
            return (history.clone(), Losses::default());
        }
        let base = self.longest(history, target);
        let mark = base.as_ref().map_or_else(Mark::nothing, |base| base.mark.clone());
        let marks = self.marks_from(mark, history, target);
        let end = marks.last().cloned().unwrap_or_else(Mark::nothing);
        self.keep(base, marks, target);
        (end.projected.unwrap_or_else(|| history.clone()), end.losses)
    }

    /// What is known of the longest beginning. Work is proportional to what follows it.
    fn longest(&self, history: &Transcript, target: Target<'_>) -> Option<Base> {
        let known = self.lock().clone();
        let fitting = known.iter().filter(|known| known.is_for(target));
        let marks = fitting.flat_map(|known| known.marks.iter().map(move |mark| (known, mark)));
        let by_digest: HashMap<_, _> = marks.map(|found| (found.1.digest, found)).collect();
        let (mut end, mut step) = (history.len(), 4);
        while end > 0 && !by_digest.is_empty() {
            let start = end.saturating_sub(step);
            let digests = history.prefix_digests_from(start).take(end - start);
            if let Some((known, mark)) = digests.filter_map(|it| by_digest.get(&it)).last() {
                return Some(Base { known: Arc::clone(known), mark: (*mark).clone() });
            }
            (end, step) = (start, step * 2);
        }
        None
    }

    /// Looks through what follows `mark`, and gives the places to remember; the last is the end.
    fn marks_from(&self, mut mark: Mark, history: &Transcript, target: Target<'_>) -> Vec<Mark> {
        let digests = history.prefix_digests_from(mark.len);
        let mut marks = Vec::new();
        for (entry, digest) in history.entries_from(mark.len).zip(digests) {
            if is_remembered(history.len() - mark.len) {
                marks.push(mark.clone());
            }
            mark.extend(history, entry, target);
            mark.digest = digest;
            #[cfg(test)]
            self.looked_at.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        marks.push(mark);
        marks
    }

    /// Remembers a history in the place of what it goes on from, unless that may go on otherwise.
    fn keep(&self, base: Option<Base>, marks: Vec<Mark>, target: Target<'_>) {
        let issuer = target.issuer.map(str::to_owned);
        let mut new = Arc::new(Known { issuer, images: target.images, marks });
        let mut all = self.lock();
        if let Some(Base { known, mark }) = base {
            let (is_whole, goes_on) = (mark.len == new.end(), mark.len == known.end());
            if is_whole || goes_on {
                all.retain(|held| !Arc::ptr_eq(held, &known));
            }
            if is_whole {
                new = known;
            } else if goes_on {
                Arc::make_mut(&mut new).take_over(&known);
            }
        }
        all.insert(0, new);
        all.truncate(REMEMBERED);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Known>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the place so many messages before the end is worth remembering.
fn is_remembered(before_the_end: usize) -> bool {
    BEFORE_THE_END.contains(&before_the_end)
}

impl Target<'_> {
    const fn takes_everything(&self) -> bool {
        self.issuer.is_none() && self.images
    }
}

impl Known {
    fn is_for(&self, target: Target<'_>) -> bool {
        self.issuer.as_deref() == target.issuer && self.images == target.images
    }

    fn end(&self) -> usize {
        self.marks.last().map_or(0, |mark| mark.len)
    }

    /// Keeps of an earlier end what is still near the new one.
    fn take_over(&mut self, earlier: &Self) {
        let end = self.end();
        let near = earlier.marks.iter().filter(|mark| is_remembered(end - mark.len));
        let near = near.filter(|mark| self.marks.iter().all(|own| own.len != mark.len));
        let near: Vec<_> = near.cloned().collect();
        self.marks.splice(0..0, near);
    }
}

impl Mark {
    fn nothing() -> Self {
        let digest = Transcript::new().digest();
        Self { len: 0, digest, projected: None, losses: Losses::default() }
    }

    /// Goes on by one message of the history.
    fn extend(&mut self, history: &Transcript, entry: &Arc<TranscriptEntry>, target: Target<'_>) {
        // What cannot be in a message is not looked for: to see one may take making it again.
        let seen = match entry.role() {
            ModelRole::System => Seen::Whole,
            ModelRole::User | ModelRole::Tool if target.images => Seen::Whole,
            _ => entry.show(|message| self.losses.look_at(message, target)),
        };
        match (&mut self.projected, seen) {
            (None, Seen::Whole) => {}
            (Some(projected), Seen::Whole) => projected.push_entry(Arc::clone(entry)),
            (projected, changed) => {
                let begun = projected.get_or_insert_with(|| history.prefix(self.len));
                if let Seen::Changed(message) = changed {
                    begun.push(message);
                }
            }
        }
        self.len += 1;
    }
}

impl Losses {
    /// Each kind, with how much of it was left out for `name`.
    pub(crate) fn omissions(&self, name: &str) -> Vec<(Omission, u64)> {
        let to = || name.to_owned();
        let reasoning = self.reasoning.iter().map(|(issuer, count)| {
            (Omission::Reasoning { issuer: issuer.clone(), to: to() }, *count)
        });
        let pictures =
            (self.pictures > 0).then(|| (Omission::Pictures { to: to() }, self.pictures));
        reasoning.chain(pictures).collect()
    }

    fn look_at(&mut self, message: &ModelMessage, target: Target<'_>) -> Seen {
        if !message.content.iter().any(|content| target.changes(content)) {
            return Seen::Whole;
        }
        let content: Vec<_> =
            message.content.iter().filter_map(|content| self.kept(content, target)).collect();
        if content.is_empty() {
            return Seen::Gone;
        }
        Seen::Changed(ModelMessage { role: message.role, content })
    }

    fn kept(&mut self, content: &ModelContent, target: Target<'_>) -> Option<ModelContent> {
        if !target.changes(content) {
            return Some(content.clone());
        }
        if let ModelContent::Reasoning { issuer, .. } = content {
            *self.reasoning.entry(issuer.clone()).or_default() += 1;
            return None;
        }
        self.pictures += 1;
        Some(ModelContent::text(PICTURE))
    }
}

impl Target<'_> {
    fn changes(&self, content: &ModelContent) -> bool {
        match content {
            ModelContent::Reasoning { issuer, .. } => self.issuer.is_some_and(|own| own != issuer),
            ModelContent::Image { .. } => !self.images,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;

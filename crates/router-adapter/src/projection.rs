//! Decides what of a history another provider is given, and says what it is not.
//!
//! Knows nothing about why a request goes elsewhere. Invariant: the history itself stays as it is,
//! so that its issuer gets its own items back; what is left out is counted, each kind with whom it
//! belongs to. Reasoning is the model's: it stands in messages of the assistant alone.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use runtime_ports::{Digest, ModelContent, ModelMessage, ModelRole, Transcript};

/// What stands in the place of a picture.
const PICTURE: &str = "[a picture was here; this model takes none]";

/// Histories whose projection is remembered.
const REMEMBERED: usize = 8;

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

/// Remembers how far histories were looked through, so that a request costs what is new in it.
#[derive(Default)]
pub(crate) struct Projections(Mutex<Vec<Known>>);

/// How the beginning of a history looks to a target.
struct Known {
    issuer: Option<String>,
    images: bool,
    len: usize,
    digest: Digest,
    /// `None` while nothing of it is left out.
    projected: Option<Transcript>,
    losses: Losses,
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
        let mut known = self.take(history, target);
        known.extend(history, target);
        let seen = known.projected.clone().unwrap_or_else(|| history.clone());
        let losses = known.losses.clone();
        self.keep(known);
        (seen, losses)
    }

    /// What is known of the longest beginning.
    fn take(&self, history: &Transcript, target: Target<'_>) -> Known {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = all.iter().enumerate().filter(|(_, known)| known.is_of(history, target));
        let longest = fitting.max_by_key(|(_, known)| known.len).map(|(place, _)| place);
        longest.map_or_else(|| Known::nothing(target), |place| all.remove(place))
    }

    fn keep(&self, known: Known) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(0, known);
        all.truncate(REMEMBERED);
    }
}

impl Target<'_> {
    const fn takes_everything(&self) -> bool {
        self.issuer.is_none() && self.images
    }
}

impl Known {
    fn nothing(target: Target<'_>) -> Self {
        Self {
            issuer: target.issuer.map(str::to_owned),
            images: target.images,
            len: 0,
            digest: Transcript::new().digest(),
            projected: None,
            losses: Losses::default(),
        }
    }

    fn is_of(&self, history: &Transcript, target: Target<'_>) -> bool {
        let same = self.issuer.as_deref() == target.issuer && self.images == target.images;
        same && self.len <= history.len() && history.prefix(self.len).digest() == self.digest
    }

    fn extend(&mut self, history: &Transcript, target: Target<'_>) {
        for entry in history.entries_from(self.len) {
            // What cannot be in a message is not looked for: to see one may take making it again.
            let seen = match entry.role() {
                ModelRole::System => Seen::Whole,
                ModelRole::User | ModelRole::Tool if target.images => Seen::Whole,
                _ => entry.show(|message| self.losses.look_at(message, target)),
            };
            match (&mut self.projected, seen) {
                (None, Seen::Whole) => {}
                (Some(projected), Seen::Whole) => projected.push_entry(entry.clone()),
                (projected, changed) => {
                    let begun = projected.get_or_insert_with(|| history.prefix(self.len));
                    if let Seen::Changed(message) = changed {
                        begun.push(message);
                    }
                }
            }
            self.len += 1;
        }
        self.digest = history.digest();
    }
}

impl Losses {
    /// One sentence for each kind.
    pub(crate) fn sentences(&self, name: &str) -> Vec<String> {
        let reasoning = self.reasoning.iter().map(|(issuer, count)| {
            let pieces = counted(*count, "piece", "pieces");
            format!("{pieces} of reasoning by {issuer} left out for {name}")
        });
        let pictures = (self.pictures > 0).then(|| {
            let pictures = counted(self.pictures, "picture", "pictures");
            format!("{pictures} replaced by a note for {name}")
        });
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

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests;

//! Decides which part of a chat answer's text is reasoning that stands between tags.
//!
//! Knows nothing about reasoning in fields of its own. Invariant: without a closing tag nothing is
//! taken away from the text of a finished answer; the outcome does not depend on how the text was
//! cut.

use crate::server_profile::ThinkTags;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// The tags around what a server says beside them to be a thought.
const THOUGHT: &str = "<thought>";
const THOUGHT_OVER: &str = "</thought>";

/// A piece of text, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Text(String),
    Reasoning(String),
}

/// The text of an answer while it arrives.
#[derive(Debug)]
pub(super) enum Thinking {
    /// What came so far can still become the opening tag, or stands behind one that the server
    /// leaves out.
    Front { held: String, tags: ThinkTags },
    /// Behind the opening tag. All that came is kept, in case that the tag is never closed.
    Inside { all: String, given: usize, shown: String, close: &'static str },
    /// Behind the closing tag, at white space that belongs to it.
    Closed,
    /// Text.
    Outside,
}

impl Thinking {
    /// No text yet, of a server that writes tags as `tags` says.
    pub(super) fn new(tags: ThinkTags) -> Self {
        match tags {
            ThinkTags::Text => Self::Outside,
            _ => Self::Front { held: String::new(), tags },
        }
    }

    /// Whether all that follows is text.
    pub(super) const fn is_over(&self) -> bool {
        matches!(self, Self::Outside)
    }

    /// Takes more text and tells `said` what it is.
    pub(super) fn take(&mut self, text: &str, said: &mut impl FnMut(Said)) {
        match self {
            Self::Outside => tell(said, Said::Text(text.to_owned())),
            Self::Closed => self.leave_tag(text, said),
            Self::Front { held, .. } => {
                held.push_str(text);
                self.leave_front(said);
            }
            Self::Inside { all, .. } => {
                all.push_str(text);
                self.look_for_close(said);
            }
        }
    }

    /// Takes text that the server says beside it to be a thought. It may stand between tags of its
    /// own, the closing one of which comes with what follows.
    pub(super) fn take_thought(&mut self, text: &str, said: &mut impl FnMut(Said)) {
        let begun = text.trim_start();
        if begun.starts_with(THOUGHT) && !matches!(self, Self::Inside { .. }) {
            let (held, _) = self.finish();
            tell(said, Said::Text(held));
            let given = text.len() - begun.len() + THOUGHT.len();
            let (all, shown) = (text.to_owned(), String::new());
            *self = Self::Inside { all, given, shown, close: THOUGHT_OVER };
            self.look_for_close(said);
        } else if matches!(self, Self::Inside { .. }) {
            self.take(text, said);
        } else {
            return tell(said, Said::Reasoning(text.to_owned()));
        }
        // What is a thought by the server's word stays one, also when no tag closes it.
        if let Self::Inside { all, given, shown, .. } = self {
            all.drain(..std::mem::take(given));
            shown.clear();
        }
    }

    /// Whether something came that is not told as text yet.
    pub(super) fn has_begun(&self) -> bool {
        match self {
            Self::Front { held, .. } => !held.is_empty(),
            Self::Inside { .. } | Self::Closed => true,
            Self::Outside => false,
        }
    }

    fn leave_tag(&mut self, text: &str, said: &mut impl FnMut(Said)) {
        let text = text.trim_start();
        if !text.is_empty() {
            *self = Self::Outside;
            tell(said, Said::Text(text.to_owned()));
        }
    }

    fn leave_front(&mut self, said: &mut impl FnMut(Said)) {
        let Self::Front { held, tags } = self else { return };
        let begun = held.trim_start();
        if begun.len() < OPEN.len() && OPEN.starts_with(begun) {
            return;
        }
        let tag = (held.len() - begun.len(), begun.starts_with(OPEN));
        let (all, shown) = (std::mem::take(held), String::new());
        match (tag, *tags) {
            ((_, false), ThinkTags::Reasoning) => {
                *self = Self::Outside;
                return tell(said, Said::Text(all));
            }
            ((at, true), _) => {
                *self = Self::Inside { all, given: at + OPEN.len(), shown, close: CLOSE };
            }
            ((_, false), _) => *self = Self::Inside { all, given: 0, shown, close: CLOSE },
        }
        self.look_for_close(said);
    }

    fn look_for_close(&mut self, said: &mut impl FnMut(Said)) {
        let Self::Inside { all, given, shown, close } = self else { return };
        let fresh = &all[*given..];
        if let Some(at) = fresh.find(*close) {
            let (reasoning, rest) = (fresh[..at].to_owned(), fresh[at + close.len()..].to_owned());
            *self = Self::Closed;
            tell(said, Said::Reasoning(reasoning));
            return self.leave_tag(&rest, said);
        }
        let safe = fresh[..fresh.len() - begun_tag(fresh, close)].to_owned();
        *given += safe.len();
        shown.push_str(&safe);
        tell(said, Said::Reasoning(safe));
    }

    /// Ends the text of an answer that is complete: the text that was held back, or that was no
    /// reasoning after all because its tag was never closed; and what was told as reasoning of it.
    pub(super) fn finish(&mut self) -> (String, String) {
        match std::mem::replace(self, Self::Outside) {
            Self::Outside | Self::Closed => (String::new(), String::new()),
            Self::Front { held, .. } => (held, String::new()),
            Self::Inside { all, shown, .. } => (all, shown),
        }
    }
}

fn tell(said: &mut impl FnMut(Said), piece: Said) {
    let (Said::Text(text) | Said::Reasoning(text)) = &piece;
    if !text.is_empty() {
        said(piece);
    }
}

/// Bytes at the end of `text` that can become the closing tag.
fn begun_tag(text: &str, close: &str) -> usize {
    let longest = (1..close.len()).rev().find(|length| text.ends_with(&close[..*length]));
    longest.unwrap_or(0)
}

#[cfg(test)]
mod tests;

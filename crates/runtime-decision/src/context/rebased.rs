//! Decides what becomes of edits of a view when the context below them is rewritten.
//!
//! Knows positions only. Invariant: an edit of what is no longer there is dropped; what it puts in
//! stays, before the first message behind it that is still there.

#[cfg(test)]
mod tests;

use crate::{Edit, hook::apply};

/// How a list was rewritten: its first `same` items stayed, those up to `gone` went, `head` stand
/// before what is left of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rewrite {
    /// Items in front that stayed where they were.
    pub(crate) same: usize,
    /// One after the last item that went.
    pub(crate) gone: usize,
    /// Items before the first one behind it now.
    pub(crate) head: usize,
    /// Items of the list before.
    pub(crate) before: usize,
}

impl Rewrite {
    /// Where the item at `place` is now.
    const fn moved(self, place: usize) -> Option<usize> {
        match place {
            place if place < self.same => Some(place),
            place if place < self.gone => None,
            place => Some(place - self.gone + self.head),
        }
    }

    const fn len(self) -> usize {
        self.before - self.gone + self.head
    }
}

#[derive(Clone)]
enum Part<T> {
    Old(usize),
    New(T),
}

/// The edits of the list before, as edits of the list now.
pub(crate) fn rebased<T: Clone>(edits: &[Edit<T>], rewrite: Rewrite) -> Vec<Edit<T>> {
    if edits.is_empty() {
        return Vec::new();
    }
    let mut parts: Vec<Part<T>> = (0..rewrite.before).map(Part::Old).collect();
    let edits: Vec<_> = edits.iter().map(of_parts).collect();
    apply(&mut parts, &edits);
    // From the end, so that positions before an edit are those of the list now.
    let (mut rebased, mut next, mut behind) = (Vec::new(), rewrite.before, rewrite.len());
    for part in parts.into_iter().rev() {
        match part {
            Part::Old(place) => {
                behind = drop_between(place + 1, next, rewrite, &mut rebased).unwrap_or(behind);
                behind = rewrite.moved(place).unwrap_or(behind);
                next = place;
            }
            Part::New(item) => rebased.push(Edit::Insert { at: behind, item }),
        }
    }
    drop_between(0, next, rewrite, &mut rebased);
    rebased
}

/// Drops what is still there of the items from `first` to `end`; gives where what followed them is
/// then.
fn drop_between<T>(
    first: usize,
    end: usize,
    rewrite: Rewrite,
    rebased: &mut Vec<Edit<T>>,
) -> Option<usize> {
    let dropped = (first..end).rev().filter_map(|place| rewrite.moved(place));
    dropped.inspect(|at| rebased.push(Edit::Drop { at: *at })).last()
}

fn of_parts<T: Clone>(edit: &Edit<T>) -> Edit<Part<T>> {
    match edit {
        Edit::Insert { at, item } => Edit::Insert { at: *at, item: Part::New(item.clone()) },
        Edit::Replace { at, item } => Edit::Replace { at: *at, item: Part::New(item.clone()) },
        Edit::Drop { at } => Edit::Drop { at: *at },
    }
}

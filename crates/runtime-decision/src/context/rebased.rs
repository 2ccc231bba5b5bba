//! Decides what becomes of edits of a view when the context below them is rewritten.
//!
//! Knows positions only. Invariant: an edit follows its message wherever that moves; one of what is
//! no longer there is dropped, and what it puts in stays, before the first message behind it that is
//! still there.

#[cfg(test)]
mod tests;

use crate::{Edit, hook::apply};

/// How a list was rewritten: its first `same` items stayed, of those up to `gone` the ones that are
/// `moved` stand behind them, the others went, and `head` stand before what is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rewrite {
    /// Items in front that stayed where they were.
    pub(crate) same: usize,
    /// Places of those before `gone` that stand behind the first ones now, in order.
    pub(crate) moved: Vec<usize>,
    /// One after the last item that went.
    pub(crate) gone: usize,
    /// Items before the first one behind it now.
    pub(crate) head: usize,
    /// Items of the list before.
    pub(crate) before: usize,
}

impl Rewrite {
    /// Where the item at `place` is now.
    fn now(&self, place: usize) -> Option<usize> {
        match place {
            place if place < self.same => Some(place),
            place if place < self.gone => {
                self.moved.binary_search(&place).ok().map(|behind| self.same + behind)
            }
            place => Some(place - self.gone + self.head),
        }
    }

    const fn len(&self) -> usize {
        self.before - self.gone + self.head
    }
}

#[derive(Clone)]
enum Part<T> {
    Old(usize),
    /// Stands in the place of an old one.
    Instead(usize, T),
    New(T),
}

/// The edits of the list before, as edits of the list now.
pub(crate) fn rebased<T: Clone>(edits: &[Edit<T>], rewrite: &Rewrite) -> Vec<Edit<T>> {
    if edits.is_empty() {
        return Vec::new();
    }
    // From the end, so that positions before an edit are those of the list now.
    let (mut rebased, mut next, mut behind) = (Vec::new(), rewrite.before, rewrite.len());
    for part in parts(edits, rewrite.before).into_iter().rev() {
        let (place, instead) = match part {
            Part::New(item) => {
                rebased.push(Edit::Insert { at: behind, item });
                continue;
            }
            Part::Old(place) => (place, None),
            Part::Instead(place, item) => (place, Some(item)),
        };
        behind = drop_between(place + 1, next, rewrite, &mut rebased).unwrap_or(behind);
        let now = rewrite.now(place);
        behind = now.unwrap_or(behind);
        rebased.extend(instead.map(|item| match now {
            Some(at) => Edit::Replace { at, item },
            None => Edit::Insert { at: behind, item },
        }));
        next = place;
    }
    drop_between(0, next, rewrite, &mut rebased);
    rebased
}

/// What the edits make of a list of `before` items.
fn parts<T: Clone>(edits: &[Edit<T>], before: usize) -> Vec<Part<T>> {
    let mut parts: Vec<Part<T>> = (0..before).map(Part::Old).collect();
    for edit in edits {
        let edit = match edit {
            Edit::Insert { at, item } => Edit::Insert { at: *at, item: Part::New(item.clone()) },
            Edit::Replace { at, item } => {
                let item = match parts.get(*at) {
                    Some(Part::Old(place) | Part::Instead(place, _)) => {
                        Part::Instead(*place, item.clone())
                    }
                    Some(Part::New(_)) | None => Part::New(item.clone()),
                };
                Edit::Replace { at: *at, item }
            }
            Edit::Drop { at } => Edit::Drop { at: *at },
        };
        apply(&mut parts, &[edit]);
    }
    parts
}

/// Drops what is still there of the items from `first` to `end`; gives where what followed them is
/// then.
fn drop_between<T>(
    first: usize,
    end: usize,
    rewrite: &Rewrite,
    rebased: &mut Vec<Edit<T>>,
) -> Option<usize> {
    let dropped = (first..end).rev().filter_map(|place| rewrite.now(place));
    dropped.inspect(|at| rebased.push(Edit::Drop { at: *at })).last()
}

//! Decides which item of a Responses answer each item of the final report is.
//!
//! Knows nothing about what follows from it. Invariant: no item is paired twice, and an item whose
//! content was streamed is not listed again because its id or its place changed.

use model_wire::answer::filled;
use serde_json::Value;

use super::items::Item;

/// For each item of `listed`, its position in `items`; `None` for those that are new. Ids decide
/// first, then equal content, then the order among items of one type.
pub(super) fn paired(items: &[Item], listed: &[Value]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; listed.len()];
    let passes: [fn(&Item, &Value) -> bool; 3] = [Item::shares_id, says_the_same, fits];
    for is_pair in passes {
        for (at, reported) in listed.iter().enumerate() {
            if pairs[at].is_some() || filled(reported, "type").is_none() {
                continue;
            }
            let is_free = |found: &usize| !pairs.contains(&Some(*found));
            let candidates = (0..items.len()).filter(is_free);
            pairs[at] = candidates.into_iter().find(|found| is_pair(&items[*found], reported));
        }
    }
    pairs
}

fn says_the_same(item: &Item, reported: &Value) -> bool {
    fits(item, reported) && item.says_the_same(reported)
}

fn fits(item: &Item, reported: &Value) -> bool {
    !item.is_other_than(reported)
}

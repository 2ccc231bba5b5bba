//! Decides whether edits come to the same when the list below them was rewritten.

use proptest::prelude::*;

use super::{Rewrite, rebased};
use crate::{Edit, hook::apply};

const COUNT: usize = 8;

fn edits() -> impl Strategy<Value = Vec<Edit<String>>> {
    let edit = (0..3_u8, 0..COUNT + 3, 0..1_000_u32).prop_map(|(kind, at, number)| {
        let item = format!("new {number}");
        match kind {
            0 => Edit::Insert { at, item },
            1 => Edit::Replace { at, item },
            _ => Edit::Drop { at },
        }
    });
    proptest::collection::vec(edit, 0..6)
}

fn old() -> Vec<String> {
    (0..COUNT).map(|place| format!("old {place}")).collect()
}

proptest! {
    #[test]
    fn a_list_that_stayed_is_edited_as_before(edits in edits()) {
        let rewrite = Rewrite { same: COUNT, moved: Vec::new(), gone: COUNT, head: COUNT, before: COUNT };
        let (mut expected, mut actual) = (old(), old());
        apply(&mut expected, &edits);
        apply(&mut actual, &rebased(&edits, &rewrite));
        prop_assert_eq!(actual, expected);
    }

    #[test]
    fn what_was_put_in_stays_in_order_and_what_was_taken_out_stays_out(
        edits in edits(), gone in 0..=COUNT, same in 0..=COUNT, made in 0..4_usize,
        says in proptest::collection::vec(any::<bool>(), COUNT),
    ) {
        let same = same.min(gone);
        let moved: Vec<_> = (same..gone).filter(|place| says[*place]).collect();
        let head = same + moved.len() + made;
        let rewrite = Rewrite { same, moved: moved.clone(), gone, head, before: COUNT };
        let mut before = old();
        apply(&mut before, &edits);
        let mut now: Vec<_> = old()[..same].to_vec();
        now.extend(moved.iter().map(|place| old()[*place].clone()));
        now.extend((0..made).map(|number| format!("made {number}")));
        now.extend(old()[gone..].to_vec());
        prop_assert_eq!(now.len(), rewrite.len());
        apply(&mut now, &rebased(&edits, &rewrite));
        let stays = |item: &&String| {
            let place = old().iter().position(|old| old == *item);
            !item.starts_with("made")
                && place.is_none_or(|it| it < same || it >= gone || moved.contains(&it))
        };
        let kept: Vec<_> = before.iter().filter(stays).collect();
        let left: Vec<_> = now.iter().filter(|item| !item.starts_with("made")).collect();
        prop_assert_eq!(left, kept);
        let made = now.iter().filter(|item| item.starts_with("made")).count();
        prop_assert_eq!(made, rewrite.head - rewrite.same - rewrite.moved.len());
    }
}

#[test]
fn a_note_behind_the_system_message_stays_there() {
    let edits = vec![Edit::Insert { at: 1, item: "note" }];
    // The system message and what the user said stayed, three messages became one.
    let rewrite = Rewrite { same: 1, moved: vec![1, 4], gone: 6, head: 4, before: 8 };
    assert_eq!(rebased(&edits, &rewrite), edits);
    // What stood before a message that is gone stands behind the summary.
    let edits = vec![Edit::Insert { at: 5, item: "note" }, Edit::Drop { at: 8 }];
    let now = vec![Edit::Drop { at: 5 }, Edit::Insert { at: 4, item: "note" }];
    assert_eq!(rebased(&edits, &rewrite), now);
}

#[test]
fn an_edit_of_a_message_that_moves_into_the_head_follows_it() {
    let rewrite = Rewrite { same: 1, moved: vec![3], gone: 6, head: 3, before: 8 };
    let now = [Edit::Replace { at: 1, item: "other" }];
    assert_eq!(rebased(&[Edit::Replace { at: 3, item: "other" }], &rewrite), now);
    assert_eq!(rebased::<&str>(&[Edit::Drop { at: 3 }], &rewrite), [Edit::Drop { at: 1 }]);
}

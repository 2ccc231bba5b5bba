//! Whether the search asks for no more than it said.

use super::{LEAST, cost, sizes};

#[test]
fn sizes_double_up_to_what_was_named() {
    assert_eq!(sizes(1_024).collect::<Vec<_>>(), [1_024]);
    assert_eq!(sizes(LEAST).collect::<Vec<_>>(), [LEAST]);
    assert_eq!(sizes(10_000).collect::<Vec<_>>(), [2_048, 4_096, 8_192, 10_000]);
}

#[test]
fn the_cost_is_that_of_all_sizes_and_of_the_halvings() {
    let text = "looking for the window takes up to 8 more requests and 64336 tokens of prompt";
    assert_eq!(cost(10_000), text);
    assert!(cost(u64::MAX).contains(" requests and "));
}

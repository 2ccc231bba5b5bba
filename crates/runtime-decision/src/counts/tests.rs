//! Decides whether counts are given back as they were, the unknown ones above all.

use proptest::prelude::*;

use super::Counts;

#[test]
fn zero_and_the_largest_count_are_known() {
    let counts = [None, Some(0), Some(u64::MAX), None, Some(1)];
    assert_eq!(Counts::of(counts).get(), counts);
}

proptest! {
    #[test]
    fn counts_are_given_back(counts: [Option<u64>; 8], usage: [Option<u64>; 5]) {
        prop_assert_eq!(Counts::of(counts).get(), counts);
        prop_assert_eq!(Counts::of(usage).usage().fields(), usage);
    }
}

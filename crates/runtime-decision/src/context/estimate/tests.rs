//! Decides whether estimates follow what was reported.

use proptest::prelude::*;

use super::{Measured, estimated, plain_within};

#[test]
fn what_was_appended_is_added_to_what_was_reported() {
    let cases = [
        // reported, its plain estimate, the plain estimate now, what is expected
        (None, 70, 70),
        (Measured::of(100, 100), 130, 130),
        // The report was twice the estimate: what was appended counts twice.
        (Measured::of(2_000, 1_000), 1_030, 2_060),
        // Of a short request, the rest may be an overhead that does not grow.
        (Measured::of(200, 100), 130, 230),
        (Measured::of(100_000, 1_000), 1_001, 100_008),
        // The report was lower: what was appended counts once.
        (Measured::of(50, 100), 130, 80),
        // The context shrank: in proportion.
        (Measured::of(200, 100), 40, 80),
        (Measured::of(50, 100), 40, 20),
        (Measured::of(u64::MAX, 1), 2, u64::MAX),
    ];
    for (measured, plain, expected) in cases {
        assert_eq!(estimated(measured, plain), expected, "{measured:?} {plain}");
    }
    assert_eq!((Measured::of(0, 5), Measured::of(5, 0)), (None, None));
}

fn measured() -> impl Strategy<Value = Option<Measured>> {
    let count = 1..2_000_000_u64;
    proptest::option::of((count.clone(), count).prop_map(|(reported, estimated)| {
        Measured::of(reported, estimated).expect("neither is nothing")
    }))
}

proptest! {
    #[test]
    fn more_tokens_are_never_taken_for_fewer(
        measured in measured(), plain in 0..4_000_000_u64, more in 0..1_000_u64,
    ) {
        prop_assert!(estimated(measured, plain) <= estimated(measured, plain + more));
    }

    #[test]
    fn what_is_within_a_limit_fits(measured in measured(), limit in 0..4_000_000_u64) {
        prop_assert!(estimated(measured, plain_within(measured, limit)) <= limit);
    }
}

//! Decides whether counts add up without inventing any.

use proptest::prelude::*;

use crate::{CumulativeUsage, TokenUsage, UsageTotal};

const MAX: Option<u64> = Some(u64::MAX);

fn input(tokens: Option<u64>) -> TokenUsage {
    TokenUsage { input_tokens: tokens, ..TokenUsage::default() }
}

/// What it is about, the reports, the value that counts, whether a warning is due.
type Reports<'a> = (&'a str, &'a [Option<u64>], Option<u64>, bool);

#[test]
fn cumulative_reports_keep_the_last_known_value_and_distrust_a_lower_one() {
    let cases: [Reports<'_>; 12] = [
        ("nothing", &[], None, false),
        ("never known", &[None, None], None, false),
        ("zero is known", &[Some(0)], Some(0), false),
        ("one report", &[Some(7)], Some(7), false),
        ("growing", &[Some(1), Some(5), Some(9)], Some(9), false),
        ("repeated", &[Some(5), Some(5)], Some(5), false),
        ("an empty report after a real one", &[Some(5), None], Some(5), false),
        ("known late", &[None, Some(5)], Some(5), false),
        ("lower", &[Some(5), Some(4)], None, true),
        ("lower, then higher", &[Some(5), Some(4), Some(9)], None, true),
        ("back to zero across a gap", &[Some(5), None, Some(0)], None, true),
        ("the largest", &[Some(1), MAX, MAX], MAX, false),
    ];
    for (case, reports, expected, warned) in cases {
        let mut usage = CumulativeUsage::default();
        reports.iter().for_each(|report| usage.observe(&input(*report)));
        assert_eq!(usage.usage(), input(expected), "{case}");
        assert_eq!(usage.warnings().len(), usize::from(warned), "{case}");
    }
}

#[test]
fn a_contradicted_field_leaves_the_others_and_is_named() {
    let mut usage = CumulativeUsage::default();
    usage.observe(&TokenUsage { output_tokens: Some(1), ..input(Some(5)) });
    usage.observe(&TokenUsage { output_tokens: Some(2), ..input(Some(4)) });
    assert_eq!(usage.usage(), TokenUsage { output_tokens: Some(2), ..TokenUsage::default() });
    let warning = "input_tokens was reported lower than before; kept as unknown";
    assert_eq!(usage.warnings(), [warning]);
}

#[test]
fn sums_absorb_the_unknown_and_saturate() {
    let mut sum = TokenUsage::zero();
    sum.add_assign(&TokenUsage { output_tokens: Some(3), ..input(MAX) });
    sum.add_assign(&TokenUsage { output_tokens: None, ..input(Some(1)) });
    assert_eq!(sum, input(MAX));
    sum.add_assign(&TokenUsage::zero());
    assert_eq!(sum, input(MAX));
    assert!(!sum.is_unreported() && !TokenUsage::zero().is_unreported());
    assert!(TokenUsage::default().is_unreported());
}

#[test]
fn totals_are_lower_bounds_as_soon_as_a_part_is_unknown() {
    let cases: [(&[Option<u64>], u64, bool); 5] = [
        (&[], 0, true),
        (&[Some(0)], 0, true),
        (&[Some(2), Some(3)], 5, true),
        (&[Some(2), None, Some(3)], 5, false),
        (&[MAX, Some(1)], u64::MAX, true),
    ];
    for (values, at_least, complete) in cases {
        let mut total = UsageTotal::default();
        values.iter().for_each(|value| total.add(*value));
        assert_eq!(total, UsageTotal { at_least, complete }, "{values:?}");
    }
}

fn usage() -> impl Strategy<Value = TokenUsage> {
    any::<[Option<u64>; 5]>().prop_map(|fields| TokenUsage {
        input_tokens: fields[0],
        output_tokens: fields[1],
        cached_input_tokens: fields[2],
        cache_write_tokens: fields[3],
        reasoning_tokens: fields[4],
    })
}

proptest! {
    #[test]
    fn the_order_of_addends_does_not_matter(left in usage(), right in usage()) {
        let (mut one, mut two) = (left, right);
        one.add_assign(&right);
        two.add_assign(&left);
        prop_assert_eq!(one, two);
        for ((sum, left), right) in one.fields().into_iter().zip(left.fields()).zip(right.fields()) {
            prop_assert_eq!(sum.is_some(), left.is_some() && right.is_some());
        }
    }

    #[test]
    fn a_cumulative_field_is_the_largest_report_or_unknown(reports: Vec<Option<u64>>) {
        let mut usage = CumulativeUsage::default();
        reports.iter().for_each(|report| usage.observe(&input(*report)));
        let known: Vec<_> = reports.into_iter().flatten().collect();
        let expected = if known.is_sorted() { known.last().copied() } else { None };
        prop_assert_eq!(usage.usage(), input(expected));
    }
}

//! Decides whether amounts read well and never turn an unknown into a zero.

use runtime_ports::UsageTotal;

use super::{cost, counted, duration, tokens, tokens_in_and_out};

#[test]
fn counts_agree_with_their_noun() {
    for (count, expected) in [(0, "0 entries"), (1, "1 entry"), (2, "2 entries")] {
        assert_eq!(counted(count, "entry", "entries"), expected);
    }
}

#[test]
fn durations_are_as_precise_as_one_wants_to_know() {
    for (milliseconds, expected) in [
        (0, "0.0 s"),
        (49, "0.0 s"),
        (50, "0.1 s"),
        (9_949, "9.9 s"),
        (9_950, "10 s"),
        (59_499, "59 s"),
        (59_500, "1 min 00 s"),
        (185_000, "3 min 05 s"),
        (7_500_000, "2 h 05 min"),
        (u64::MAX, "5124095576030 h 25 min"),
    ] {
        assert_eq!(duration(milliseconds), expected, "{milliseconds}");
    }
}

#[test]
fn an_unknown_is_no_zero_and_a_small_cost_is_none_either() {
    let total = |at_least, complete| UsageTotal { at_least, complete };
    for (sum, in_tokens, in_dollars) in [
        (total(0, true), "0", "$0.000000"),
        (total(0, false), "unavailable", "unavailable"),
        (total(7, true), "7", "$0.000001"),
        (total(1_500_000_000, false), "at least 1500000000", "at least $1.500000"),
    ] {
        assert_eq!((tokens(sum).as_str(), cost(sum).as_str()), (in_tokens, in_dollars));
    }
    assert_eq!(tokens_in_and_out("unavailable", "unavailable"), "tokens unavailable");
    assert_eq!(
        tokens_in_and_out("at least 3", "unavailable"),
        "tokens in at least 3, out unavailable"
    );
}

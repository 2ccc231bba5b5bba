//! Decides whether a moment belongs to the right day, up to the last one.

use proptest::prelude::*;

use crate::UtcDay;

const DAY_MS: u64 = 86_400_000;
/// The first moment of 9999-12-31.
const LAST_DAY_MS: u64 = 253_402_214_400_000;

#[test]
fn moments_belong_to_their_day() {
    for (unix_ms, expected) in [
        (0, "1970-01-01"),
        (DAY_MS - 1, "1970-01-01"),
        (DAY_MS, "1970-01-02"),
        (951_782_400_000, "2000-02-29"),
        (951_868_800_000, "2000-03-01"),
        (1_709_164_800_000, "2024-02-29"),
        (4_107_542_400_000, "2100-03-01"),
        (LAST_DAY_MS - 1, "9999-12-30"),
        (LAST_DAY_MS, "9999-12-31"),
        (LAST_DAY_MS + DAY_MS, "9999-12-31"),
        (u64::MAX, "9999-12-31"),
    ] {
        let day = UtcDay::from_unix_ms(unix_ms);
        assert_eq!(day.to_string(), expected, "{unix_ms}");
        assert_eq!(expected.parse::<UtcDay>().unwrap(), day);
    }
}

#[test]
fn only_days_since_the_epoch_in_one_form_are_read() {
    for text in [
        "",
        "2024",
        "2024-2-29",
        "2023-02-29",
        "2100-02-29",
        "2024-13-01",
        "2024-00-10",
        "2024-01-00",
        "2024-01-32",
        "24-01-01",
        "+2024-01-01",
        "-2024-01-01",
        "10000-01-01",
        "2024-01-01 ",
        "2024-01-01T00:00:00Z",
        "2024/01/01",
        "1969-12-31",
        "0000-01-01",
    ] {
        assert!(text.parse::<UtcDay>().is_err(), "{text:?}");
        assert!(serde_json::from_value::<UtcDay>(text.into()).is_err(), "{text:?}");
    }
}

proptest! {
    #[test]
    fn days_are_read_as_written_and_sorted_like_moments(left: u64, right: u64) {
        let (left, right) = (left.min(right), left.max(right));
        let days = [left, right].map(UtcDay::from_unix_ms);
        prop_assert!(days[0] <= days[1]);
        prop_assert_eq!(days[0].to_string().parse::<UtcDay>().unwrap(), days[0]);
    }

    #[test]
    fn no_text_panics(text: String) {
        let _ = text.parse::<UtcDay>();
    }
}

//! Decides whether a length of time is read as it was meant, and nothing is guessed.

use super::time_limit;

#[test]
fn units_add_up_to_a_length() {
    for (text, seconds) in [
        ("90s", 90),
        ("10m", 600),
        ("2h", 7_200),
        ("1h30m", 5_400),
        ("1h1m1s", 3_661),
        (" 24h ", 86_400),
        ("0h5s", 5),
    ] {
        assert_eq!(time_limit(text).map(|limit| limit.as_secs()), Ok(seconds), "{text}");
    }
}

#[test]
fn everything_else_is_refused_with_what_to_write() {
    let form = "write it like 90s, 10m, 2h or 1h30m";
    for text in ["", "0s", "10", "s", "10 m", "5x", "-5s", "1.5h", "10s5m", "5s5s", "٣s", "9é"] {
        assert!(time_limit(text).is_err_and(|error| error.contains(form)), "{text}");
    }
    for text in ["25h", "99999999999999999999s", "18446744073709551615h", "24h1s"] {
        assert!(time_limit(text).is_err(), "{text}");
    }
}

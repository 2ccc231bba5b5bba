//! Dollars and tokens as people write them.

use super::*;

#[test]
fn dollars_are_read_to_the_nano_dollar() {
    for (text, nano) in [
        ("2", 2_000_000_000),
        ("0.50", 500_000_000),
        ("$1.25", 1_250_000_000),
        ("0.000000001", 1),
        ("18446744073.709551615", u64::MAX),
    ] {
        assert_eq!(usd(text), Ok(nano), "{text}");
    }
}

#[test]
fn what_is_no_amount_is_refused_with_the_form() {
    for text in
        ["", "-1", "1e3", "1,5", ".5", "5.", "0", "0.0000000001", "18446744073.709551616", "€2"]
    {
        let error = usd(text).unwrap_err();
        assert!(error.contains("write dollars like"), "{text}: {error}");
    }
}

#[test]
fn tokens_are_counted_in_whole_numbers() {
    assert_eq!((tokens("1"), tokens("100_000")), (Ok(1), Ok(100_000)));
    for text in ["0", "-1", "1.5", "many", ""] {
        assert!(tokens(text).is_err(), "{text}");
    }
}

//! Decides whether a digest is written and read in exactly one form.

use proptest::prelude::*;

use crate::Digest;

const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn the_hash_of_nothing_is_the_published_one() {
    assert_eq!(Digest::of(b"").to_string(), EMPTY);
    assert_eq!(Digest::of_parts(&[b"mi", b"", b"lk"]), Digest::of(b"milk"));
    assert_eq!(format!("{:?}", Digest::of(b"")), format!("Digest({EMPTY})"));
}

#[test]
fn only_64_lowercase_hex_digits_are_a_digest() {
    assert_eq!(EMPTY.parse::<Digest>(), Ok(Digest::of(b"")));
    let (upper, spaced) = (EMPTY.to_uppercase(), format!(" {EMPTY}"));
    let (short, long) = (&EMPTY[1..], format!("{EMPTY}0"));
    let umlaut = format!("{}ü", &EMPTY[..62]);
    let other = format!("g{}", &EMPTY[1..]);
    for text in ["", &upper, &spaced, short, &long, &umlaut, &other] {
        assert!(text.parse::<Digest>().is_err(), "{text}");
        assert!(serde_json::from_value::<Digest>(text.into()).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn every_digest_is_read_as_it_is_written(bytes: Vec<u8>) {
        let digest = Digest::of(&bytes);
        prop_assert_eq!(digest.to_string().parse(), Ok(digest));
        let json = serde_json::to_string(&digest).unwrap();
        prop_assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
    }

    #[test]
    fn no_text_panics(text: String) {
        let _ = text.parse::<Digest>();
    }
}

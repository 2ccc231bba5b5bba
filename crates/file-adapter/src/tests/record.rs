//! Decides whether a line gives back the record that it was made of, and nothing else.

use proptest::prelude::*;
use runtime_ports::{Digest, Metering, UsageReceipt};

use super::sample::{line, meter, open, record, settle, settled};
use crate::{
    failure::FileError,
    record::{Change, Record, Unreadable},
};

fn by_time(seconds: f64) -> Record {
    let receipt = UsageReceipt { metering: Metering::DurationSeconds(seconds), ..settled(1) };
    record(Change::Settled { receipt })
}

/// A line around `json` whose checksum holds.
fn checked(json: &str) -> String {
    let check = &Digest::of(json.as_bytes()).to_string()[..16];
    format!(r#"{{"check":"{check}","record":{json}}}"#)
}

/// The JSON of a sample after a replacement, in a line whose checksum holds.
fn forged(from: &str, to: &str) -> Result<Record, Unreadable> {
    let json = serde_json::to_string(&record(open(1))).unwrap();
    assert!(json.contains(from), "{from} is not in the sample");
    Record::from_line(checked(&json.replacen(from, to, 1)).as_bytes())
}

#[test]
fn a_whole_line_of_a_newer_release_is_told_from_a_damaged_one() {
    let unknown = Err(Unreadable::Damaged("the record has an unknown form"));
    for (from, to, expected) in [
        (r#""version":1,"owner""#, r#""version":2,"owner""#, Err(Unreadable::Newer(2))),
        (r#""version":1,"owner""#, r#""version":7,"shape""#, Err(Unreadable::Newer(7))),
        (r#""version":1,"operationId""#, r#""version":3,"operationId""#, Err(Unreadable::Newer(3))),
        (r#""opened""#, r#""renamed""#, unknown.clone()),
        (r#""version":1,"owner""#, r#""version":1,"more":0,"owner""#, unknown.clone()),
        (r#""version":1,"owner""#, r#""version":70000,"owner""#, unknown.clone()),
        (r#""version":1,"owner""#, r#""owner""#, unknown),
        (
            r#""version":1,"owner""#,
            r#""version":0,"owner""#,
            Err(Unreadable::Damaged("the record has a version that never was")),
        ),
    ] {
        assert_eq!(forged(from, to), expected, "{from} -> {to}");
    }
}

#[test]
fn hostile_lines_are_refused_without_harm() {
    let deep = checked(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)));
    let deep_in_version = checked(&format!(r#"{{"version":{}1"#, "{\"a\":".repeat(100_000)));
    let long = checked(&format!(r#"{{"version":1,"x":"{}"}}"#, "x".repeat(1 << 20)));
    let whole = line(settle(1));
    for hostile in [
        b"".to_vec(),
        b"{}".to_vec(),
        vec![0; 4_096],
        vec![0xff; 4_096],
        br#"{"check":""#.to_vec(),
        br#"{"check":"0123456789abcdef","record":"#.to_vec(),
        br#"{"check":"0123456789abcdef","record":}"#.to_vec(),
        "{\"check\":\"é123456789abcdef\",\"record\":{}}".into(),
        checked("null").into(),
        checked("\u{feff}{}").into(),
        deep.into(),
        deep_in_version.into(),
        long.into(),
        whole.trim_end().replace("check", "chECK").into(),
        format!(" {}", whole.trim_end()).into(),
        format!("{}\r", whole.trim_end()).into(),
    ] {
        let shown = String::from_utf8_lossy(&hostile[..hostile.len().min(60)]).into_owned();
        let read = Record::from_line(&hostile);
        assert!(matches!(read, Err(Unreadable::Damaged(_))), "{shown}: {read:?}");
    }
}

#[test]
fn what_would_not_read_back_is_not_written() {
    for seconds in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let refused = by_time(seconds).to_line();
        assert!(matches!(refused, Err(FileError::NotStorable(_))), "{seconds}");
    }
    let newer = UsageReceipt { version: UsageReceipt::VERSION + 1, ..settled(1) };
    let endless = UsageReceipt { losses: vec!["x".repeat(17 << 20)], ..settled(1) };
    for receipt in [newer, endless] {
        let refused = record(Change::Settled { receipt }).to_line();
        assert!(matches!(refused, Err(FileError::NotStorable(_))));
    }
}

#[test]
fn the_record_after_a_lost_line_feed_is_found() {
    let (first, second) = (line(settle(1)), line(settle(2)));
    let joined = format!("{}#{}", first.trim_end(), second.trim_end());
    assert!(Record::from_line(joined.as_bytes()).is_err());
    assert_eq!(Record::last_in(joined.as_bytes()), Some(record(settle(2))));
    assert_eq!(Record::last_in(first.trim_end().as_bytes()), None);
    assert_eq!(Record::last_in(format!("{joined}~").as_bytes()), None);
}

proptest! {
    #[test]
    fn seconds_read_back_to_the_last_bit(bits in any::<u64>()) {
        let seconds = f64::from_bits(bits);
        prop_assume!(seconds.is_finite());
        let stored = by_time(seconds).to_line().unwrap();
        let read = Record::from_line(stored.trim_end().as_bytes()).unwrap();
        let Change::Settled { receipt } = read.change else { panic!("a settling stays one") };
        let Metering::DurationSeconds(back) = receipt.metering else { panic!("seconds stay seconds") };
        prop_assert_eq!(back.to_bits(), bits);
    }

    #[test]
    fn any_text_and_number_reads_back(
        texts in prop::array::uniform5(any::<String>()),
        numbers in prop::array::uniform3(any::<u64>()),
    ) {
        let [user_id, requested_model, provider_model, thread, loss] = texts;
        let receipt = UsageReceipt {
            user_id,
            requested_model,
            provider_model,
            thread_id: Some(thread),
            losses: vec![loss],
            started_at_ms: numbers[0],
            cost_nano_usd: Some(numbers[1]),
            requests: vec![meter(numbers[2] / 3)],
            ..settled(1)
        };
        let written = record(Change::Settled { receipt });
        let line = written.to_line().unwrap();
        prop_assert_eq!(line.matches('\n').count(), 1);
        prop_assert_eq!(Record::from_line(line.trim_end().as_bytes()), Ok(written));
    }

    #[test]
    fn any_flipped_bit_of_a_line_is_noticed(position in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut bytes = line(settle(1)).trim_end().as_bytes().to_vec();
        let at = position.index(bytes.len());
        bytes[at] ^= 1u8 << bit;
        prop_assert!(matches!(Record::from_line(&bytes), Err(Unreadable::Damaged(_))));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Record::from_line(&bytes).is_err());
        let behind_a_head = [br#"{"check":"0123456789abcdef","record":"#, bytes.as_slice()].concat();
        prop_assert!(Record::from_line(&behind_a_head).is_err());
        prop_assert!(Record::last_in(&behind_a_head).is_none());
    }
}

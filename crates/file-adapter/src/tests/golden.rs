//! Decides that the stored form of each version stays readable, and that this release writes the
//! one it says.

use runtime_ports::{Metering, RequestMeter, TurnEnd, UsageReceipt};

use super::sample::{id, line, meter, note, open, record, settle, settled};
use crate::record::{Change, Record};

const VERSION_1: &str = include_str!("../../golden/receipts-v1.jsonl");

fn records() -> Vec<Record> {
    let by_time = RequestMeter {
        provider_request_id: None,
        metering: Metering::DurationSeconds(0.1 + 0.2),
        end: TurnEnd::TimedOut,
        cost_nano_usd: None,
    };
    let lost = UsageReceipt {
        parent_operation_id: None,
        thread_id: Some("thread".into()),
        end: TurnEnd::Cancelled,
        requests: vec![meter(0), by_time.clone()],
        is_lower_bound: true,
        losses: vec!["the second request was cut".into()],
        ..settled(2)
    };
    let by_time = Change::Noted { turn: id(2), ordinal: u32::MAX, meter: by_time };
    let changes = [open(1), note(1, 0), settle(1), open(2), by_time];
    changes.into_iter().chain([Change::Settled { receipt: lost }]).map(record).collect()
}

#[test]
fn the_stored_form_is_that_of_the_golden_file() {
    let written: String = records().into_iter().map(|record| line(record.change)).collect();
    assert_eq!(written, VERSION_1, "a changed form needs a new version and a new golden file");
}

#[test]
fn the_golden_file_reads_back_equal() {
    let read: Vec<_> = VERSION_1.lines().map(|line| Record::from_line(line.as_bytes())).collect();
    assert_eq!(read, records().into_iter().map(Ok).collect::<Vec<_>>());
}

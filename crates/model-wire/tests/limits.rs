//! The same bytes come to the same in whatever pieces, also where a limit is met.

use model_wire::{Answer, Decoder, Ending, Meter, Progress, Reader};
use runtime_ports::{DeltaSink, DiscardDeltas, ModelFinish, PortFailure};
use serde_json::Value;

const LIMIT: usize = 64;

/// Takes any frame, and is finished by any.
#[derive(Default)]
struct Anything(Meter);

impl Decoder for Anything {
    fn take(&mut self, _: &str, _: &Value, _: &dyn DeltaSink) -> Result<Progress, PortFailure> {
        Ok(Progress::Settled)
    }

    fn finish(&mut self, _: Ending, _: &dyn DeltaSink) -> Result<Answer, PortFailure> {
        Ok(Answer { output: Vec::new(), finish: ModelFinish::Stop })
    }

    fn meter(&self) -> &Meter {
        &self.0
    }

    fn response_id(&self) -> Option<&str> {
        None
    }
}

fn read(bytes: &[u8], size: usize) -> Result<Answer, PortFailure> {
    let mut reader = Reader::new(Box::new(Anything::default()), LIMIT);
    for piece in bytes.chunks(size) {
        reader.feed(piece, &DiscardDeltas)?;
    }
    reader.finish(&DiscardDeltas)
}

#[track_caller]
fn check(bytes: &[u8], expected: Result<(), &str>) {
    for size in [1, 7, LIMIT, usize::MAX] {
        let outcome = read(bytes, size).map(drop);
        let code = outcome.map_err(|failure| failure.code.to_string());
        assert_eq!(code.as_ref().err().map(String::as_str), expected.err(), "in pieces of {size}");
    }
}

#[test]
fn many_small_events_in_one_piece_are_no_large_one() {
    check("data: {}\n\n".repeat(20).as_bytes(), Ok(()));
    check("data: {}\r\n\r\n".repeat(20).as_bytes(), Ok(()));
}

#[test]
fn a_large_event_is_refused_in_whatever_pieces() {
    check(format!("data: \"{}\"\n\n", "a".repeat(LIMIT)).as_bytes(), Err("EVENT_TOO_LARGE"));
    check(format!("{{\"a\": \"{}\"}}", "a".repeat(LIMIT)).as_bytes(), Err("EVENT_TOO_LARGE"));
    check(" ".repeat(LIMIT + 1).as_bytes(), Err("EVENT_TOO_LARGE"));
}

#[test]
fn an_answer_without_end_is_refused_in_whatever_pieces() {
    check("data: {}\n\n".repeat(200).as_bytes(), Err("EVENT_TOO_LARGE"));
    let cut_before = ["data: {}\n\n".repeat(2), "data: no json\n\n".repeat(200)].concat();
    check(cut_before.as_bytes(), Err("MALFORMED_EVENT"));
}

#[test]
fn a_line_of_32_mib_ends_where_the_limit_is() {
    const MIB: usize = 1024 * 1024;
    let piece = vec![b'x'; 64 * 1024];
    let mut reader = Reader::new(Box::new(Anything::default()), 16 * MIB);
    reader.feed(b"data: ", &DiscardDeltas).expect("the beginning of a line");
    let mut taken = 0;
    let failure = loop {
        assert!(taken < 32 * MIB, "the whole line was taken");
        match reader.feed(&piece, &DiscardDeltas) {
            Ok(_) => taken += piece.len(),
            Err(failure) => break failure,
        }
    };
    assert_eq!(failure.code, "EVENT_TOO_LARGE");
    assert!(taken <= 16 * MIB, "{taken} bytes were held");
}

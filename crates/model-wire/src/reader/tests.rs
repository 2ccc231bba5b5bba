//! Which frames a document has.

use runtime_ports::{DeltaSink, DiscardDeltas, ModelContent, ModelFinish, PortFailure};
use serde_json::Value;

use super::Reader;
use crate::{Answer, Decoder, Ending, Meter, Progress};

/// Writes down what it is given.
#[derive(Default)]
struct Written {
    takes_lists: bool,
    frames: Vec<String>,
    meter: Meter,
}

impl Decoder for Written {
    fn take(
        &mut self,
        _name: &str,
        frame: &Value,
        _sink: &dyn DeltaSink,
    ) -> Result<Progress, PortFailure> {
        self.frames.push(frame.to_string());
        Ok(match frame.as_str() {
            Some("idle") => Progress::Idle,
            Some("settled") => Progress::Settled,
            _ => Progress::Open,
        })
    }

    fn takes_lists(&self) -> bool {
        self.takes_lists
    }

    fn finish(&mut self, ending: Ending, _sink: &dyn DeltaSink) -> Result<Answer, PortFailure> {
        assert_eq!(ending, Ending::Document);
        let output = vec![ModelContent::text(self.frames.join(" "))];
        Ok(Answer { output, finish: ModelFinish::Stop })
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }

    fn response_id(&self) -> Option<&str> {
        None
    }
}

fn check(document: &str, first: &str, all: &str) {
    for (takes_lists, expected) in [(false, first), (true, all)] {
        let decoder = Written { takes_lists, ..Written::default() };
        let mut reader = Reader::new(Box::new(decoder), 1_000);
        for piece in document.as_bytes().chunks(7) {
            reader.feed(piece, &DiscardDeltas).expect("no failure");
        }
        let answer = reader.finish(&DiscardDeltas).expect("an answer");
        assert_eq!(answer.output, [ModelContent::text(expected)], "{document} {takes_lists}");
    }
}

#[test]
fn an_answer_that_seemed_finished_may_go_on() {
    let mut reader = Reader::new(Box::new(Written::default()), 1_000);
    let mut fed = |frame: &str| {
        let event = format!("data: {frame}\n\n");
        let fed = reader.feed(event.as_bytes(), &DiscardDeltas).expect("no failure");
        (fed.progress, fed.progressed)
    };
    assert_eq!(fed("\"idle\""), (Progress::Idle, false));
    assert_eq!(fed("1"), (Progress::Open, true));
    assert_eq!(fed("\"settled\""), (Progress::Settled, true));
    assert_eq!(fed("\"idle\""), (Progress::Settled, false));
    assert_eq!(fed("2"), (Progress::Open, true));
}

#[test]
fn a_list_has_one_frame_or_many_as_the_decoder_says() {
    check(r#"{"a":1}"#, r#"{"a":1}"#, r#"{"a":1}"#);
    check(r#" [{"a":1},{"b":2}] "#, r#"{"a":1}"#, r#"{"a":1} {"b":2}"#);
    check("[]", "", "");
}

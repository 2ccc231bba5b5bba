//! How an answer ends, where the API has ends of its own.

use runtime_ports::Metering;
use wire_rehearsal::loopback::{Act, Loopback, begun, events, stream};

use crate::{HI, REASON, START, ask, outcome, session};

#[tokio::test]
async fn a_reason_to_stop_is_no_end() {
    let reason = [START, HI, REASON];
    let idle = "Timeout STREAM_IDLE unknown [TimedOut]";
    assert_eq!(outcome(begun(&reason, &[Act::Hang])).await, idle, "silence after it");
    let truncated = "Protocol STREAM_TRUNCATED unknown [Failed]";
    assert_eq!(outcome(stream(&events(&reason))).await, truncated, "the end after it");
}

#[tokio::test]
async fn what_was_counted_before_a_cut_is_kept() {
    let server = Loopback::start(vec![stream(&events(&[START, HI]))]).await;
    let failure = ask(&session(&server)).await.expect_err("a cut");
    let Metering::Tokens(usage) = failure.attempts[0].metering else { panic!("{failure:?}") };
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(3), None), "none of the answer");
    assert_eq!(failure.attempts[0].provider_request_id.as_deref(), Some("msg_7"));
}

//! How an answer ends, and what is true when it does not.

use anthropic_adapter::{AnthropicSession, Timeouts};
use runtime_ports::Metering;
use wire_rehearsal::{
    ends::Ends,
    loopback::{Act, Loopback, begun, events, stream},
};

use crate::{HI, PING, REASON, START, WORDS, ask, builder, outcome, session};

fn ends() -> Ends<impl Fn(&Loopback) -> AnthropicSession> {
    Ends { words: WORDS, session }
}

#[tokio::test]
async fn a_stream_arrives_in_packets_of_any_size() {
    ends().packets_may_have_any_size().await;
}

#[tokio::test]
async fn silence_ends_the_wait_in_every_phase() {
    ends().silence_ends_the_wait().await;
    let idle = "Timeout STREAM_IDLE unknown [TimedOut]";
    assert_eq!(outcome(begun(&[START, HI, REASON], &[Act::Hang])).await, idle, "before its end");
}

#[tokio::test]
async fn signs_of_life_are_no_progress() {
    ends().signs_of_life_are_no_progress(&[PING]).await;
}

#[tokio::test]
async fn a_slow_answer_that_goes_on_is_waited_for() {
    ends().a_slow_answer_is_waited_for().await;
}

#[tokio::test]
async fn a_finished_answer_needs_no_orderly_end() {
    ends().no_orderly_end_is_needed().await;
}

#[tokio::test]
async fn cuts_are_unknown_once_the_request_was_sent() {
    ends().cuts_are_unknown().await;
    let truncated = "Protocol STREAM_TRUNCATED unknown [Failed]";
    assert_eq!(outcome(stream(&events(&[START, HI, REASON]))).await, truncated, "with a reason");
}

#[tokio::test]
async fn what_was_counted_before_a_cut_is_kept() {
    let server = Loopback::start(vec![stream(&events(&[START, HI]))]).await;
    let failure = ask(&session(&server)).await.expect_err("a cut");
    let Metering::Tokens(usage) = failure.attempts[0].metering else { panic!("{failure:?}") };
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(3), Some(1)));
    assert_eq!(failure.attempts[0].provider_request_id.as_deref(), Some("msg_7"));
}

#[tokio::test]
async fn a_cancelled_and_a_late_call_end_soon() {
    let patient = |server: &Loopback| {
        builder(server).timeouts(Timeouts::default()).build().expect("a session")
    };
    Ends { words: WORDS, session: patient }.a_cancelled_and_a_late_call_end_soon().await;
}

#[tokio::test]
async fn an_event_beyond_the_limit_is_refused() {
    let narrow =
        |server: &Loopback| builder(server).event_limit_bytes(4_096).build().expect("a session");
    Ends { words: WORDS, session: narrow }.an_event_beyond_4096_bytes_is_refused().await;
}

#[tokio::test]
async fn an_error_body_that_stalls_does_not_hide_the_status() {
    ends().a_stalled_body_hides_no_status("{\"err").await;
}

//! How an answer ends, and what is true when it does not.

use std::time::Duration;

use gemini_adapter::{GeminiSession, Timeouts};
use wire_rehearsal::{
    ends::Ends,
    loopback::{Act, Loopback, begun, chunk, events, stream},
};

use crate::{HI, STOP, WORDS, ask, builder, outcome, session};

fn ends() -> Ends<impl Fn(&Loopback) -> GeminiSession> {
    Ends { words: WORDS, session }
}

#[tokio::test]
async fn a_stream_arrives_in_packets_of_any_size() {
    ends().packets_may_have_any_size().await;
}

#[tokio::test]
async fn silence_ends_the_wait_in_every_phase() {
    ends().silence_ends_the_wait().await;
}

#[tokio::test]
async fn signs_of_life_are_no_progress() {
    ends().signs_of_life_are_no_progress(&[]).await;
    let named = chunk(&events(&[r#"{"responseId":"x"}"#]));
    let named = Act::Repeat(named, Duration::from_millis(20));
    let idle = "Timeout STREAM_IDLE unknown [TimedOut]";
    assert_eq!(outcome(begun(&[], &[named])).await, idle, "frames that say nothing");
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
async fn an_answer_that_says_with_every_piece_that_it_is_complete_ends_with_the_stream() {
    let hi = HI.replace("]}}]}", r#"]},"finishReason":"STOP"}]}"#);
    assert_eq!(outcome(stream(&events(&[STOP, &hi, &hi, STOP]))).await, "Stop hihi");
    let lost = "Protocol CONNECTION_LOST unknown [Failed]";
    assert_eq!(outcome(begun(&[STOP], &[Act::Close])).await, lost, "before the first piece");
    assert_eq!(outcome(begun(&[&hi, &hi], &[Act::Close])).await, lost, "amid the pieces");
    let idle = "Timeout STREAM_IDLE unknown [TimedOut]";
    assert_eq!(outcome(begun(&[&hi, &hi], &[Act::Hang])).await, idle, "and silence");
}

#[tokio::test]
async fn usage_after_the_finish_is_waited_for() {
    ends().late_counts_are_waited_for().await;
}

#[tokio::test]
async fn cuts_are_unknown_once_the_request_was_sent() {
    ends().cuts_are_unknown().await;
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
    ends().a_stalled_body_hides_no_status("[{\"err").await;
}

#[tokio::test]
async fn a_blocked_prompt_is_metered() {
    let blocked = r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":7,"totalTokenCount":7}}"#;
    let server = Loopback::start(vec![stream(&events(&[blocked]))]).await;
    let failure = ask(&session(&server)).await.expect_err("blocked");
    assert_eq!((failure.code.as_str(), failure.retryable), ("CONTENT_REJECTED", false));
    let metering = format!("{:?}", failure.attempts[0].metering);
    assert!(metering.contains("input_tokens: Some(7)"), "{metering}");
}

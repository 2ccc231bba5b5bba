//! How an answer ends, where the API has ends of its own.

use wire_rehearsal::loopback::{Act, Loopback, begun, events, stream};

use crate::{HI, STOP, ask, outcome, session};

#[tokio::test]
async fn an_answer_that_says_with_every_piece_that_it_is_complete_ends_with_the_stream() {
    let hi = HI.replace("]}}]}", r#"]},"finishReason":"STOP"}]}"#);
    assert_eq!(outcome(stream(&events(&[STOP, &hi, &hi, STOP]))).await, "Stop hihi");
    let lost = "Protocol CONNECTION_LOST unknown [Failed]";
    assert_eq!(outcome(begun(&[STOP], &[Act::Close])).await, lost, "before the first piece");
    assert_eq!(outcome(begun(&[&hi], &[Act::Close])).await, lost, "after the first piece");
    assert_eq!(outcome(begun(&[&hi, &hi], &[Act::Close])).await, lost, "amid the pieces");
    assert_eq!(outcome(begun(&[&hi, STOP], &[Act::Close])).await, lost, "before the last one");
    assert_eq!(outcome(stream(&events(&[&hi]))).await, "Stop hi", "one piece, and the end");
    let idle = "Timeout STREAM_IDLE unknown [TimedOut]";
    assert_eq!(outcome(begun(&[&hi, &hi], &[Act::Hang])).await, idle, "and silence");
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

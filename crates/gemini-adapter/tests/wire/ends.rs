//! How an answer ends, and what is true when it does not.

use std::time::{Duration, Instant};

use runtime_ports::ModelSession;
use wire_rehearsal::loopback::{
    Act, LAST_CHUNK, Loopback, begun, chunk, events, stream, stream_head,
};

use crate::{HI, STOP, USAGE, ask, builder, line, operation, outcome, request, session, whole};

#[tokio::test]
async fn a_stream_arrives_in_packets_of_any_size() {
    for size in [1, 7, 100_000] {
        let bytes = [stream_head(&[]), chunk(&whole()), LAST_CHUNK.to_vec()].concat();
        assert_eq!(outcome(vec![Act::Trickle(bytes, size)]).await, "Stop hi", "{size}");
    }
}

#[tokio::test]
async fn silence_ends_the_wait_in_every_phase() {
    let silent = "Timeout HEAD_TIMEOUT unknown [TimedOut]";
    assert_eq!(outcome(vec![Act::Hang]).await, silent, "no head");
    let idle = "Timeout STREAM_IDLE unknown [TimedOut]";
    assert_eq!(outcome(begun(&[], &[Act::Hang])).await, idle, "no event");
    assert_eq!(outcome(begun(&[HI], &[Act::Hang])).await, idle, "amid the answer");
}

#[tokio::test]
async fn signs_of_life_are_no_progress() {
    let idle = "Timeout STREAM_IDLE unknown [TimedOut]";
    let every = Duration::from_millis(20);
    let ping = Act::Repeat(chunk(b": ping\n\n"), every);
    assert_eq!(outcome(begun(&[HI], &[ping])).await, idle, "comments");
    let byte = Act::Repeat(chunk(b"x"), every);
    assert_eq!(outcome(begun(&[HI], &[byte])).await, idle, "bytes of an event without end");
    let named = Act::Repeat(chunk(&events(&[r#"{"responseId":"x"}"#])), every);
    assert_eq!(outcome(begun(&[], &[named])).await, idle, "frames that say nothing");
}

#[tokio::test]
async fn a_slow_answer_that_goes_on_is_waited_for() {
    let mut acts = begun(&[HI], &[]);
    for _ in 0..4 {
        acts.push(Act::Pause(Duration::from_millis(150)));
        acts.push(Act::Send(chunk(&events(&[HI]))));
    }
    acts.push(Act::Send(chunk(&events(&[STOP]))));
    acts.push(Act::Send(LAST_CHUNK.to_vec()));
    assert_eq!(outcome(acts).await, "Stop hihihihihi");
}

#[tokio::test]
async fn a_finished_answer_needs_no_orderly_end() {
    let cases = [
        ("held open", begun(&[HI, STOP], &[Act::Hang])),
        ("closed", begun(&[HI, STOP], &[Act::Close])),
        ("reset", begun(&[HI, STOP], &[Act::Pause(Duration::from_millis(50)), Act::Reset])),
    ];
    for (name, acts) in cases {
        let begun = Instant::now();
        assert_eq!(outcome(acts).await, "Stop hi", "{name}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{name}");
    }
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
    let late = [Act::Pause(Duration::from_millis(100)), Act::Send(chunk(&events(&[USAGE])))];
    let server = Loopback::start(vec![begun(&[HI, STOP], &late)]).await;
    let response = ask(&session(&server)).await.expect("an answer");
    assert_eq!(response.usage.input_tokens, Some(3));
}

#[tokio::test]
async fn cuts_are_unknown_once_the_request_was_sent() {
    let lost = "Protocol CONNECTION_LOST unknown [Failed]";
    assert_eq!(outcome(vec![Act::Close]).await, lost, "closed before the head");
    assert_eq!(outcome(vec![Act::Reset]).await, lost, "reset before the head");
    assert_eq!(outcome(begun(&[HI], &[Act::Close])).await, lost, "amid the stream");
    let pause = Act::Pause(Duration::from_millis(50));
    assert_eq!(outcome(begun(&[HI], &[pause, Act::Reset])).await, lost, "reset amid the stream");
    let truncated = "Protocol STREAM_TRUNCATED unknown [Failed]";
    assert_eq!(outcome(stream(&events(&[HI]))).await, truncated, "an end without a finish");
    assert_eq!(outcome(stream(b"")).await, truncated, "nothing at all");
}

#[tokio::test]
async fn an_event_beyond_the_limit_is_refused() {
    let long = chunk(format!("data: {}", "x".repeat(5_000)).as_bytes());
    let server = Loopback::start(vec![begun(&[HI], &[Act::Send(long), Act::Hang])]).await;
    let session = builder(&server).event_limit_bytes(4_096).build().expect("a session");
    assert_eq!(line(&ask(&session).await), "Protocol EVENT_TOO_LARGE unknown [Failed]");
}

#[tokio::test]
async fn an_error_body_that_stalls_does_not_hide_the_status() {
    let head = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 99\r\n\r\n[{\"err".to_vec();
    let server = Loopback::start(vec![vec![Act::Send(head), Act::Hang]]).await;
    let session = session(&server);
    let answered = session.invoke(&operation(Duration::from_millis(400)), request()).await;
    assert_eq!(line(&answered), "Invalid INVALID_REQUEST not committed [Failed]");
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

//! How an answer ends, and what is true when it does not.

use std::time::{Duration, Instant};

use openai_adapter::{Api, Timeouts};
use runtime_ports::ModelSession;
use wire_rehearsal::loopback::{
    Act, LAST_CHUNK, Loopback, begun, chunk, events, stream, stream_head,
};

use crate::{
    DONE, HI, STOP, USAGE, ask, builder, line, operation, outcome, outcome_of, request, session,
    whole,
};

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
async fn b11_signs_of_life_are_no_progress() {
    let idle = "Timeout STREAM_IDLE unknown [TimedOut]";
    let every = Duration::from_millis(20);
    let ping = Act::Repeat(chunk(b": ping\n\n"), every);
    assert_eq!(outcome(begun(&[HI], &[ping])).await, idle, "comments");
    let byte = Act::Repeat(chunk(b"x"), every);
    assert_eq!(outcome(begun(&[HI], &[byte])).await, idle, "bytes of an event without end");
    let nothing = Act::Repeat(chunk(&events(&[r#"{"id":"x","choices":[]}"#])), every);
    assert_eq!(outcome(begun(&[HI], &[nothing])).await, idle, "frames without a choice");
    let keepalive = Act::Repeat(chunk(&events(&[r#"{"type":"keepalive"}"#])), every);
    assert_eq!(outcome_of(Api::Responses, begun(&[], &[keepalive])).await, idle, "keepalives");
}

#[tokio::test]
async fn a_slow_answer_that_goes_on_is_waited_for() {
    let mut acts = begun(&[HI], &[]);
    for _ in 0..4 {
        acts.push(Act::Pause(Duration::from_millis(150)));
        acts.push(Act::Send(chunk(&events(&[HI]))));
    }
    acts.push(Act::Send(chunk(&events(&[STOP, DONE]))));
    assert_eq!(outcome(acts).await, "Stop hihihihihi");
}

#[tokio::test]
async fn a_finished_answer_needs_no_orderly_end() {
    let held_open = [Act::Hang];
    let cases = [
        ("held open after done", begun(&[HI, STOP, DONE], &held_open)),
        ("held open after the finish", begun(&[HI, STOP], &held_open)),
        ("closed after the finish", begun(&[HI, STOP], &[Act::Close])),
        (
            "reset after the finish",
            begun(&[HI, STOP], &[Act::Pause(Duration::from_millis(50)), Act::Reset]),
        ),
    ];
    for (name, acts) in cases {
        let begun = Instant::now();
        assert_eq!(outcome(acts).await, "Stop hi", "{name}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{name}");
    }
    let server = Loopback::start(vec![begun(&[HI, STOP], &held_open)]).await;
    let patient = Timeouts { tail: Duration::from_secs(5), ..Timeouts::default() };
    let session = builder(&server).timeouts(patient).build().expect("a session");
    let soon = operation(Duration::from_secs(1));
    let answer = session.invoke(&soon, request()).await;
    assert_eq!(line(&answer), "Stop hi", "a deadline before the end of the tail");
    let completed = r#"{"type":"response.completed","response":{"output":[]}}"#;
    let acts = begun(&[completed], &held_open);
    assert_eq!(outcome_of(Api::Responses, acts).await, "Stop ", "a terminal event");
}

#[tokio::test]
async fn usage_after_the_finish_is_waited_for() {
    let late = [Act::Pause(Duration::from_millis(100)), Act::Send(chunk(&events(&[USAGE, DONE])))];
    let server = Loopback::start(vec![begun(&[HI, STOP], &late)]).await;
    let response = ask(&session(&server)).await.expect("an answer");
    assert_eq!(response.usage.input_tokens, Some(3));
}

#[tokio::test]
async fn cuts_are_unknown_once_the_request_was_sent() {
    let lost = "Protocol CONNECTION_LOST unknown [Failed]";
    assert_eq!(outcome(vec![Act::Close]).await, lost, "closed before the head");
    assert_eq!(outcome(vec![Act::Reset]).await, lost, "reset before the head");
    let cut = begun(&[HI], &[Act::Close]);
    assert_eq!(outcome(cut).await, lost, "amid the stream");
    let pause = Act::Pause(Duration::from_millis(50));
    assert_eq!(outcome(begun(&[HI], &[pause, Act::Reset])).await, lost, "reset amid the stream");
    let garbage = vec![Act::Send(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec()), Act::Close];
    assert_eq!(outcome(garbage).await, lost, "no http");
    let truncated = "Protocol STREAM_TRUNCATED unknown [Failed]";
    assert_eq!(outcome(stream(&events(&[HI]))).await, truncated, "an end without a finish");
    assert_eq!(outcome(stream(b"")).await, truncated, "nothing at all");
}

#[tokio::test]
async fn an_event_beyond_the_limit_is_refused() {
    let long = chunk(format!("data: {}", "x".repeat(5_000)).as_bytes());
    let server = Loopback::start(vec![begun(&[HI], &[Act::Send(long), Act::Hang])]).await;
    let session = builder(&server).event_limit_bytes(4_096).build().expect("a session");
    let expected = "Protocol EVENT_TOO_LARGE unknown [Failed]";
    assert_eq!(line(&ask(&session).await), expected);
}

#[tokio::test]
async fn an_error_body_that_stalls_does_not_hide_the_status() {
    let head = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 99\r\n\r\n{\"err".to_vec();
    let server = Loopback::start(vec![vec![Act::Send(head), Act::Hang]]).await;
    let session = session(&server);
    let answered = session.invoke(&operation(Duration::from_millis(400)), request()).await;
    assert_eq!(line(&answered), "Invalid INVALID_REQUEST not committed [Failed]");
}

//! How an answer ends, where the APIs have ends of their own.

use std::time::Duration;

use openai_adapter::{Api, Timeouts};
use runtime_ports::ModelSession;
use wire_rehearsal::loopback::{Act, Loopback, begun, chunk};

use crate::{DONE, HI, STOP, builder, line, operation, outcome, outcome_of, request};

/// What the list tries as well, and what servers and proxies of these APIs are known to send.
#[tokio::test]
async fn b11_signs_of_life_are_no_progress() {
    let idle = "Timeout STREAM_IDLE unknown [TimedOut]";
    let signs = [
        "event: ping\n\n",
        "data:\n\n",
        "\n\n",
        "data: {}\n\n",
        "data: null\n\n",
        "data: {\"type\":\"heartbeat\"}\n\n",
    ];
    for sign in signs {
        let again = [Act::Repeat(chunk(sign.as_bytes()), Duration::from_millis(20))];
        assert_eq!(outcome(begun(&[HI], &again)).await, idle, "{sign:?}");
        assert_eq!(outcome_of(Api::Responses, begun(&[], &again)).await, idle, "{sign:?}");
    }
}

#[tokio::test]
async fn an_end_that_is_told_is_one_though_the_connection_is_held_open() {
    let held_open = [Act::Hang];
    let done = begun(&[HI, STOP, DONE], &held_open);
    assert_eq!(outcome(done).await, "Stop hi", "after done");
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

//! How an answer ends, and what is true when it does not.

use std::time::Duration;

use openai_adapter::{Api, OpenAiSession, Timeouts};
use runtime_ports::ModelSession;
use wire_rehearsal::{
    ends::Ends,
    loopback::{Act, Loopback, begun, chunk, events},
};

use crate::{
    DONE, HI, STOP, WORDS, builder, line, operation, outcome, outcome_of, request, session,
};

fn ends() -> Ends<impl Fn(&Loopback) -> OpenAiSession> {
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
async fn b11_signs_of_life_are_no_progress() {
    let no_choice = r#"{"id":"x","choices":[]}"#;
    ends().signs_of_life_are_no_progress(&[no_choice]).await;
    let idle = "Timeout STREAM_IDLE unknown [TimedOut]";
    let every = Duration::from_millis(20);
    let keepalive = Act::Repeat(chunk(&events(&[r#"{"type":"keepalive"}"#])), every);
    assert_eq!(outcome_of(Api::Responses, begun(&[], &[keepalive])).await, idle, "keepalives");
}

#[tokio::test]
async fn a_slow_answer_that_goes_on_is_waited_for() {
    ends().a_slow_answer_is_waited_for().await;
}

#[tokio::test]
async fn a_finished_answer_needs_no_orderly_end() {
    ends().no_orderly_end_is_needed().await;
    let held_open = [Act::Hang];
    let done = begun(&[HI, STOP, DONE], &held_open);
    assert_eq!(outcome(done).await, "Stop hi", "held open after done");
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
    ends().a_stalled_body_hides_no_status("{\"err").await;
}

//! How an answer ends, and what is true when it does not.

use std::time::{Duration, Instant};

use runtime_ports::{Metering, ModelSession};
use wire_rehearsal::loopback::{
    Act, LAST_CHUNK, Loopback, begun, chunk, events, stream, stream_head,
};

use crate::{
    HI, PING, REASON, START, STOP, ask, builder, line, operation, outcome, request, session, whole,
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
    assert_eq!(outcome(begun(&[START, HI], &[Act::Hang])).await, idle, "amid the answer");
    assert_eq!(outcome(begun(&[START, HI, REASON], &[Act::Hang])).await, idle, "before its end");
}

#[tokio::test]
async fn signs_of_life_are_no_progress() {
    let idle = "Timeout STREAM_IDLE unknown [TimedOut]";
    let every = Duration::from_millis(20);
    let signs = [chunk(b": ping\n\n"), chunk(b"x"), chunk(&events(&[PING]))];
    for sign in signs {
        let name = String::from_utf8_lossy(&sign).into_owned();
        assert_eq!(outcome(begun(&[HI], &[Act::Repeat(sign, every)])).await, idle, "{name}");
    }
}

#[tokio::test]
async fn a_slow_answer_that_goes_on_is_waited_for() {
    let mut acts = begun(&[START, HI], &[]);
    for _ in 0..4 {
        acts.push(Act::Pause(Duration::from_millis(150)));
        acts.push(Act::Send(chunk(&events(&[HI]))));
    }
    acts.push(Act::Send(chunk(&events(&[REASON, STOP]))));
    assert_eq!(outcome(acts).await, "Stop hihihihihi");
}

#[tokio::test]
async fn a_finished_answer_needs_no_orderly_end() {
    let end = [START, HI, REASON, STOP];
    let late_reset = [Act::Pause(Duration::from_millis(50)), Act::Reset];
    let cases = [
        ("held open", begun(&end, &[Act::Hang])),
        ("closed", begun(&end, &[Act::Close])),
        ("reset", begun(&end, &late_reset)),
    ];
    for (name, acts) in cases {
        let begun = Instant::now();
        assert_eq!(outcome(acts).await, "Stop hi", "{name}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{name}");
    }
}

#[tokio::test]
async fn cuts_are_unknown_once_the_request_was_sent() {
    let lost = "Protocol CONNECTION_LOST unknown [Failed]";
    assert_eq!(outcome(vec![Act::Close]).await, lost, "closed before the head");
    assert_eq!(outcome(vec![Act::Reset]).await, lost, "reset before the head");
    assert_eq!(outcome(begun(&[START, HI], &[Act::Close])).await, lost, "amid the stream");
    let pause = Act::Pause(Duration::from_millis(50));
    assert_eq!(outcome(begun(&[HI], &[pause, Act::Reset])).await, lost, "reset amid the stream");
    let truncated = "Protocol STREAM_TRUNCATED unknown [Failed]";
    assert_eq!(outcome(stream(&events(&[START, HI]))).await, truncated, "an end without a reason");
    assert_eq!(outcome(stream(&events(&[START, HI, REASON]))).await, truncated, "with a reason");
    assert_eq!(outcome(stream(b"")).await, truncated, "nothing at all");
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
    for (name, acts) in [("before", vec![Act::Hang]), ("amid", begun(&[START, HI], &[Act::Hang]))] {
        let server = Loopback::start(vec![acts.clone(), acts]).await;
        let patient = builder(&server).timeouts(Default::default()).build().expect("a session");
        let cancelled = operation(Duration::from_secs(20));
        let cancelling = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            cancelled.cancellation.cancel();
        };
        let (answered, ()) = tokio::join!(patient.invoke(&cancelled, request()), cancelling);
        assert_eq!(line(&answered), "Canceled CANCELED unknown [Cancelled]", "{name}");
        let late = patient.invoke(&operation(Duration::from_millis(200)), request()).await;
        assert_eq!(line(&late), "Timeout DEADLINE_EXCEEDED unknown [TimedOut]", "{name}");
    }
}

#[tokio::test]
async fn an_event_beyond_the_limit_is_refused() {
    let long = chunk(format!("data: {}", "x".repeat(5_000)).as_bytes());
    let server = Loopback::start(vec![begun(&[HI], &[Act::Send(long), Act::Hang])]).await;
    let session = builder(&server).event_limit_bytes(4_096).build().expect("a session");
    let expected = "Protocol EVENT_TOO_LARGE unknown [Failed]";
    assert_eq!(line(&ask(&session).await), expected);
}

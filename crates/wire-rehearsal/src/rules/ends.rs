//! Decides what every model adapter holds about the end of an answer: which ends are orderly, which
//! silence is one, and what is true of a request whose answer was cut.
//!
//! Knows no API: the events of an answer are the subject's words.

use std::time::{Duration, Instant};

use runtime_ports::ModelSession;

use crate::{
    asking::{SHORT_TIMEOUTS, ask, line, operation, request},
    loopback::{Act, LAST_CHUNK, Loopback, begun, chunk, events, stream, stream_head},
    subject::{Setting, Subject, hasty, keyed, session},
};

const LOST: &str = "Protocol CONNECTION_LOST unknown [Failed]";
const TRUNCATED: &str = "Protocol STREAM_TRUNCATED unknown [Failed]";
const IDLE: &str = "Timeout STREAM_IDLE unknown [TimedOut]";

/// Plays `acts` for one request of a session with little patience, and expects this outcome.
async fn expect<S: Subject>(subject: &S, name: &str, acts: Vec<Act>, expected: &str) {
    let server = Loopback::start(vec![acts]).await;
    let answered = ask(&hasty(subject, &server)).await;
    assert_eq!(line(&answered), expected, "{name}");
}

/// Expects the answer from packets of one byte, of seven, and from one packet.
///
/// # Panics
/// When the size of the packets matters.
pub async fn a_stream_arrives_in_packets_of_any_size<S: Subject>(subject: &S) {
    for size in [1, 7, 100_000] {
        let whole = chunk(&subject.words().whole());
        let bytes = [stream_head(&[]), whole, LAST_CHUNK.to_vec()].concat();
        expect(subject, &size.to_string(), vec![Act::Trickle(bytes, size)], "Stop hi").await;
    }
}

/// Expects silence to end a call before the head, before the first event, and amid the answer.
///
/// # Panics
/// When it does not, or is called something else.
pub async fn silence_ends_the_wait_in_every_phase<S: Subject>(subject: &S) {
    let silent = "Timeout HEAD_TIMEOUT unknown [TimedOut]";
    expect(subject, "no head", vec![Act::Hang], silent).await;
    expect(subject, "no event", begun(&[], &[Act::Hang]), IDLE).await;
    expect(subject, "amid the answer", begun(&subject.words().amid(), &[Act::Hang]), IDLE).await;
}

/// Expects a server that goes on with comments, with bytes of an event without end, or with an event
/// that says nothing to be as good as silent, before the answer and amid it.
///
/// # Panics
/// When one of them counts as progress.
pub async fn signs_of_life_are_no_progress<S: Subject>(subject: &S) {
    let words = subject.words();
    let idle = words.idle.iter().map(|data| chunk(&events(&[data])));
    let signs = [chunk(b": ping\n\n"), chunk(b"x")].into_iter().chain(idle);
    for sign in signs {
        let name = String::from_utf8_lossy(&sign).into_owned();
        let again = [Act::Repeat(sign, Duration::from_millis(20))];
        expect(subject, &name, begun(&[], &again), IDLE).await;
        expect(subject, &name, begun(&words.amid(), &again), IDLE).await;
    }
}

/// Expects an answer that goes on within the patience to be read to its end, however long it takes
/// in all.
///
/// # Panics
/// When it is not.
pub async fn a_slow_answer_that_goes_on_is_waited_for<S: Subject>(subject: &S) {
    let words = subject.words();
    let mut acts = begun(&words.amid(), &[]);
    for _ in 0..4 {
        acts.push(Act::Pause(Duration::from_millis(150)));
        acts.push(Act::Send(chunk(&events(&[words.hi]))));
    }
    acts.push(Act::Send(chunk(&events(words.finish))));
    acts.push(Act::Send(LAST_CHUNK.to_vec()));
    expect(subject, "slow", acts, "Stop hihihihihi").await;
}

/// Expects an answer that is complete to be one when the connection stays open, is closed, or is
/// reset; and soon.
///
/// # Panics
/// When the connection matters, and when it is waited for.
pub async fn a_finished_answer_needs_no_orderly_end<S: Subject>(subject: &S) {
    let finished = subject.words().finished();
    let late_reset = [Act::Pause(Duration::from_millis(50)), Act::Reset];
    let cases = [
        ("held open", begun(&finished, &[Act::Hang])),
        ("closed", begun(&finished, &[Act::Close])),
        ("reset", begun(&finished, &late_reset)),
    ];
    for (name, acts) in cases {
        let begun = Instant::now();
        expect(subject, name, acts, "Stop hi").await;
        assert!(begun.elapsed() < Duration::from_secs(2), "{name}");
    }
}

/// Expects the counts, also where they come a little after the finish.
///
/// # Panics
/// When they are missing.
pub async fn usage_after_the_finish_is_waited_for<S: Subject>(subject: &S) {
    let words = subject.words();
    let after = Act::Send(chunk(&events(words.after)));
    let late = [Act::Pause(Duration::from_millis(100)), after];
    let server = Loopback::start(vec![begun(&words.finished(), &late)]).await;
    let response = ask(&hasty(subject, &server)).await.expect("an answer");
    assert_eq!(response.usage.input_tokens, Some(3));
}

/// Expects no answer of a request that was sent and whose answer was cut, and that nobody claims to
/// know what became of it.
///
/// # Panics
/// When there is an answer, or another failure.
pub async fn cuts_are_unknown_once_the_request_was_sent<S: Subject>(subject: &S) {
    let amid = subject.words().amid();
    let late_reset = [Act::Pause(Duration::from_millis(50)), Act::Reset];
    let no_http = vec![Act::Send(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec()), Act::Close];
    expect(subject, "closed before the head", vec![Act::Close], LOST).await;
    expect(subject, "reset before the head", vec![Act::Reset], LOST).await;
    expect(subject, "no http", no_http, LOST).await;
    expect(subject, "amid the stream", begun(&amid, &[Act::Close]), LOST).await;
    expect(subject, "reset amid the stream", begun(&amid, &late_reset), LOST).await;
    expect(subject, "an end without a finish", stream(&events(&amid)), TRUNCATED).await;
    expect(subject, "nothing at all", stream(b""), TRUNCATED).await;
}

/// Expects the status to be told when the body of a refusal does not go on, be it an object or a
/// list.
///
/// # Panics
/// When something else is told.
pub async fn an_error_body_that_stalls_does_not_hide_the_status<S: Subject>(subject: &S) {
    for body in ["{\"err", "[{\"err"] {
        let head = format!("HTTP/1.1 400 Bad Request\r\ncontent-length: 99\r\n\r\n{body}");
        let stalled = vec![Act::Send(head.into_bytes()), Act::Hang];
        let server = Loopback::start(vec![stalled]).await;
        let session = hasty(subject, &server);
        let answered = session.invoke(&operation(Duration::from_millis(400)), request()).await;
        assert_eq!(line(&answered), "Invalid INVALID_REQUEST not committed [Failed]", "{body}");
    }
}

/// Expects an event of 5,000 bytes to be refused while it arrives when 4,096 are the limit.
///
/// # Panics
/// When the session reads on.
pub async fn an_event_beyond_the_limit_is_refused<S: Subject>(subject: &S) {
    let long = chunk(format!("data: {}", "x".repeat(5_000)).as_bytes());
    let acts = begun(&subject.words().amid(), &[Act::Send(long), Act::Hang]);
    let server = Loopback::start(vec![acts]).await;
    let settings = [Setting::Timeouts(SHORT_TIMEOUTS), Setting::EventLimitBytes(4_096)];
    let session = session(subject, &server.base_url(), settings).expect("a session");
    assert_eq!(line(&ask(&session).await), "Protocol EVENT_TOO_LARGE unknown [Failed]");
}

/// Expects a call that is cancelled, and one whose deadline passes, to end as such before and amid
/// the answer, however patient the session is.
///
/// # Panics
/// When a call ends in another way.
pub async fn a_cancelled_and_a_late_call_end_soon<S: Subject>(subject: &S) {
    let amid = begun(&subject.words().amid(), &[Act::Hang]);
    for (name, acts) in [("before", vec![Act::Hang]), ("amid", amid)] {
        let server = Loopback::start(vec![acts.clone(), acts]).await;
        let patient = session(subject, &server.base_url(), [keyed()]).expect("a session");
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

//! Decides what every model adapter holds about the end of an answer: which ends are orderly, which
//! silence is one, and what is true of a request whose answer was cut.
//!
//! Knows no API: the events of an answer are the caller's [`Words`].

use std::time::{Duration, Instant};

use runtime_ports::ModelSession;

use crate::{
    asking::{ask, line, operation, request},
    loopback::{Act, LAST_CHUNK, Loopback, begun, chunk, events, stream, stream_head},
};

const LOST: &str = "Protocol CONNECTION_LOST unknown [Failed]";
const TRUNCATED: &str = "Protocol STREAM_TRUNCATED unknown [Failed]";
const IDLE: &str = "Timeout STREAM_IDLE unknown [TimedOut]";

/// A short answer in the words of an API: the data of its events.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// What comes before the first piece.
    pub start: &'static [&'static str],
    /// A piece of text that reads `hi`, and can come again.
    pub hi: &'static str,
    /// What makes the answer complete.
    pub finish: &'static [&'static str],
    /// What can come after that: 3 tokens of input, and words for the end.
    pub after: &'static [&'static str],
}

impl Words {
    /// The answer up to its first piece.
    #[must_use]
    pub fn amid(&self) -> Vec<&'static str> {
        [self.start, &[self.hi]].concat()
    }

    /// The answer up to what makes it complete.
    #[must_use]
    pub fn finished(&self) -> Vec<&'static str> {
        [&self.amid(), self.finish].concat()
    }

    /// The answer with everything that can come after it, as the bytes of a stream.
    #[must_use]
    pub fn whole(&self) -> Vec<u8> {
        events(&[&self.finished(), self.after].concat())
    }
}

/// The ends of an API, tried with sessions whose patience is [`SHORT`](crate::asking::SHORT) in
/// every phase.
#[derive(Debug, Clone, Copy)]
pub struct Ends<F> {
    /// The API.
    pub words: Words,
    /// Makes a session for a server.
    pub session: F,
}

impl<F, S> Ends<F>
where
    F: Fn(&Loopback) -> S,
    S: ModelSession,
{
    /// Plays `acts` for one request and gives the outcome in a line.
    pub async fn outcome(&self, acts: Vec<Act>) -> String {
        let server = Loopback::start(vec![acts]).await;
        line(&ask(&(self.session)(&server)).await)
    }

    async fn expect(&self, name: &str, acts: Vec<Act>, expected: &str) {
        assert_eq!(self.outcome(acts).await, expected, "{name}");
    }

    /// Expects the answer from packets of one byte, of seven, and from one packet.
    ///
    /// # Panics
    /// When the size of the packets matters.
    pub async fn packets_may_have_any_size(&self) {
        for size in [1, 7, 100_000] {
            let whole = chunk(&self.words.whole());
            let bytes = [stream_head(&[]), whole, LAST_CHUNK.to_vec()].concat();
            self.expect(&size.to_string(), vec![Act::Trickle(bytes, size)], "Stop hi").await;
        }
    }

    /// Expects silence to end a call before the head, before the first event, and amid the answer.
    ///
    /// # Panics
    /// When it does not, or is called something else.
    pub async fn silence_ends_the_wait(&self) {
        let silent = "Timeout HEAD_TIMEOUT unknown [TimedOut]";
        self.expect("no head", vec![Act::Hang], silent).await;
        self.expect("no event", begun(&[], &[Act::Hang]), IDLE).await;
        self.expect("amid the answer", begun(&self.words.amid(), &[Act::Hang]), IDLE).await;
    }

    /// Expects a server that goes on with comments, with bytes of an event without end, or with one
    /// of `idle` (data of events that say nothing) to be as good as silent.
    ///
    /// # Panics
    /// When one of them counts as progress.
    pub async fn signs_of_life_are_no_progress(&self, idle: &[&str]) {
        let idle = idle.iter().map(|data| chunk(&events(&[data])));
        let signs = [chunk(b": ping\n\n"), chunk(b"x")].into_iter().chain(idle);
        for sign in signs {
            let name = String::from_utf8_lossy(&sign).into_owned();
            let again = Act::Repeat(sign, Duration::from_millis(20));
            self.expect(&name, begun(&self.words.amid(), &[again]), IDLE).await;
        }
    }

    /// Expects an answer that goes on within the patience to be read to its end, however long it
    /// takes in all.
    ///
    /// # Panics
    /// When it is not.
    pub async fn a_slow_answer_is_waited_for(&self) {
        let mut acts = begun(&self.words.amid(), &[]);
        for _ in 0..4 {
            acts.push(Act::Pause(Duration::from_millis(150)));
            acts.push(Act::Send(chunk(&events(&[self.words.hi]))));
        }
        acts.push(Act::Send(chunk(&events(self.words.finish))));
        acts.push(Act::Send(LAST_CHUNK.to_vec()));
        self.expect("slow", acts, "Stop hihihihihi").await;
    }

    /// Expects an answer that is complete to be one when the connection stays open, is closed, or
    /// is reset; and soon.
    ///
    /// # Panics
    /// When the connection matters, and when it is waited for.
    pub async fn no_orderly_end_is_needed(&self) {
        let finished = self.words.finished();
        let late_reset = [Act::Pause(Duration::from_millis(50)), Act::Reset];
        let cases = [
            ("held open", begun(&finished, &[Act::Hang])),
            ("closed", begun(&finished, &[Act::Close])),
            ("reset", begun(&finished, &late_reset)),
        ];
        for (name, acts) in cases {
            let begun = Instant::now();
            self.expect(name, acts, "Stop hi").await;
            assert!(begun.elapsed() < Duration::from_secs(2), "{name}");
        }
    }

    /// Expects counts that come a little after the finish.
    ///
    /// # Panics
    /// When they are missing.
    pub async fn late_counts_are_waited_for(&self) {
        let after = Act::Send(chunk(&events(self.words.after)));
        let late = [Act::Pause(Duration::from_millis(100)), after];
        let server = Loopback::start(vec![begun(&self.words.finished(), &late)]).await;
        let response = ask(&(self.session)(&server)).await.expect("an answer");
        assert_eq!(response.usage.input_tokens, Some(3));
    }

    /// Expects no answer of a request that was sent and whose answer was cut, and that nobody
    /// claims to know what became of it.
    ///
    /// # Panics
    /// When there is an answer, or another failure.
    pub async fn cuts_are_unknown(&self) {
        let amid = self.words.amid();
        let late_reset = [Act::Pause(Duration::from_millis(50)), Act::Reset];
        let no_http = vec![Act::Send(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec()), Act::Close];
        self.expect("closed before the head", vec![Act::Close], LOST).await;
        self.expect("reset before the head", vec![Act::Reset], LOST).await;
        self.expect("no http", no_http, LOST).await;
        self.expect("amid the stream", begun(&amid, &[Act::Close]), LOST).await;
        self.expect("reset amid the stream", begun(&amid, &late_reset), LOST).await;
        self.expect("an end without a finish", stream(&events(&amid)), TRUNCATED).await;
        self.expect("nothing at all", stream(b""), TRUNCATED).await;
    }

    /// Expects the status to be told when the body of a refusal, which began with `body`, does not
    /// go on.
    ///
    /// # Panics
    /// When something else is told.
    pub async fn a_stalled_body_hides_no_status(&self, body: &str) {
        let head = format!("HTTP/1.1 400 Bad Request\r\ncontent-length: 99\r\n\r\n{body}");
        let stalled = vec![Act::Send(head.into_bytes()), Act::Hang];
        let server = Loopback::start(vec![stalled]).await;
        let session = (self.session)(&server);
        let answered = session.invoke(&operation(Duration::from_millis(400)), request()).await;
        assert_eq!(line(&answered), "Invalid INVALID_REQUEST not committed [Failed]");
    }

    /// Expects an event of 5,000 bytes to be refused while it arrives.
    ///
    /// # Panics
    /// When the session, whose limit has to be 4,096 bytes an event, reads on.
    pub async fn an_event_beyond_4096_bytes_is_refused(&self) {
        let long = chunk(format!("data: {}", "x".repeat(5_000)).as_bytes());
        let acts = begun(&self.words.amid(), &[Act::Send(long), Act::Hang]);
        self.expect("long", acts, "Protocol EVENT_TOO_LARGE unknown [Failed]").await;
    }

    /// Expects a call that is cancelled, and one whose deadline passes, to end as such before and
    /// amid the answer.
    ///
    /// # Panics
    /// When the session, whose patience has to be longer than a second, ends in another way.
    pub async fn a_cancelled_and_a_late_call_end_soon(&self) {
        let amid = begun(&self.words.amid(), &[Act::Hang]);
        for (name, acts) in [("before", vec![Act::Hang]), ("amid", amid)] {
            let server = Loopback::start(vec![acts.clone(), acts]).await;
            let patient = (self.session)(&server);
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
}

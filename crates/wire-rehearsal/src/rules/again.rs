//! Decides what is held by adapters that send a request once more without an optional part that the
//! server refuses: that part is the only reason, and whoever counts requests is obeyed.
//!
//! Knows no API: refusals are the caller's.

use runtime_ports::limit_requests;

use crate::{
    asking::{ask, line},
    loopback::{Act, Loopback, stream},
    subject::{Subject, hasty},
};

const REFUSED: &str = "Invalid INVALID_REQUEST not committed";

/// Expects each of `replies` to end its call, although an answer would follow.
///
/// # Panics
/// When a request is sent again.
pub async fn nothing_else_is_sent_twice<S: Subject>(subject: &S, replies: Vec<Vec<Act>>) {
    for acts in replies {
        let name = format!("{acts:?}");
        let server = Loopback::start(vec![acts, stream(&subject.words().whole())]).await;
        assert!(ask(&hasty(subject, &server)).await.is_err(), "{name}");
        assert_eq!(server.seen().len(), 1, "{name}");
    }
}

/// Expects a part that is refused, and refused again when it is not there, to be given up: two
/// requests.
///
/// # Panics
/// When there is an answer, or another number of requests.
pub async fn the_same_part_is_left_out_once<S: Subject>(subject: &S, refused: Vec<Act>) {
    let answer = stream(&subject.words().whole());
    let server = Loopback::start(vec![refused.clone(), refused, answer]).await;
    let answered = ask(&hasty(subject, &server)).await;
    assert_eq!(line(&answered), format!("{REFUSED} [Failed, Failed]"));
    assert_eq!(server.seen().len(), 2);
}

/// Expects one request where one is allowed, though its reply is `refused`, and the next call to
/// know better.
///
/// # Panics
/// When more is sent, and when nothing was learnt.
pub async fn no_more_is_sent_than_whoever_counts_allows<S: Subject>(
    subject: &S,
    refused: Vec<Act>,
) {
    let server = Loopback::start(vec![refused, stream(&subject.words().whole())]).await;
    let session = hasty(subject, &server);
    assert_eq!(line(&limit_requests(1, ask(&session)).await), format!("{REFUSED} [Failed]"));
    assert_eq!(server.seen().len(), 1);
    let response = limit_requests(1, ask(&session)).await.expect("an answer");
    assert_eq!(response.attempts.len(), 1);
}

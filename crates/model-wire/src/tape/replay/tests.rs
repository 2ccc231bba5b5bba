//! Which tapes are taken, and which exchange answers.

use super::Replay;
use crate::tape::TapeError;

const FIRST: &str = r#"{"tape":1,"by":"test"}"#;

fn exchange(number: u64, text: &str) -> String {
    format!(
        r#"{{"exchange":{number},"at_ms":1,"to":"http://h/v1","method":"POST","path":"p","request":{{"text":"{text}"}},"status":200,"chunks":["a",{{"base64":"/w=="}}],"end":"complete"}}"#
    )
}

fn refused(tape: &str, expected: &str) {
    let error = Replay::of_bytes(tape.as_bytes()).expect_err("a tape that is none");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_damaged_tape_is_refused_with_its_line() {
    let damaged = |line: usize, reason: &str| {
        format!("line {line} of the tape is damaged: {reason}; record again")
    };
    let good = exchange(1, "x");
    refused("", &damaged(1, "it is no tape"));
    refused("{}\n", &damaged(1, "it is no tape"));
    refused(&good, &damaged(1, "it is no tape"));
    refused("{\"tape\":\"1\"}\n", &damaged(1, "its version is no number"));
    refused(&format!("{FIRST}\n{{\"exch\n{good}\n"), &damaged(2, "it is no json from column 6 on"));
    refused(&format!("{FIRST}\n\n{good}\n"), &damaged(2, "it is no json from column 0 on"));
    refused(&format!("{FIRST}\n{good}\n{good}\n"), &damaged(3, "exchange 1 is there twice"));
    let other = good.replace("\"status\"", "\"sta-canary\"");
    refused(&format!("{FIRST}\n{other}\n"), &damaged(2, "the field sta-canary is not known"));
    let missing = good.replace("\"to\":\"http://h/v1\",", "");
    refused(&format!("{FIRST}\n{missing}\n"), &damaged(2, "the field to is missing"));
    let wrong = good.replace("200", "\"canary\"");
    let reason = "a field has another type than it should";
    refused(&format!("{FIRST}\n{wrong}\n"), &damaged(2, reason));
    let wrong = good.replace("/w==", "canary!");
    refused(&format!("{FIRST}\n{wrong}\n"), &damaged(2, reason));
}

#[test]
fn another_version_is_refused() {
    let error = Replay::of_bytes(b"{\"tape\":2}\n").expect_err("another version");
    assert_eq!(error, TapeError::Version { found: "2".to_owned(), known: 1 });
}

#[test]
fn a_line_without_an_end_is_left_out() {
    let tape = format!("{FIRST}\n{}\n{}", exchange(1, "x"), &exchange(2, "y")[..40]);
    let replay = Replay::of_bytes(tape.as_bytes()).expect("a tape");
    assert!(replay.is_cut());
    assert_eq!(replay.unused(), ["exchange 1: POST p"]);
}

#[test]
fn an_exchange_answers_once_and_in_the_order_of_requests() {
    let lines =
        [FIRST.to_owned(), exchange(2, "x"), exchange(1, "x"), exchange(3, "y"), String::new()];
    let replay = Replay::of_bytes(lines.join("\n").as_bytes()).expect("a tape");
    let ask = |path: &str, text: &str| {
        let body = format!(r#"{{"text":"{text}"}}"#);
        replay.answer("http://h/v1", "POST", path, body.as_bytes()).map(drop)
    };
    let message = |outcome: Result<(), runtime_ports::PortFailure>| {
        let failure = outcome.expect_err("a mismatch");
        assert_eq!(failure.code, "REPLAY_MISMATCH");
        failure.message
    };
    let differs = "the request is not the one of exchange 1 of the tape: it differs at $.text";
    assert_eq!(message(ask("p", "canary")), differs);
    assert_eq!(ask("p", "y"), Ok(()));
    assert_eq!(ask("p", "x"), Ok(()));
    assert_eq!(replay.unused(), ["exchange 2: POST p"]);
    assert_eq!(ask("p", "x"), Ok(()));
    let none = "the tape has no more exchange for POST p at http://h/v1";
    assert_eq!(message(ask("p", "x")), none);
    assert_eq!(message(ask("q", "x")), none.replace("POST p", "POST q"));
    assert!(replay.unused().is_empty());
}

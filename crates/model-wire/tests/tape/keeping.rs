//! What is in the file, when, and for whom; and what happens when it cannot be written.

use std::{os::unix::fs::PermissionsExt, sync::Arc, time::Duration};

use model_wire::{HttpClient, Recorder, Replay, Tape, TapeError};
use serde_json::{Value, json};
use wire_rehearsal::loopback::{Act, Loopback, chunk, events, stream, stream_head};

use crate::echo::{Studio, ask, endpoint};

fn answered() -> Vec<Act> {
    stream(&events(&["{\"text\":\"hi\"}", "{\"done\":true}"]))
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of json")).collect()
}

#[tokio::test]
async fn an_exchange_is_in_the_file_before_its_answer_is_handed_on() {
    let server = Loopback::start(vec![answered(), answered()]).await;
    let studio = Studio::new();
    let client = HttpClient::new(&endpoint(&server.base_url(), studio.tape())).expect("a client");
    for count in 1..=2 {
        ask(&client, "{\"b\":1,\"a\":[true]}").await;
        // Nobody waited for the writer but the request itself.
        let text = std::fs::read_to_string(&studio.path).expect("a tape");
        let lines = lines(&text);
        assert!(text.ends_with('\n'));
        assert_eq!(lines.len(), 1 + count);
        let last = &lines[count];
        assert_eq!(last["request"], json!({ "a": [true], "b": 1 }));
        assert_eq!(last["to"], server.base_url());
        assert_eq!((&last["method"], &last["path"]), (&json!("POST"), &json!("echo")));
        assert_eq!((&last["status"], &last["end"]), (&json!(200), &json!("complete")));
        assert_eq!(last["headers"], json!({ "content-type": "text/event-stream" }));
        let text: Vec<&str> =
            last["chunks"].as_array().expect("chunks").iter().filter_map(Value::as_str).collect();
        assert_eq!(text.concat(), "data: {\"text\":\"hi\"}\n\ndata: {\"done\":true}\n\n");
    }
}

#[tokio::test]
async fn the_file_is_for_its_owner_alone_and_never_written_over() {
    let studio = Studio::new();
    let mode = std::fs::metadata(&studio.path).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let error = Recorder::create(&studio.path).expect_err("a file that exists");
    assert_eq!(error, TapeError::Exists(studio.path.clone()));
    let nowhere = studio.path.with_file_name("missing").join("tape");
    let error = Recorder::create(&nowhere).expect_err("a folder that is missing");
    assert!(error.to_string().ends_with("cannot be written: entity not found"), "{error}");
    let error = Replay::open(&nowhere).expect_err("a file that is missing");
    assert!(error.to_string().ends_with("cannot be read: entity not found"), "{error}");
}

#[tokio::test]
async fn notes_are_found_again() {
    let studio = Studio::new();
    for value in [json!({ "model": "a" }), json!({ "model": "b" })] {
        studio.recorder.note("choice", value).await.expect("a note");
    }
    studio.recorder.note("other", json!(1)).await.expect("a note");
    let replay = studio.replay().await;
    let models: Vec<&Value> = replay.notes("choice").map(|note| &note["model"]).collect();
    assert_eq!(models, ["a", "b"]);
}

#[tokio::test]
async fn what_nobody_waits_for_is_kept_as_abandoned_and_replayed_as_cancelled() {
    let event = chunk(&events(&["{\"text\":\"hi\"}"]));
    let server =
        Loopback::start(vec![vec![Act::Send(stream_head(&[])), Act::Send(event), Act::Hang]]).await;
    let studio = Studio::new();
    let client = HttpClient::new(&endpoint(&server.base_url(), studio.tape())).expect("a client");
    let dropped = tokio::time::timeout(Duration::from_millis(100), ask(&client, "{}")).await;
    assert!(dropped.is_err());
    let text = studio.text().await;
    assert_eq!(lines(&text)[1]["end"], "abandoned");
    let tape = Tape::Replay(studio.replay().await);
    let client = HttpClient::new(&endpoint(&server.base_url(), tape)).expect("a client");
    let outcome = ask(&client, "{}").await;
    assert!(outcome.contains("\"hi\"") && outcome.contains("CANCELED"), "{outcome}");
}

#[tokio::test]
async fn a_request_that_was_not_recorded_fails_and_names_the_place() {
    let server = Loopback::start(vec![answered()]).await;
    let studio = Studio::new();
    let client = HttpClient::new(&endpoint(&server.base_url(), studio.tape())).expect("a client");
    ask(&client, "{\"messages\":[{\"text\":\"then\"}]}").await;
    let replay = studio.replay().await;
    let tape = Tape::Replay(Arc::clone(&replay));
    let client = HttpClient::new(&endpoint(&server.base_url(), tape)).expect("a client");
    let outcome = ask(&client, "{\"messages\":[{\"text\":\"canary\"}]}").await;
    assert!(outcome.contains("REPLAY_MISMATCH"), "{outcome}");
    assert!(
        outcome.contains("exchange 1 of the tape: it differs at $.messages[0].text"),
        "{outcome}"
    );
    assert!(outcome.contains("NotCommitted") && !outcome.contains("canary"), "{outcome}");
    assert_eq!(replay.unused(), ["exchange 1: POST echo"]);
    let elsewhere = endpoint("https://example.com/v1", Tape::Replay(replay));
    let client = HttpClient::new(&elsewhere).expect("no network and no certificates are needed");
    let outcome = ask(&client, "{\"messages\":[{\"text\":\"then\"}]}").await;
    assert!(
        outcome.contains("no more exchange for POST echo at https://example.com/v1"),
        "{outcome}"
    );
}

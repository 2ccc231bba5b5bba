//! A replay gives what the recording gave: answers, deltas, failures, meters.

use std::{sync::Arc, time::Duration};

use model_wire::{HttpClient, Tape};
use proptest::prelude::*;
use wire_rehearsal::loopback::{
    Act, LAST_CHUNK, Loopback, chunk, json, refusing_address, reply, stream_head,
};

use crate::echo::{Studio, ask, endpoint, get};

const DONE: &str = "data: {\"done\":true}\n\n";

/// How a scripted stream goes on after its pieces.
#[derive(Debug, Clone, Copy)]
enum Tail {
    Whole,
    Cut,
    Reset,
    Silent,
    Endless,
    Settled,
    Cancelled,
    Malformed,
    NotDone,
}

#[derive(Debug, Clone)]
enum Script {
    Stream(Vec<Vec<u8>>, Tail),
    Status(u16, Option<String>, Vec<u8>),
    Document(String),
    ClosedAtOnce,
    NoHead,
}

fn acts(script: &Script) -> Vec<Act> {
    match script {
        Script::Stream(pieces, tail) => {
            let mut acts = vec![Act::Send(stream_head(&[("x-request-id", "req-1")]))];
            acts.extend(pieces.iter().map(|piece| Act::Send(chunk(piece))));
            acts.extend(tail_acts(*tail));
            acts
        }
        Script::Status(status, wait, body) => {
            let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
            if let Some(wait) = wait {
                head.push_str(&format!("retry-after: {wait}\r\n"));
            }
            let mut bytes = format!("{head}\r\n").into_bytes();
            bytes.extend_from_slice(body);
            vec![Act::Send(bytes)]
        }
        Script::Document(text) => json("200 OK", text),
        Script::ClosedAtOnce => vec![Act::Close],
        Script::NoHead => vec![Act::Hang],
    }
}

fn tail_acts(tail: Tail) -> Vec<Act> {
    let send = |text: &str| Act::Send(chunk(text.as_bytes()));
    let last = || Act::Send(LAST_CHUNK.to_vec());
    match tail {
        Tail::Whole => vec![send(DONE), last()],
        Tail::Cut => vec![Act::Close],
        Tail::Reset => vec![Act::Pause(Duration::from_millis(20)), Act::Reset],
        Tail::Silent => vec![Act::Hang],
        Tail::Endless => vec![Act::Repeat(chunk(b": still here\n\n"), Duration::from_millis(40))],
        Tail::Settled => vec![send("data: {\"done\":\"soon\"}\n\n"), Act::Hang],
        Tail::Cancelled => vec![send("data: {\"text\":\"STOP\"}\n\n"), Act::Hang],
        Tail::Malformed => vec![send("data: {no json\n\n"), last()],
        Tail::NotDone => vec![last()],
    }
}

fn scripts() -> impl Strategy<Value = Script> {
    let text = prop_oneof!["[a-zé漢]{0,6}", Just("*******".to_owned()), Just("\\\"".to_owned())];
    let frame = text.prop_map(|text| format!("data: {}\n\n", serde_json::json!({ "text": text })));
    let frames = prop::collection::vec(frame, 0..4).prop_map(|frames| frames.concat());
    let pieces = (frames, 1_usize..40)
        .prop_map(|(text, size)| text.into_bytes().chunks(size).map(<[u8]>::to_vec).collect());
    let tail = prop_oneof![
        4 => Just(Tail::Whole),
        1 => Just(Tail::Cut),
        1 => Just(Tail::Reset),
        1 => Just(Tail::Silent),
        1 => Just(Tail::Endless),
        1 => Just(Tail::Settled),
        1 => Just(Tail::Cancelled),
        1 => Just(Tail::Malformed),
        1 => Just(Tail::NotDone),
    ];
    let status = prop::sample::select(vec![301_u16, 400, 401, 404, 413, 429, 500, 503, 529]);
    let wait = prop::option::of(prop_oneof![
        Just("3".to_owned()),
        Just("Tue, 01 Dec 2099 10:00:00 GMT".to_owned()),
        Just("soon".to_owned())
    ]);
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        Just(br#"{"error":{"code":"insufficient_quota"}}"#.to_vec()),
        Just(b"<html>".to_vec()),
    ];
    prop_oneof![
        6 => (pieces, tail).prop_map(|(pieces, tail)| Script::Stream(pieces, tail)),
        2 => (status, wait, body).prop_map(|(s, wait, body)| Script::Status(s, wait, body)),
        1 => Just(Script::Document("{\"text\":\"whole\",\"done\":true}".to_owned())),
        1 => Just(Script::Document("{\"error\":{\"code\":\"429\"}}".to_owned())),
        1 => Just(Script::ClosedAtOnce),
        1 => Just(Script::NoHead),
    ]
}

async fn record_and_replay(scripts: &[Script]) {
    let server = Loopback::start(scripts.iter().map(acts).collect()).await;
    let base_url = server.base_url();
    let studio = Studio::new();
    let live = HttpClient::new(&endpoint(&base_url, studio.tape())).expect("a client");
    let body = |place: usize| format!(r#"{{"number":{place}}}"#);
    let mut then = Vec::new();
    for place in 0..scripts.len() {
        then.push(ask(&live, &body(place)).await);
    }
    drop(server);
    let replay = studio.replay().await;
    let tape = Tape::Replay(Arc::clone(&replay));
    let client = HttpClient::new(&endpoint(&base_url, tape)).expect("a client");
    for (place, then) in then.iter().enumerate() {
        assert_eq!(&ask(&client, &body(place)).await, then, "{:?}", scripts[place]);
    }
    assert!(replay.unused().is_empty(), "{:?}", replay.unused());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn a_replay_gives_what_was_recorded(scripts in prop::collection::vec(scripts(), 1..5)) {
        let runtime = tokio::runtime::Runtime::new();
        runtime.expect("a runtime").block_on(record_and_replay(&scripts));
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_replayed_as_such() {
    let base_url = format!("http://{}/v1", refusing_address().await);
    let studio = Studio::new();
    let live = HttpClient::new(&endpoint(&base_url, studio.tape())).expect("a client");
    let then = (ask(&live, "{}").await, get(&live, "models").await);
    assert!(then.0.contains("CONNECT_FAILED") && then.0.contains("connection refused"), "{then:?}");
    let tape = Tape::Replay(studio.replay().await);
    let client = HttpClient::new(&endpoint(&base_url, tape)).expect("a client");
    assert_eq!((ask(&client, "{}").await, get(&client, "models").await), then);
}

#[tokio::test]
async fn documents_are_replayed() {
    let list = json("200 OK", r#"{"data":[{"id":"m"}]}"#);
    let missing = vec![Act::Send(reply("404 N", &[], "nothing here"))];
    let server = Loopback::start(vec![list, missing, vec![Act::Hang]]).await;
    let studio = Studio::new();
    let live = HttpClient::new(&endpoint(&server.base_url(), studio.tape())).expect("a client");
    let paths = ["models", "more?limit=3", "slow"];
    let mut then = Vec::new();
    for path in paths {
        then.push(get(&live, path).await);
    }
    assert!(then[0].contains("Ok") && then[2].contains("HEAD_TIMEOUT"), "{then:?}");
    let tape = Tape::Replay(studio.replay().await);
    let client = HttpClient::new(&endpoint(&server.base_url(), tape)).expect("a client");
    for (path, then) in paths.into_iter().zip(then) {
        assert_eq!(get(&client, path).await, then, "{path}");
    }
    assert!(get(&client, "models").await.contains("REPLAY_MISMATCH"));
    assert_eq!(server.seen().len(), 3, "a replay has no network");
}

#[tokio::test]
async fn every_wait_that_a_server_asks_for_is_replayed() {
    let limits = ["requests", "tokens", "input-tokens", "output-tokens"];
    let limits = limits.map(|limit| {
        [
            (format!("anthropic-ratelimit-{limit}-remaining"), "0"),
            (format!("anthropic-ratelimit-{limit}-reset"), "2099-12-01T10:00:00Z"),
        ]
    });
    let plain = [("retry-after", "3"), ("retry-after-ms", "250")];
    let plain = plain.map(|(name, value)| vec![(name.to_owned(), value)]);
    let heads: Vec<_> = limits.into_iter().map(Vec::from).chain(plain).collect();
    let acts = heads.iter().map(|head| {
        let head: Vec<_> = head.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        vec![Act::Send(reply("429 X", &head, "{}"))]
    });
    let server = Loopback::start(acts.collect()).await;
    let studio = Studio::new();
    let live = HttpClient::new(&endpoint(&server.base_url(), studio.tape())).expect("a client");
    let mut then = Vec::new();
    for _ in &heads {
        then.push(ask(&live, "{}").await);
    }
    let tape = Tape::Replay(studio.replay().await);
    let client = HttpClient::new(&endpoint(&server.base_url(), tape)).expect("a client");
    for (head, then) in heads.iter().zip(then) {
        assert!(!then.contains("retry_after: None"), "{head:?} asks for no wait: {then}");
        assert_eq!(ask(&client, "{}").await, then, "{head:?}");
    }
}

#[tokio::test]
async fn requests_that_run_at_once_do_not_mix() {
    let slow = |text: &str| {
        let event = format!("data: {{\"text\":\"{text}\"}}\n\n");
        let mut acts = vec![Act::Send(stream_head(&[]))];
        for byte in event.as_bytes() {
            acts.extend([Act::Send(chunk(&[*byte])), Act::Pause(Duration::from_millis(1))]);
        }
        acts.extend([Act::Send(chunk(DONE.as_bytes())), Act::Send(LAST_CHUNK.to_vec())]);
        acts
    };
    let server = Loopback::start((0..8).map(|place| slow(&format!("answer {place}"))).collect());
    let server = server.await;
    let studio = Studio::new();
    let live = HttpClient::new(&endpoint(&server.base_url(), studio.tape())).expect("a client");
    let live = Arc::new(live);
    let mut tasks = tokio::task::JoinSet::new();
    for place in 0..8 {
        let live = Arc::clone(&live);
        tasks.spawn(async move { (place, ask(&live, &format!("{{\"n\":{place}}}")).await) });
    }
    let mut then = tasks.join_all().await;
    let replay = studio.replay().await;
    let tape = Tape::Replay(Arc::clone(&replay));
    let client = HttpClient::new(&endpoint(&server.base_url(), tape)).expect("a client");
    // In another order than they were asked in.
    then.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    for (place, then) in then {
        assert_eq!(ask(&client, &format!("{{\"n\":{place}}}")).await, then);
    }
    assert!(replay.unused().is_empty());
}

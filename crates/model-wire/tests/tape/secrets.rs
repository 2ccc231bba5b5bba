//! That no secret is in a tape, wherever a server echoes it.

use model_wire::{Endpoint, HttpClient, KeyHeader};
use runtime_types::CredentialHandle;
use wire_rehearsal::loopback::{
    Act, LAST_CHUNK, Loopback, chunk, events, reply, stream, stream_head,
};

use crate::echo::{Studio, ask, endpoint, get};

const KEY: &str = "sk-canary/\"5f1c";
const QUERY: &str = "canary-in-the-query";
const HEADER: &str = "canary-in-a-header";

fn echoes() -> Vec<Vec<Act>> {
    let plain = format!("{KEY} {QUERY} {HEADER}");
    let escaped = serde_json::json!({ "text": plain, "done": true }).to_string();
    let twice = serde_json::json!({ "error": { "metadata": { "raw": escaped } } }).to_string();
    let slashed = escaped.replace('/', "\\/").replace('-', "\\u002d");
    let headers = [("x-request-id", HEADER), ("retry-after", QUERY), ("content-type", HEADER)];
    let trickled = chunk(&events(&[&escaped]));
    let cut = format!("data: {{\"text\":\"{QUERY}");
    let mut pieces = vec![Act::Send(stream_head(&headers))];
    pieces.extend(events(&[&slashed]).chunks(3).flat_map(|piece| {
        [Act::Send(chunk(piece)), Act::Pause(std::time::Duration::from_millis(2))]
    }));
    pieces.push(Act::Send(LAST_CHUNK.to_vec()));
    vec![
        vec![Act::Send(reply("401 U", &headers, &twice))],
        vec![Act::Send(reply("500 E", &headers, &plain))],
        stream(&events(&[&escaped])),
        stream(&events(&[&slashed])),
        vec![
            Act::Send(stream_head(&headers)),
            Act::Trickle(trickled, 1),
            Act::Send(LAST_CHUNK.to_vec()),
        ],
        pieces,
        vec![
            Act::Send(stream_head(&headers)),
            Act::Send(chunk(&cut.as_bytes()[..cut.len() - 3])),
            Act::Close,
        ],
        vec![Act::Send(reply("200 OK", &headers, &twice))],
    ]
}

#[tokio::test]
async fn no_secret_is_in_the_file() {
    for name in [KeyHeader::Bearer, KeyHeader::Named("api-key".to_owned())] {
        let server = Loopback::start(echoes()).await;
        let studio = Studio::new();
        let base_url = format!("{}?token={QUERY}", server.base_url());
        let client = HttpClient::new(&Endpoint {
            credential: Some(CredentialHandle::new(KEY)),
            key_header: name,
            headers: vec![("x-secret".to_owned(), CredentialHandle::new(HEADER))],
            ..endpoint(&base_url, studio.tape())
        });
        let client = client.expect("a client");
        let body = serde_json::json!({ "messages": [{ "text": format!("keep {KEY}") }] });
        for place in 0..echoes().len() {
            match place {
                7 => get(&client, "models").await,
                _ => ask(&client, &body.to_string()).await,
            };
        }
        let seen = server.seen();
        assert!(seen.iter().all(|seen| seen.head.contains(QUERY) && seen.head.contains(HEADER)));
        let text = studio.text().await;
        // Chunks cut the secrets; joined they must not be there either, nor without the escapes.
        let lines = text.lines().skip(1).map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("json");
            let chunks = line["chunks"].as_array().cloned().unwrap_or_default();
            chunks.iter().filter_map(|chunk| chunk.as_str()).collect::<String>()
        });
        let joined: String = lines.collect();
        for shown in [text.clone(), joined] {
            let plain = shown.replace("\\u002d", "-").replace('\\', "");
            for part in ["canary", "5f1c", "in-the-query", "in-a-header"] {
                assert!(!shown.contains(part) && !plain.contains(part), "{part} in {shown}");
            }
        }
        for header in ["authorization", "api-key", "x-secret", "user-agent", "token"] {
            assert!(!text.contains(header), "{header} in {text}");
        }
        assert!(text.contains("keep **"), "{text}");
    }
}

#[tokio::test]
async fn a_key_that_another_server_was_given_is_blotted_out_as_well() {
    let echoed = serde_json::json!({ "text": KEY, "done": true }).to_string();
    let server = Loopback::start(vec![stream(&events(&[&echoed]))]).await;
    let studio = Studio::new();
    let one = HttpClient::new(&endpoint(&server.base_url(), studio.tape())).expect("a client");
    // The other one may come later.
    let other = HttpClient::new(&Endpoint {
        credential: Some(CredentialHandle::new(KEY)),
        ..endpoint("http://127.0.0.1:9/v1", studio.tape())
    });
    other.expect("a client");
    let body = serde_json::json!({ "messages": [{ "text": format!("it is {KEY}") }] });
    ask(&one, &body.to_string()).await;
    let text = studio.text().await;
    assert!(!text.contains("canary") && text.contains("it is **"), "{text}");
}

//! Decides how a scripted server of Chat Completions behaves over loopback, failures included.
//!
//! One connection a request. Knows nothing about who asks.

use std::sync::{Arc, Mutex};

use openai_adapter::{OpenAiSession, OpenAiSessionBuilder};
use runtime_ports::ModelProfile;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

pub(crate) const MODEL: &str = "wire-model";

/// What the server does with one request.
pub(crate) enum Reply {
    /// Streams these deltas, then says why it stopped.
    Stream(Vec<Value>, &'static str),
    /// Refuses with this status.
    Status(u16),
    /// Closes the connection after these deltas; without any, before the answer.
    HangUp(Vec<Value>),
}

/// A server that plays its replies in order and keeps the bodies that it got.
pub(crate) struct WireServer {
    base_url: String,
    bodies: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl WireServer {
    pub(crate) async fn playing(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&bodies);
        let task = tokio::spawn(async move {
            for reply in replies {
                let (stream, _) = listener.accept().await.unwrap();
                let mut stream = BufReader::new(stream);
                let body = read_request(&mut stream).await;
                seen.lock().unwrap().push(body);
                play(stream.into_inner(), reply).await;
            }
            // Whoever asks once too often is heard, too.
            let (stream, _) = listener.accept().await.unwrap();
            let body = read_request(&mut BufReader::new(stream)).await;
            seen.lock().unwrap().push(body);
        });
        Self { base_url, bodies, task }
    }

    /// A session with this server, to be built.
    pub(crate) fn session(&self) -> OpenAiSessionBuilder {
        let profile = ModelProfile {
            context_window_tokens: 10_000,
            max_input_tokens: 8_000,
            max_output_tokens: None,
            images: false,
            price: None,
        };
        OpenAiSession::builder(&*self.base_url).profile(MODEL, profile)
    }

    pub(crate) fn bodies(&self) -> Vec<String> {
        self.bodies.lock().unwrap().clone()
    }
}

impl Drop for WireServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) fn text(text: &str) -> Value {
    json!({ "content": text })
}

pub(crate) fn call(id: &str, name: &str, arguments: &Value) -> Value {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    json!({ "tool_calls": [{ "index": 0, "id": id, "type": "function", "function": function }] })
}

async fn play(mut stream: TcpStream, reply: Reply) {
    let head = "content-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let answer = match reply {
        Reply::Stream(deltas, finish) => {
            let end = json!({ "index": 0, "delta": {}, "finish_reason": finish });
            let end = json!({ "id": "w", "model": MODEL, "choices": [end] });
            format!("HTTP/1.1 200 OK\r\n{head}{}data: {end}\n\ndata: [DONE]\n\n", frames(&deltas))
        }
        Reply::HangUp(deltas) if deltas.is_empty() => return,
        Reply::HangUp(deltas) => {
            // A length that is never reached: the client cannot take the end for a good one.
            format!("HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n{head}{}", frames(&deltas))
        }
        Reply::Status(status) => {
            format!("HTTP/1.1 {status} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        }
    };
    // A client that went away needs no answer.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn frames(deltas: &[Value]) -> String {
    let frame = |delta| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": null });
        format!("data: {}\n\n", json!({ "id": "w", "model": MODEL, "choices": [choice] }))
    };
    deltas.iter().map(frame).collect()
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> String {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        if line.trim_end().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    String::from_utf8(body).unwrap()
}

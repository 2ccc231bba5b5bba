//! Decides what the adapter is compared with: what anybody would write over `reqwest` and
//! `serde_json`, with no check, no bound and no way to be stopped.
//!
//! Knows nothing about the adapter.

use std::{borrow::Cow, time::Duration};

use reqwest::{Client, header::CONTENT_TYPE};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::{
    conversation,
    cpu_time::CpuTime,
    provider::{Mode, Provider},
};

/// One thread, which also drives the connections.
pub(crate) struct Plain<'a> {
    executor: Runtime,
    client: Client,
    provider: &'a Provider,
}

/// A conversation that came as far as a round.
pub(crate) struct Round<'a> {
    side: &'a Plain<'a>,
    before: Vec<Value>,
    tools: Value,
}

impl<'a> Plain<'a> {
    pub(crate) fn new(provider: &'a Provider) -> Self {
        let executor = Builder::new_current_thread().enable_all().build().expect("an executor");
        Self { executor, client: client(), provider }
    }

    /// Reads an answer of `deltas` deltas.
    pub(crate) fn reads(&self, mode: Mode, deltas: usize) -> Duration {
        let body = json!({"model": "a-model", "messages": [], "stream": true});
        let before = CpuTime::now();
        let parsed = self.executor.block_on(self.asks(mode, deltas, body.to_string()));
        let cost = CpuTime::now() - before;
        assert_eq!(parsed, deltas + 2);
        cost
    }

    pub(crate) fn before_round(&'a self, round: usize) -> Round<'a> {
        let mut before = opening();
        before.extend((2..round).flat_map(|_| exchange()));
        Round { side: self, before, tools: (0..5).map(tool).collect() }
    }

    /// Counts the events of an answer.
    async fn asks(&self, mode: Mode, deltas: usize, body: String) -> usize {
        let url = format!("{}/chat/completions", self.provider.base_url(mode, deltas));
        let request = self.client.post(url).header(CONTENT_TYPE, "application/json").body(body);
        let mut response = request.send().await.expect("an answer");
        let (mut held, mut parsed) = (Vec::new(), 0);
        while let Some(chunk) = response.chunk().await.expect("more of it") {
            held.extend_from_slice(&chunk);
            let mut start = 0;
            while let Some(length) = held[start..].iter().position(|byte| *byte == b'\n') {
                parsed += usize::from(parse(&held[start..start + length]));
                start += length + 1;
            }
            held.drain(..start);
        }
        parsed
    }
}

fn parse(line: &[u8]) -> bool {
    let data = line.strip_prefix(b"data: ").filter(|data| *data != b"[DONE]");
    let value = data.map(|data| serde_json::from_slice::<Value>(data).expect("json"));
    std::hint::black_box(value).is_some()
}

impl Round<'_> {
    /// The round's call, with the whole history written anew.
    pub(crate) fn call(&self) -> Duration {
        let before = CpuTime::now();
        let mut messages: Vec<Cow<'_, Value>> = self.before.iter().map(Cow::Borrowed).collect();
        messages.extend(exchange().map(Cow::Owned));
        let body = Body { model: "a-model", messages, tools: &self.tools, stream: true };
        let body = serde_json::to_string(&body).expect("json");
        let parsed = self.side.executor.block_on(self.side.asks(Mode::Burst, 1, body));
        let cost = CpuTime::now() - before;
        assert_eq!(parsed, 3);
        cost
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Cow<'a, Value>>,
    tools: &'a Value,
    stream: bool,
}

fn opening() -> Vec<Value> {
    vec![
        json!({"role": "system", "content": "You work in a folder of notes."}),
        json!({"role": "user", "content": conversation::text()}),
    ]
}

fn exchange() -> [Value; 2] {
    let arguments = json!({"path": "notes/today.md", "from_line": 1}).to_string();
    let function = json!({"name": "read_file", "arguments": arguments});
    let call = json!({"id": "call-1", "type": "function", "function": function});
    [
        json!({"role": "assistant", "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": "call-1", "content": conversation::text()}),
    ]
}

fn tool(number: usize) -> Value {
    let tool = conversation::tool(number);
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.input_schema,
    }})
}

/// As in the adapter: the cryptography is named, and nobody is trusted.
fn client() -> Client {
    let builder = ClientConfig::builder_with_provider(ring::default_provider().into());
    let builder = builder.with_safe_default_protocol_versions().expect("versions");
    let tls = builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth();
    Client::builder().tls_backend_preconfigured(tls).no_proxy().build().expect("a client")
}

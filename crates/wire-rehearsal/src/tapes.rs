//! Decides how a conversation of two requests is recorded, kept, and replayed to the same outcome.
//!
//! Knows the values of the model port; nothing of any API. `BLESS_TAPES=1` keeps what was recorded.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use model_wire::{Recorder, Replay, Tape};
use runtime_ports::{
    ModelContent, ModelMessage, ModelRequest, ModelResponse, ModelRole, ModelSession,
    ModelToolDefinition, PortFailure, ToolSet, Transcript,
};
use serde_json::json;

use crate::{
    asking::operation,
    loopback::{Act, Loopback},
};

/// The address in tapes that are kept.
pub const KEPT: &str = "http://127.0.0.1:9/v1";

/// The key of a session that records, which no tape may hold; a replay has none.
pub const KEY: &str = "sk-canary-5f1c";

/// What is said, and what comes of it.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// The name of its tape.
    pub name: &'static str,
    /// What the server replies to each request.
    pub replies: Vec<Vec<Act>>,
    /// The outcomes of both requests, in one line.
    pub expected: &'static str,
}

/// Where the tapes of an adapter are kept, and how its sessions are made.
#[derive(Debug, Clone)]
pub struct Tapes<Open> {
    /// The folder.
    pub folder: PathBuf,
    /// The model that is asked.
    pub model: &'static str,
    /// Makes a session for a base URL. One that records has [`KEY`] for its key.
    pub open: Open,
}

impl<S: ModelSession, Open: Fn(&str, Tape) -> S> Tapes<Open> {
    /// Records `conversation` against a scripted server and replays the recording twice, under the
    /// same identities and under others.
    ///
    /// # Panics
    /// When an outcome is not the expected one, or the tape holds the key.
    pub async fn record(&self, conversation: &Conversation) {
        let server = Loopback::start(conversation.replies.clone()).await;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tape.jsonl");
        let recorder = Recorder::create(&path).expect("a tape");
        let live = (self.open)(&server.base_url(), Tape::Record(Arc::clone(&recorder)));
        let said = self.converse(&live, "first").await;
        assert_eq!(said, conversation.expected, "{}", conversation.name);
        recorder.settled().await.expect("all is written");
        let text = text_of(&path).replace(&server.base_url(), KEPT);
        assert!(!text.contains("canary"), "{text}");
        for seed in ["first", "second"] {
            self.replayed(conversation, &text, seed).await;
        }
        if std::env::var_os("BLESS_TAPES").is_some() {
            keep(&self.kept(conversation.name), &text);
        }
    }

    /// Replays the tape of `conversation` that is kept.
    ///
    /// # Panics
    /// When there is none, or the outcome is not the expected one.
    pub async fn replay(&self, conversation: &Conversation) {
        let text = text_of(&self.kept(conversation.name));
        self.replayed(conversation, &text, "another").await;
    }

    fn kept(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.jsonl"))
    }

    async fn replayed(&self, conversation: &Conversation, text: &str, seed: &str) {
        let replay = Replay::of_bytes(text.as_bytes()).expect("a good tape");
        let again = (self.open)(KEPT, Tape::Replay(Arc::clone(&replay)));
        let said = self.converse(&again, seed).await;
        assert_eq!(said, conversation.expected, "{} replayed", conversation.name);
        assert!(replay.unused().is_empty(), "{:?}", replay.unused());
    }

    /// Two requests: a task, and the results of the calls.
    async fn converse(&self, session: &S, seed: &str) -> String {
        let mut messages = vec![ModelMessage::text(ModelRole::User, format!("call ping; {KEY}"))];
        let first = match self.ask(session, seed, &messages).await {
            Ok(first) => first,
            Err(failure) => return failed(&failure),
        };
        let (said, results) = (line(&first), results(&first));
        messages.push(ModelMessage { role: ModelRole::Assistant, content: first.output });
        messages.push(ModelMessage { role: ModelRole::Tool, content: results });
        match self.ask(session, seed, &messages).await {
            Ok(second) => format!("{said} | {}", line(&second)),
            Err(failure) => format!("{said} | {}", failed(&failure)),
        }
    }

    async fn ask(
        &self,
        session: &S,
        seed: &str,
        messages: &[ModelMessage],
    ) -> Result<ModelResponse, PortFailure> {
        let ping = ModelToolDefinition {
            name: "ping".to_owned(),
            description: "answers pong".to_owned(),
            input_schema: json!({ "type": "object", "properties": {} }),
        };
        let request = ModelRequest {
            invocation_id: format!("{seed}-{}", messages.len()).into(),
            model: self.model.into(),
            messages: Transcript::from(messages.to_vec()),
            tools: ToolSet::new(vec![ping]),
            max_output_tokens: Some(64),
            options: Arc::default(),
        };
        session.invoke(&operation(Duration::from_secs(20)), request).await
    }
}

fn text_of(path: &PathBuf) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn keep(path: &PathBuf, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a tape is kept");
}

fn results(response: &ModelResponse) -> Vec<ModelContent> {
    let results = response.output.iter().filter_map(|content| match content {
        ModelContent::ToolUse { id, name, .. } => Some(ModelContent::ToolResult {
            tool_use_id: id.clone(),
            name: name.clone(),
            content: format!("pong of {id}"),
            failed: false,
        }),
        _ => None,
    });
    results.collect()
}

fn line(response: &ModelResponse) -> String {
    let pieces = response.output.iter().map(|content| match content {
        ModelContent::Text { text } => format!("{text:?}"),
        ModelContent::ToolUse { name, arguments, .. } => format!("{name}{arguments}"),
        ModelContent::Reasoning { text, .. } => format!("({text})"),
        other => format!("{other:?}"),
    });
    let pieces: Vec<String> = pieces.collect();
    let after = match response.attempts.len() {
        1 => String::new(),
        count => format!(" after {count}"),
    };
    format!("{:?} {}{after}", response.finish, pieces.join(" "))
}

fn failed(failure: &PortFailure) -> String {
    let wait = failure.retry_after.map_or_else(String::new, |wait| format!(" in {wait:?}"));
    format!("{:?} {}{wait}", failure.kind, failure.code)
}

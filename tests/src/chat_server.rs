//! Decides how the smallest model server answers: any request, one streamed text, over loopback.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// A server of Chat Completions that gives one answer to whatever it is asked. It ends with its
/// handle.
#[derive(Debug)]
pub struct ChatServer {
    address: SocketAddr,
    seen: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl ChatServer {
    /// Starts a server that answers with `text`.
    ///
    /// # Errors
    /// When no loopback port is to be had.
    pub async fn answering(text: &str) -> io::Result<Self> {
        Self::serving(Some(stream_of(text))).await
    }

    /// Starts a server that answers with these frames, in the words of whatever API they are.
    ///
    /// # Errors
    /// When no loopback port is to be had.
    pub async fn streaming(frames: &[&str]) -> io::Result<Self> {
        let events = frames.iter().map(|frame| format!("data: {frame}\n\n"));
        Self::serving(Some(events.collect())).await
    }

    /// Starts a server that takes each request whole, then closes the connection without a word.
    ///
    /// # Errors
    /// When no loopback port is to be had.
    pub async fn hanging_up() -> io::Result<Self> {
        Self::serving(None).await
    }

    async fn serving(body: Option<String>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let (address, seen) = (listener.local_addr()?, Arc::new(AtomicUsize::new(0)));
        let counter = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                // One client is served after the other; that it went away is its own business.
                let _ = answer(connection, body.as_deref(), &counter).await;
            }
        });
        Ok(Self { address, seen, task })
    }

    /// Requests that arrived whole.
    #[must_use]
    pub fn requests_seen(&self) -> usize {
        self.seen.load(Ordering::SeqCst)
    }

    /// Where it is, as a client wants it.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

impl Drop for ChatServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn stream_of(text: &str) -> String {
    let frame = |delta, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        format!("data: {}\n\n", json!({ "id": "chat-1", "model": "m", "choices": [choice] }))
    };
    let usage = json!({ "prompt_tokens": 9, "completion_tokens": 3 });
    let usage = json!({ "id": "chat-1", "model": "m", "choices": [], "usage": usage });
    let (said, ended) = (frame(json!({ "content": text }), None), frame(json!({}), Some("stop")));
    format!("{said}{ended}data: {usage}\n\ndata: [DONE]\n\n")
}

async fn answer(connection: TcpStream, body: Option<&str>, seen: &AtomicUsize) -> io::Result<()> {
    let mut connection = BufReader::new(connection);
    read_request(&mut connection).await?;
    seen.fetch_add(1, Ordering::SeqCst);
    let Some(body) = body else { return Ok(()) };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    let response = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    connection.write_all(response.as_bytes()).await?;
    connection.shutdown().await
}

async fn read_request(connection: &mut BufReader<TcpStream>) -> io::Result<()> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        connection.read_line(&mut line).await?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    connection.read_exact(&mut vec![0; length]).await.map(drop)
}

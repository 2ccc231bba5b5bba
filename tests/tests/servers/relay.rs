//! Decides what is seen of the requests to a server: a relay before it notes their bodies, and who
//! goes away before the answer is complete.
//!
//! Bytes pass unchanged, but for the one header that makes each connection carry one request.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use port_conformance::model::ProviderView;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

/// A relay before one server.
pub(crate) struct Relay {
    address: SocketAddr,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    bodies: Mutex<Vec<String>>,
    abandoned: AtomicUsize,
}

impl Relay {
    /// A relay to the server at `base`.
    pub(crate) async fn to(base: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let (seen, server) = (Arc::new(Seen::default()), crate::control::host(base).to_owned());
        let task = tokio::spawn(accept(listener, server, Arc::clone(&seen)));
        Self { address, seen, task }
    }

    /// Scheme, host and port.
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ProviderView for Relay {
    fn requests_seen(&self) -> usize {
        self.seen.bodies.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn request_text(&self, index: usize) -> Option<String> {
        self.seen.bodies.lock().unwrap_or_else(PoisonError::into_inner).get(index).cloned()
    }

    fn abandoned(&self) -> usize {
        self.seen.abandoned.load(Ordering::SeqCst)
    }
}

async fn accept(listener: TcpListener, server: String, seen: Arc<Seen>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(carry(stream, server.clone(), Arc::clone(&seen)));
    }
}

async fn carry(mut caller: TcpStream, server: String, seen: Arc<Seen>) {
    let Some((head, body)) = request(&mut caller).await else { return };
    let text = String::from_utf8_lossy(&body).into_owned();
    seen.bodies.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    let Ok(mut server) = TcpStream::connect(server).await else { return };
    let mut lines = head.trim_end().lines();
    let mut passed = format!("{}\r\nconnection: close\r\n", lines.next().unwrap_or_default());
    for line in lines.filter(|line| !line.to_lowercase().starts_with("connection:")) {
        passed.push_str(&format!("{line}\r\n"));
    }
    let sent = server.write_all(format!("{passed}\r\n").as_bytes()).await;
    if sent.is_ok() && server.write_all(&body).await.is_ok() {
        carry_back(&mut caller, &mut server, &seen).await;
    }
}

async fn carry_back(caller: &mut TcpStream, server: &mut TcpStream, seen: &Seen) {
    let (mut answer, mut more) = ([0; 16 * 1024], [0; 64]);
    let mut head = Some(Vec::new());
    loop {
        let passed = tokio::select! {
            read = server.read(&mut answer) => match read {
                Ok(count) if count > 0 => {
                    let bytes = closing(&mut head, &answer[..count]);
                    caller.write_all(&bytes).await.is_ok()
                }
                _ => {
                    let _ = caller.shutdown().await;
                    return;
                }
            },
            read = caller.read(&mut more) => matches!(read, Ok(count) if count > 0),
        };
        if !passed {
            seen.abandoned.fetch_add(1, Ordering::SeqCst);
            return;
        }
    }
}

/// The bytes as they are, but that the head says that the connection ends with the answer.
fn closing(head: &mut Option<Vec<u8>>, bytes: &[u8]) -> Vec<u8> {
    let Some(held) = head else { return bytes.to_vec() };
    held.extend_from_slice(bytes);
    let Some(end) = held.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Vec::new();
    };
    let lines = String::from_utf8_lossy(&held[..end]).into_owned();
    let stays = |line: &&str| {
        let line = line.to_lowercase();
        !line.starts_with("connection:") && !line.starts_with("keep-alive:")
    };
    let lines: Vec<&str> = lines.split("\r\n").filter(stays).collect();
    let mut passed = format!("{}\r\nconnection: close", lines.join("\r\n")).into_bytes();
    passed.extend_from_slice(&held[end..]);
    *head = None;
    passed
}

/// Head and body of a request.
async fn request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        read_more(stream, &mut bytes).await?;
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    while bytes.len() < end + length.unwrap_or(0) {
        read_more(stream, &mut bytes).await?;
    }
    Some((head, bytes.split_off(end)))
}

async fn read_more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut chunk = [0; 16 * 1024];
    let count = stream.read(&mut chunk).await.ok()?;
    bytes.extend_from_slice(&chunk[..count]);
    (count > 0).then_some(())
}

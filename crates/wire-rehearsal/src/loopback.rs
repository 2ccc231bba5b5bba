//! Decides what a server on this machine does with the requests that it gets: exactly what a
//! script says, byte by byte, over real TCP.
//!
//! Knows no API. Requests are read as HTTP/1.1 with a length; replies are whatever the script
//! sends. Invariant: reply number n goes to the nth request that arrives, on whichever connection.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::{sleep, timeout},
};

pub use crate::playing::events;

/// One step of a reply.
#[derive(Debug, Clone)]
pub enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes in pieces of this many, each in a packet of its own.
    Trickle(Vec<u8>, usize),
    /// Waits.
    Pause(Duration),
    /// Sends this again and again, until the peer goes away.
    Repeat(Vec<u8>, Duration),
    /// Stays silent until the peer goes away.
    Hang,
    /// Closes the connection in good order.
    Close,
    /// Resets the connection.
    Reset,
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Request line and headers.
    pub head: String,
    /// The body.
    pub body: String,
}

/// The server.
#[derive(Debug)]
pub struct Loopback {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    replies: Vec<Vec<Act>>,
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
    abandoned: AtomicUsize,
}

impl Loopback {
    /// Listens on a free port. A request beyond the last reply is counted and not answered.
    pub async fn start(replies: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let shared = Arc::new(Shared {
            replies,
            seen: Mutex::default(),
            connections: AtomicUsize::new(0),
            abandoned: AtomicUsize::new(0),
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Self { address, shared, task }
    }

    /// The base URL for a session.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Requests whose caller went away before their reply was complete.
    pub fn abandoned(&self) -> usize {
        self.shared.abandoned.load(Ordering::SeqCst)
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        shared.connections.fetch_add(1, Ordering::SeqCst);
        connections.spawn(serve(stream, Arc::clone(&shared)));
    }
}

async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    // Small packets shall leave at once: the tests are about where packets end.
    stream.set_nodelay(true).expect("a tcp stream takes the option");
    while let Some(request) = read_request(&mut stream).await {
        let number = {
            let mut seen = shared.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push(request);
            seen.len() - 1
        };
        let Some(reply) = shared.replies.get(number) else { return };
        match play(&mut stream, reply).await {
            Played::Through => {}
            Played::Closed => return,
            Played::Abandoned => {
                shared.abandoned.fetch_add(1, Ordering::SeqCst);
                return;
            }
        }
    }
}

enum Played {
    Through,
    Closed,
    Abandoned,
}

async fn play(stream: &mut TcpStream, acts: &[Act]) -> Played {
    for act in acts {
        let sent = match act {
            Act::Send(bytes) => stream.write_all(bytes).await,
            Act::Trickle(bytes, size) => trickle(stream, bytes, *size).await,
            Act::Repeat(bytes, every) => repeat(stream, bytes, *every).await,
            Act::Pause(wait) => {
                sleep(*wait).await;
                Ok(())
            }
            Act::Hang => {
                until_gone(stream).await;
                return Played::Abandoned;
            }
            Act::Close => {
                let _ = stream.shutdown().await;
                return Played::Closed;
            }
            Act::Reset => {
                stream.set_zero_linger().expect("a tcp stream takes the option");
                return Played::Closed;
            }
        };
        if sent.is_err() {
            return Played::Abandoned;
        }
    }
    Played::Through
}

async fn trickle(stream: &mut TcpStream, bytes: &[u8], size: usize) -> std::io::Result<()> {
    for piece in bytes.chunks(size) {
        stream.write_all(piece).await?;
        tokio::task::yield_now().await;
    }
    Ok(())
}

async fn repeat(stream: &mut TcpStream, bytes: &[u8], every: Duration) -> std::io::Result<()> {
    loop {
        stream.write_all(bytes).await?;
        sleep(every).await;
    }
}

async fn until_gone(stream: &mut TcpStream) {
    let mut sink = [0; 256];
    while matches!(stream.read(&mut sink).await, Ok(count) if count > 0) {}
}

async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        read_more(stream, &mut bytes).await?;
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let length = content_length(&head);
    while bytes.len() < head_end + length {
        read_more(stream, &mut bytes).await?;
    }
    let body = String::from_utf8_lossy(&bytes[head_end..]).into_owned();
    Some(Seen { head, body })
}

async fn read_more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut chunk = [0; 16 * 1024];
    let patience = Duration::from_secs(30);
    let count = timeout(patience, stream.read(&mut chunk)).await.ok()?.ok()?;
    bytes.extend_from_slice(&chunk[..count]);
    (count > 0).then_some(())
}

fn content_length(head: &str) -> usize {
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    length.unwrap_or(0)
}

/// A reply with a length.
pub fn reply(status: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let length = body.len().to_string();
    let mut head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{head}\r\n{body}").into_bytes()
}

/// A reply with a JSON body.
pub fn json(status: &str, body: &str) -> Vec<Act> {
    vec![Act::Send(reply(status, &[("content-type", "application/json")], body))]
}

/// The head of a stream of events.
pub fn stream_head(headers: &[(&str, &str)]) -> Vec<u8> {
    let mut head = String::from(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n",
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    head.into_bytes()
}

/// Bytes as one chunk of a body.
pub fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
    framed.extend_from_slice(bytes);
    framed.extend_from_slice(b"\r\n");
    framed
}

/// The end of a body in chunks.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// A whole stream in one chunk.
pub fn stream(body: &[u8]) -> Vec<Act> {
    vec![Act::Send(stream_head(&[])), Act::Send(chunk(body)), Act::Send(LAST_CHUNK.to_vec())]
}

/// A stream that begins with these events, each in a packet of its own, and goes on with `acts`.
pub fn begun(data: &[&str], acts: &[Act]) -> Vec<Act> {
    let events = data.iter().map(|data| Act::Send(chunk(&events(&[data]))));
    let head = [Act::Send(stream_head(&[]))];
    head.into_iter().chain(events).chain(acts.iter().cloned()).collect()
}

/// An address that refuses connections.
pub async fn refusing_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    listener.local_addr().expect("a bound address")
}

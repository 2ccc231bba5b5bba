//! Decides what the other side does: it reads each request to its end and answers with one tool
//! call, in threads of its own.
//!
//! Knows nothing about what is asked. A connection that does not begin with `POST` is raw: a length
//! of eight bytes, as many bytes, and one byte as the answer, again and again.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

/// Events of a Chat Completions answer.
const CHAT: &str = concat!(
    r#"data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call-1","type":"function","function":{"name":"tool_1","arguments":""}}]}}]}"#,
    "\n\n",
    r#"data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"notes/today.md\"}"}}]}}]}"#,
    "\n\n",
    r#"data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    "\n\n",
    r#"data: {"id":"c1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}"#,
    "\n\ndata: [DONE]\n\n",
);

/// Events of a Responses answer.
const RESPONSES: &str = concat!(
    r#"data: {"type":"response.created","response":{"id":"r1","status":"in_progress","output":[]}}"#,
    "\n\n",
    r#"data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f1","call_id":"call-1","name":"tool_1","arguments":"","status":"in_progress"}}"#,
    "\n\n",
    r#"data: {"type":"response.function_call_arguments.delta","output_index":0,"item_id":"f1","delta":"{\"path\":\"notes/today.md\"}"}"#,
    "\n\n",
    r#"data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"f1","call_id":"call-1","name":"tool_1","arguments":"{\"path\":\"notes/today.md\"}","status":"completed"}}"#,
    "\n\n",
    r#"data: {"type":"response.completed","response":{"id":"r1","status":"completed","output":[{"type":"function_call","id":"f1","call_id":"call-1","name":"tool_1","arguments":"{\"path\":\"notes/today.md\"}","status":"completed"}],"usage":{"input_tokens":9,"output_tokens":9,"total_tokens":18}}}"#,
    "\n\n",
);

/// A server on this machine. It serves until the process ends.
pub(crate) struct Server {
    address: SocketAddr,
    last_body: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let last_body = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&last_body);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let seen = Arc::clone(&seen);
                // A client that goes away ends its connection, and nothing else.
                thread::spawn(move || serve(stream, &seen).ok());
            }
        });
        Self { address, last_body }
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Bytes of the body of the last HTTP request.
    pub(crate) fn last_body(&self) -> usize {
        self.last_body.load(Relaxed)
    }
}

/// What announces `length` bytes on a raw connection.
pub(crate) fn raw_head(length: usize) -> [u8; 8] {
    (length as u64).to_be_bytes()
}

fn serve(stream: TcpStream, last_body: &AtomicUsize) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::with_capacity(1 << 16, stream);
    while !reader.fill_buf()?.is_empty() {
        if reader.fill_buf()?[0] == b'P' {
            let (length, reply) = read_head(&mut reader)?;
            skip(&mut reader, length)?;
            last_body.store(usize::try_from(length).unwrap_or(0), Relaxed);
            writer.write_all(answer(reply).as_bytes())?;
        } else {
            let mut head = [0; 8];
            reader.read_exact(&mut head)?;
            skip(&mut reader, u64::from_be_bytes(head))?;
            writer.write_all(&[0])?;
        }
    }
    Ok(())
}

/// Length of the body, and the events that answer it.
fn read_head(reader: &mut impl BufRead) -> io::Result<(u64, &'static str)> {
    let (mut length, mut reply) = (0, CHAT);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.starts_with("post /v1/responses") {
            reply = RESPONSES;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        if line.is_empty() {
            return Ok((length, reply));
        }
    }
}

fn skip(reader: &mut impl Read, length: u64) -> io::Result<()> {
    io::copy(&mut reader.take(length), &mut io::sink()).map(drop)
}

fn answer(events: &str) -> String {
    let length = events.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n{events}"
    )
}

//! Decides what the other side does: it reads each request to its end and streams what its path
//! asks for, in threads of its own.
//!
//! Knows nothing about what is asked beyond the path: `/MODE/DELTAS/chat/completions`.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

/// Between two writes that shall arrive one by one.
const PAUSE: Duration = Duration::from_micros(20);
/// Before the first delta, so that its reader waits for it.
const SILENCE: Duration = Duration::from_millis(2);
const LINE_BYTES: usize = 32 * 1024 * 1024;

const END: &str = concat!(
    r#"data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    "\n\n",
    r#"data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}"#,
    "\n\ndata: [DONE]\n\n",
);
const DELTA: &str = concat!(
    r#"data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"abcd"},"finish_reason":null}]}"#,
    "\n\n",
);

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// All events at once.
    Burst,
    /// All events at once, each in a chunk of its own.
    Chunks,
    /// Each event in a write of its own.
    OneByOne,
    /// One line that does not end.
    Line,
    /// The first delta after a silence.
    First,
}

impl Mode {
    const ALL: [Self; 5] = [Self::Burst, Self::Chunks, Self::OneByOne, Self::Line, Self::First];

    const fn word(self) -> &'static str {
        match self {
            Self::Burst => "burst",
            Self::Chunks => "chunks",
            Self::OneByOne => "one-by-one",
            Self::Line => "line",
            Self::First => "first",
        }
    }
}

/// A server on this machine. It serves until the process ends.
pub(crate) struct Provider {
    address: SocketAddr,
    first_written: Arc<Mutex<Option<Instant>>>,
}

impl Provider {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let first_written = Arc::<Mutex<_>>::default();
        let seen = Arc::clone(&first_written);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let seen = Arc::clone(&seen);
                // A client that goes away ends its connection, and nothing else.
                thread::spawn(move || serve(stream, &seen).ok());
            }
        });
        Self { address, first_written }
    }

    /// Where an answer of `deltas` deltas is served in `mode`.
    pub(crate) fn base_url(&self, mode: Mode, deltas: usize) -> String {
        format!("http://{}/{}/{deltas}", self.address, mode.word())
    }

    /// When the first delta of the last answer was written.
    pub(crate) fn first_written(&self) -> Instant {
        self.first_written.lock().expect("no panic").expect("an answer was asked for")
    }
}

fn serve(stream: TcpStream, first_written: &Mutex<Option<Instant>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::with_capacity(1 << 16, stream);
    while !reader.fill_buf()?.is_empty() {
        let (length, mode, deltas) = read_head(&mut reader)?;
        io::copy(&mut (&mut reader).take(length), &mut io::sink())?;
        match mode {
            Mode::Burst => writer.write_all(&burst(deltas))?,
            Mode::Chunks => writer.write_all(&chunks(deltas))?,
            Mode::OneByOne => one_by_one(&mut writer, deltas)?,
            Mode::Line => line(&mut writer)?,
            Mode::First => first(&mut writer, first_written)?,
        }
    }
    Ok(())
}

fn read_head(reader: &mut impl BufRead) -> io::Result<(u64, Mode, usize)> {
    let (mut length, mut mode, mut deltas) = (0, Mode::Burst, 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(path) = line.strip_prefix("post /") {
            let mut parts = path.split('/');
            let word = parts.next().unwrap_or_default();
            mode = Mode::ALL.into_iter().find(|mode| mode.word() == word).expect("a known path");
            deltas = parts.next().unwrap_or_default().parse().map_err(io::Error::other)?;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        if line.is_empty() {
            return Ok((length, mode, deltas));
        }
    }
}

fn head(length: usize) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n"
    )
}

fn burst(deltas: usize) -> Vec<u8> {
    let head = head(deltas * DELTA.len() + END.len());
    [head.as_str(), &DELTA.repeat(deltas), END].concat().into_bytes()
}

fn chunks(deltas: usize) -> Vec<u8> {
    let chunk = |event: &str| format!("{:x}\r\n{event}\r\n", event.len());
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                transfer-encoding: chunked\r\n\r\n";
    [head, &chunk(DELTA).repeat(deltas), &chunk(END), "0\r\n\r\n"].concat().into_bytes()
}

fn one_by_one(writer: &mut impl Write, deltas: usize) -> io::Result<()> {
    writer.write_all(head(deltas * DELTA.len() + END.len()).as_bytes())?;
    for _ in 0..deltas {
        writer.write_all(DELTA.as_bytes())?;
        thread::sleep(PAUSE);
    }
    writer.write_all(END.as_bytes())
}

fn line(writer: &mut impl Write) -> io::Result<()> {
    writer.write_all(head(LINE_BYTES).as_bytes())?;
    writer.write_all(b"data: ")?;
    let part = vec![b'x'; 1 << 16];
    for _ in 0..LINE_BYTES / part.len() {
        writer.write_all(&part)?;
    }
    Ok(())
}

fn first(writer: &mut impl Write, first_written: &Mutex<Option<Instant>>) -> io::Result<()> {
    writer.write_all(head(DELTA.len() + END.len()).as_bytes())?;
    thread::sleep(SILENCE);
    *first_written.lock().expect("no panic") = Some(Instant::now());
    writer.write_all(DELTA.as_bytes())?;
    thread::sleep(SILENCE);
    writer.write_all(END.as_bytes())
}

//! Decides how the other side of the wire behaves: one scripted reply after the other, over TCP.
//!
//! Knows Chat Completions as bytes. Invariant: a reply that nobody asked for, and a request without
//! a reply, fail the test.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::output::LIMIT;

/// What a request gets.
pub(crate) enum Reply {
    /// A stream, and how it goes on after its last piece.
    Stream(String, End),
    /// Another status than 200.
    Status(u16, &'static str, String),
    /// Nothing at all, not even a head.
    Silence,
}

/// What follows the last piece of a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Finished,
    Stalls,
    Cut,
    /// After its first frame it waits until it is told to go on.
    Pauses,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// A server that ends with its test.
pub(crate) struct ModelServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    replies: VecDeque<Reply>,
    models: Vec<String>,
    requests: Vec<Request>,
    listings: Vec<String>,
    unexpected: usize,
    goes_on: bool,
    lists_when_told: bool,
}

impl Reply {
    /// An answer in words, with usage.
    pub(crate) fn text(text: &str) -> Self {
        Self::Stream(pieces(text) + &end("stop"), End::Finished)
    }

    /// The beginning of an answer, then nothing more.
    pub(crate) fn stall_after(text: &str) -> Self {
        Self::Stream(pieces(text), End::Stalls)
    }

    /// An answer whose rest comes when the server is told to go on.
    pub(crate) fn pausing_after(text: &str, rest: &str) -> Self {
        let first = frame(json!({ "content": text }), None);
        Self::Stream(first + &pieces(rest) + &end("stop"), End::Pauses)
    }

    /// An answer that begins when the server is told to go on.
    pub(crate) fn pausing_before(reply: Self) -> Self {
        match reply {
            Self::Stream(frames, _) => Self::Stream(format!(": wait\n\n{frames}"), End::Pauses),
            other => other,
        }
    }

    /// The beginning of an answer, then a closed connection.
    pub(crate) fn cut_after(text: &str) -> Self {
        Self::Stream(pieces(text), End::Cut)
    }

    /// A call of a tool.
    pub(crate) fn call(tool: &str, arguments: Value) -> Self {
        Self::remark_and_call("", tool, arguments)
    }

    /// A remark, then a call.
    pub(crate) fn remark_and_call(remark: &str, tool: &str, arguments: Value) -> Self {
        Self::raw_call(remark, tool, &arguments.to_string())
    }

    /// A call as the provider wrote it.
    pub(crate) fn raw_call(remark: &str, tool: &str, arguments: &str) -> Self {
        Self::raw_calls(remark, &[(tool, arguments.to_owned())])
    }

    /// Several calls in one answer.
    pub(crate) fn calls(calls: &[(&str, Value)]) -> Self {
        let calls: Vec<_> =
            calls.iter().map(|(tool, arguments)| (*tool, arguments.to_string())).collect();
        Self::raw_calls("", &calls)
    }

    fn raw_calls(remark: &str, calls: &[(&str, String)]) -> Self {
        let mut frames = pieces(remark);
        for (index, (tool, arguments)) in calls.iter().enumerate() {
            let id = format!("call-{}", index + 1);
            let function = json!({ "name": tool, "arguments": arguments });
            let call =
                json!({ "index": index, "id": id, "type": "function", "function": function });
            frames += &frame(json!({ "tool_calls": [call] }), None);
        }
        Self::Stream(frames + &end("tool_calls"), End::Finished)
    }

    /// Reasoning before an answer.
    pub(crate) fn reasoned(reasoning: &str, text: &str) -> Self {
        let thought = frame(json!({ "reasoning_content": reasoning }), None);
        match Self::text(text) {
            Self::Stream(stream, end) => Self::Stream(thought + &stream, end),
            other => other,
        }
    }

    /// An error of the provider.
    pub(crate) fn error(status: u16, code: &str, message: &str) -> Self {
        let error = json!({ "error": { "message": message, "type": code, "code": code } });
        Self::Status(status, "", error.to_string())
    }
}

/// One frame a word, as servers stream.
fn pieces(text: &str) -> String {
    let words = text.split_inclusive(' ').filter(|word| !word.is_empty());
    words.map(|word| frame(json!({ "content": word }), None)).collect()
}

/// The last frames of a stream, usage among them.
fn end(finish: &str) -> String {
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5 });
    let usage = json!({ "id": "c-1", "model": "m", "choices": [], "usage": usage });
    format!("{}data: {usage}\n\ndata: [DONE]\n\n", frame(json!({}), Some(finish)))
}

fn frame(delta: Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    format!("data: {}\n\n", json!({ "id": "c-1", "model": "m", "choices": [choice] }))
}

impl ModelServer {
    /// A server that plays these replies.
    pub(crate) fn playing(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let replies = replies.into_iter().collect();
        let state = Arc::new(Mutex::new(State { replies, ..State::default() }));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(connection, &state));
            }
        });
        Self { address, state }
    }

    /// The same, listing these models.
    pub(crate) fn listing(self, models: &[&str]) -> Self {
        self.state.lock().unwrap().models = models.iter().map(|&name| name.to_owned()).collect();
        self
    }

    /// The same, but the list comes when the server is told to go on.
    pub(crate) fn when_told(self) -> Self {
        self.state.lock().unwrap().lists_when_told = true;
        self
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Ends a pause.
    pub(crate) fn go_on(&self) {
        self.state.lock().unwrap().goes_on = true;
    }

    /// The requests for an answer, so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap().requests.clone()
    }

    /// The heads of the requests for a list of models, so far.
    pub(crate) fn listings(&self) -> Vec<String> {
        self.state.lock().unwrap().listings.clone()
    }

    /// Waits until so many requests came.
    pub(crate) fn until_requests(&self, count: usize) {
        let until = Instant::now() + LIMIT;
        while self.requests().len() < count {
            assert!(Instant::now() < until, "waited in vain for request {count}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if !thread::panicking() {
            let state = self.state.lock().unwrap();
            assert_eq!(state.replies.len(), 0, "replies that nobody asked for");
            assert_eq!(state.unexpected, 0, "requests without a reply");
        }
    }
}

fn serve(connection: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(connection);
    while let Some(request) = read_request(&mut reader) {
        let connection = reader.get_mut();
        let goes_on = match request.head.starts_with("GET /v1/models ") {
            true => {
                let mut held = state.lock().unwrap();
                held.listings.push(request.head);
                let (models, waits) = (held.models.clone(), held.lists_when_told);
                drop(held);
                if waits {
                    until_told(state);
                }
                let list: Vec<_> = models.iter().map(|id| json!({ "id": id })).collect();
                respond(connection, 200, "", &json!({ "data": list }).to_string())
            }
            false => {
                let reply = next_reply(state, request);
                answer(connection, reply, &|| until_told(state))
            }
        };
        if !goes_on {
            return;
        }
    }
}

fn next_reply(state: &Mutex<State>, request: Request) -> Reply {
    let mut state = state.lock().unwrap();
    state.requests.push(request);
    state.replies.pop_front().unwrap_or_else(|| {
        state.unexpected += 1;
        Reply::error(400, "unscripted", "no reply is left")
    })
}

/// Whether the connection can be used again.
fn answer(connection: &mut TcpStream, reply: Reply, pause: &dyn Fn()) -> bool {
    match reply {
        Reply::Status(status, headers, body) => respond(connection, status, headers, &body),
        Reply::Silence => wait_for_the_end(connection),
        Reply::Stream(frames, end) => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                        transfer-encoding: chunked\r\n\r\n";
            let mut sent = connection.write_all(head.as_bytes()).is_ok();
            for (place, frame) in frames.split_inclusive("\n\n").enumerate() {
                if place == 1 && end == End::Pauses {
                    pause();
                }
                let chunk = format!("{:x}\r\n{frame}\r\n", frame.len());
                sent = sent && connection.write_all(chunk.as_bytes()).is_ok();
            }
            match end {
                End::Finished | End::Pauses => sent && connection.write_all(b"0\r\n\r\n").is_ok(),
                End::Stalls => wait_for_the_end(connection),
                End::Cut => false,
            }
        }
    }
}

fn until_told(state: &Mutex<State>) {
    let until = Instant::now() + LIMIT;
    while !state.lock().unwrap().goes_on && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
}

fn respond(connection: &mut TcpStream, status: u16, headers: &str, body: &str) -> bool {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Told\r\ncontent-type: application/json\r\n{headers}\
         content-length: {length}\r\n\r\n{body}"
    );
    connection.write_all(head.as_bytes()).is_ok()
}

/// The client hangs up some time.
fn wait_for_the_end(connection: &mut TcpStream) -> bool {
    let _ = connection.read(&mut [0; 64]);
    false
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut head = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim_end().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Request { head, body })
}

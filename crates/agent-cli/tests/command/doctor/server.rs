//! Decides how a server behaves that is examined: well, but for its temper.
//!
//! Knows Chat Completions and Responses as bytes, the other APIs by a file of their own, and answers
//! by what it is asked.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::vendors;
use crate::output::LIMIT;

/// In what a server departs.
#[derive(Clone)]
pub(crate) struct Temper {
    /// All calls of an answer have this index.
    pub(crate) index_zero: bool,
    pub(crate) usage: bool,
    /// Refuses what has one of these in it.
    pub(crate) refuses: &'static [&'static str],
    /// Cuts prompts to so many tokens; others are refused.
    pub(crate) cuts_to: Option<u64>,
    /// Whether a tool can be named.
    pub(crate) named: bool,
    /// Takes no other ids back.
    pub(crate) nine_letters: bool,
    /// A web page for everything.
    pub(crate) page: bool,
    /// The key that it wants.
    pub(crate) key: Option<&'static str>,
    pub(crate) models: &'static [&'static str],
    /// Answers nothing but the list of its models.
    pub(crate) silent: bool,
    /// The APIs that it has, by their paths.
    pub(crate) speaks: &'static [&'static str],
    /// What it says of a picture.
    pub(crate) colour: &'static str,
}

impl Default for Temper {
    fn default() -> Self {
        Self {
            index_zero: false,
            usage: true,
            refuses: &[],
            cuts_to: None,
            named: true,
            nine_letters: false,
            page: false,
            key: None,
            models: &["m"],
            silent: false,
            speaks: &["/chat", "/responses"],
            colour: "Red.",
        }
    }
}

#[derive(Default)]
struct Log {
    heads: String,
    bodies: Vec<Value>,
}

/// A server that ends with its test.
pub(crate) struct DoctorServer {
    address: SocketAddr,
    log: Arc<Mutex<Log>>,
}

impl DoctorServer {
    pub(crate) fn start(temper: Temper) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::new(Mutex::new(Log::default()));
        let shared = Arc::clone(&log);
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let (log, temper) = (Arc::clone(&shared), temper.clone());
                thread::spawn(move || serve(connection, &temper, &log));
            }
        });
        Self { address, log }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn requests(&self) -> usize {
        self.log.lock().unwrap().bodies.len()
    }

    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.log.lock().unwrap().bodies.clone()
    }

    pub(crate) fn heads(&self) -> String {
        self.log.lock().unwrap().heads.clone()
    }

    pub(crate) fn until_requests(&self, count: usize) {
        let until = Instant::now() + LIMIT;
        while self.requests() < count {
            assert!(Instant::now() < until, "waited in vain for request {count}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// What the model says.
pub(super) enum Said {
    Text(String, &'static str),
    Calls(Vec<(&'static str, Value)>),
    /// Until nobody listens.
    Endless,
}

fn serve(connection: TcpStream, temper: &Temper, log: &Mutex<Log>) {
    let mut reader = BufReader::new(connection);
    while let Some((head, body)) = read_request(&mut reader) {
        {
            let mut log = log.lock().unwrap();
            log.heads.push_str(&head);
            log.bodies.push(body.clone());
        }
        let connection = reader.get_mut();
        let goes_on = if temper.page {
            document(connection, 200, "text/html", "<!doctype html><title>Welcome</title>")
        } else if temper.key.is_some_and(|key| !head.contains(&format!("Bearer {key}"))) {
            refuse(connection, 401, "invalid_api_key", "Incorrect API key")
        } else if head.starts_with("GET ") {
            let list: Vec<Value> = temper.models.iter().map(|id| json!({ "id": id })).collect();
            let list = json!({ "data": list }).to_string();
            document(connection, 200, "application/json", &list)
        } else if temper.silent {
            let _ = connection.read(&mut [0; 64]);
            false
        } else if !temper.speaks.iter().any(|path| head.lines().next().unwrap().contains(path)) {
            refuse(connection, 404, "not_found", "no such path")
        } else {
            answer(connection, temper, &head, &body)
        };
        if !goes_on {
            return;
        }
    }
}

fn answer(connection: &mut TcpStream, temper: &Temper, head: &str, body: &Value) -> bool {
    let text = body.to_string();
    if let Some(field) = temper.refuses.iter().find(|field| text.contains(&format!("\"{field}"))) {
        let message = format!("Unsupported parameter: '{field}' is not supported");
        return refuse(connection, 400, "unsupported_parameter", &message);
    }
    if temper.nine_letters && text.contains("\"call_Kx") {
        return refuse(connection, 400, "invalid", "Tool call id must be a-z, A-Z, 0-9, length 9");
    }
    let words = text.split_whitespace().count() as u64;
    if words > 8_000 && temper.cuts_to.is_none() {
        let message = "This model's maximum context length is 8192 tokens. However, you requested \
                       10071 tokens";
        return refuse(connection, 400, "context_length_exceeded", message);
    }
    let said = reply(temper, body, &text);
    let counted = temper.cuts_to.map_or(words, |most| words.min(most));
    let usage = temper.usage.then_some(counted);
    if let Some(api) = vendors::of(head) {
        return vendors::answer(connection, api, body, &said, usage);
    }
    let responses = head.starts_with("POST /v1/responses");
    match (responses, body["stream"] == true) {
        (false, true) => {
            let asked = body["stream_options"]["include_usage"] == true;
            chat_stream(connection, temper, &said, usage.filter(|_| asked))
        }
        (false, false) => chat_document(connection, &said, usage),
        (true, true) => responses_stream(connection, &said, usage),
        (true, false) => {
            let whole = response(&said, usage, "resp_1").to_string();
            document(connection, 200, "application/json", &whole)
        }
    }
}

/// By the words of the question.
fn reply(temper: &Temper, body: &Value, text: &str) -> Said {
    let limit = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    let most = limit.iter().find_map(|name| body[*name].as_u64());
    let most = most.or(body["generationConfig"]["maxOutputTokens"].as_u64()).unwrap_or(u64::MAX);
    let results = ["\"role\":\"tool\"", "function_call_output", "tool_result", "functionResponse"];
    let has_result = results.iter().any(|mark| text.contains(mark));
    let chosen = &body["tool_choice"];
    let called = &body["toolConfig"]["functionCallingConfig"];
    let is_named = chosen["name"] == "ping"
        || chosen["function"]["name"] == "ping"
        || called["allowedFunctionNames"][0] == "ping";
    let is_required = chosen == "required"
        || chosen["type"] == "any"
        || (called["mode"] == "ANY" && called["allowedFunctionNames"].is_null());
    if text.contains("Which colour") {
        return Said::Text(temper.colour.to_owned(), "stop");
    }
    if has_result {
        return Said::Text("pong, sunny".to_owned(), "stop");
    }
    if text.contains("both at once") {
        let city = |name: &str| ("get_weather", json!({ "city": name }));
        return Said::Calls(vec![city("Paris"), city("Rome")]);
    }
    if text.contains("Call the tool ping") || is_required {
        return Said::Calls(vec![("ping", json!({}))]);
    }
    if is_named {
        return match temper.named {
            true => Said::Calls(vec![("ping", json!({}))]),
            false => Said::Text("It is cold in Oslo.".to_owned(), "stop"),
        };
    }
    match () {
        () if text.contains("Count from") && most <= 16 => {
            Said::Text("one\ntwo\nthree\nfour".to_owned(), "length")
        }
        () if text.contains("Count from") => Said::Endless,
        () if text.contains("sum of 17") => Said::Text(r#"{"sum":42}"#.to_owned(), "stop"),
        () if body["previous_response_id"] == "resp_1" => Said::Text("Ada.".to_owned(), "stop"),
        () => Said::Text("ready".to_owned(), "stop"),
    }
}

fn chat_stream(
    connection: &mut TcpStream,
    temper: &Temper,
    said: &Said,
    usage: Option<u64>,
) -> bool {
    let frame = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        format!("data: {}\n\n", json!({ "id": "c-1", "model": "m", "choices": [choice] }))
    };
    let (mut frames, finish) = match said {
        Said::Endless => return endless(connection, &frame(json!({ "content": "one\n" }), None)),
        Said::Text(text, finish) => (frame(json!({ "content": text }), None), *finish),
        Said::Calls(calls) => {
            let mut frames = String::new();
            for (place, (name, arguments)) in calls.iter().enumerate() {
                let function = json!({ "name": name, "arguments": arguments.to_string() });
                let index = if temper.index_zero { 0 } else { place };
                let call = json!({
                    "index": index, "id": id(place), "type": "function", "function": function
                });
                frames += &frame(json!({ "tool_calls": [call] }), None);
            }
            (frames, "tool_calls")
        }
    };
    frames += &frame(json!({}), Some(finish));
    if let Some(count) = usage {
        let usage = json!({
            "prompt_tokens": count, "completion_tokens": 5,
            "prompt_tokens_details": { "cached_tokens": 0 },
        });
        let last = json!({ "id": "c-1", "model": "m", "choices": [], "usage": usage });
        frames += &format!("data: {last}\n\n");
    }
    stream(connection, &(frames + "data: [DONE]\n\n"))
}

/// Nine letters and digits.
pub(super) fn id(place: usize) -> String {
    format!("call0000{place}")
}

fn chat_document(connection: &mut TcpStream, said: &Said, usage: Option<u64>) -> bool {
    let (message, finish) = match said {
        Said::Endless => (json!({ "role": "assistant", "content": "one" }), "stop"),
        Said::Text(text, finish) => (json!({ "role": "assistant", "content": text }), *finish),
        Said::Calls(calls) => {
            let all = calls.iter().enumerate().map(|(place, (name, arguments))| {
                let function = json!({ "name": name, "arguments": arguments.to_string() });
                json!({ "id": id(place), "type": "function", "function": function })
            });
            let all: Vec<Value> = all.collect();
            (json!({ "role": "assistant", "content": null, "tool_calls": all }), "tool_calls")
        }
    };
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish });
    let mut whole = json!({ "id": "c-1", "model": "m", "choices": [choice] });
    if let Some(count) = usage {
        whole["usage"] = json!({ "prompt_tokens": count, "completion_tokens": 5 });
    }
    document(connection, 200, "application/json", &whole.to_string())
}

fn response(said: &Said, usage: Option<u64>, id_of: &str) -> Value {
    let message = |text: &str| {
        json!({
            "type": "message", "id": "msg_1", "role": "assistant",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        })
    };
    let (output, is_cut) = match said {
        Said::Endless => (vec![message("one")], false),
        Said::Text(text, finish) => (vec![message(text)], *finish == "length"),
        Said::Calls(calls) => {
            let calls = calls.iter().enumerate().map(|(place, (name, arguments))| {
                json!({
                    "type": "function_call", "id": format!("fc_{place}"), "call_id": id(place),
                    "name": name, "arguments": arguments.to_string(), "status": "completed",
                })
            });
            (calls.collect(), false)
        }
    };
    let status = if is_cut { "incomplete" } else { "completed" };
    let mut whole =
        json!({ "id": id_of, "object": "response", "status": status, "output": output });
    if is_cut {
        whole["incomplete_details"] = json!({ "reason": "max_output_tokens" });
    }
    if let Some(count) = usage {
        whole["usage"] = json!({
            "input_tokens": count, "output_tokens": 5, "total_tokens": count + 5,
            "input_tokens_details": { "cached_tokens": 0 },
        });
    }
    whole
}

fn responses_stream(connection: &mut TcpStream, said: &Said, usage: Option<u64>) -> bool {
    let event = |name: &str, mut value: Value| {
        value["type"] = json!(name);
        format!("event: {name}\ndata: {value}\n\n")
    };
    let delta = |text: &str| {
        let value =
            json!({ "output_index": 0, "item_id": "msg_1", "content_index": 0, "delta": text });
        event("response.output_text.delta", value)
    };
    let created = json!({ "response": { "id": "resp_1", "status": "in_progress", "output": [] } });
    let mut frames = event("response.created", created);
    if let Said::Endless = said {
        return endless(connection, &(frames + &delta("one\n")));
    }
    let whole = response(said, usage, "resp_1");
    for (place, item) in whole["output"].as_array().unwrap().iter().enumerate() {
        let step = json!({ "output_index": place, "item": item });
        if item["type"] == "message" {
            frames += &delta(item["content"][0]["text"].as_str().unwrap());
        } else {
            frames += &event("response.output_item.added", step.clone());
        }
        frames += &event("response.output_item.done", step);
    }
    let name = format!("response.{}", whole["status"].as_str().unwrap());
    frames += &event(&name, json!({ "response": whole }));
    stream(connection, &frames)
}

const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                      transfer-encoding: chunked\r\n\r\n";

pub(super) fn stream(connection: &mut TcpStream, frames: &str) -> bool {
    let body = format!("{STREAM}{:x}\r\n{frames}\r\n0\r\n\r\n", frames.len());
    connection.write_all(body.as_bytes()).is_ok()
}

pub(super) fn endless(connection: &mut TcpStream, frame: &str) -> bool {
    let chunk = format!("{:x}\r\n{frame}\r\n", frame.len());
    let mut goes_on = connection.write_all(STREAM.as_bytes()).is_ok();
    let until = Instant::now() + LIMIT;
    while goes_on && Instant::now() < until {
        goes_on = connection.write_all(chunk.as_bytes()).is_ok();
        thread::sleep(Duration::from_millis(10));
    }
    false
}

pub(super) fn document(connection: &mut TcpStream, status: u16, kind: &str, body: &str) -> bool {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Told\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n"
    );
    connection.write_all(format!("{head}{body}").as_bytes()).is_ok()
}

fn refuse(connection: &mut TcpStream, status: u16, code: &str, message: &str) -> bool {
    let error = json!({ "error": { "message": message, "code": code } });
    document(connection, status, "application/json", &error.to_string())
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<(String, Value)> {
    let (mut head, mut length) = (String::new(), 0);
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
    Some((head, serde_json::from_slice(&body).unwrap_or(Value::Null)))
}

//! Decides whether streams that nobody told us about come to what they should.
//!
//! Knows the format of the tables in `fixtures/hostile`, one row for each stream, and nothing of
//! the adapter but its decoders. A row is a name behind `==`, lines that say what a server sends,
//! and behind `=>` what it must come to, whole and in pieces of 7 bytes and of one:
//!
//! | line | what is sent |
//! |---|---|
//! | `{…}`, `[…]` | an event with this data |
//! | `+ {…}` | an event with this delta of the first choice |
//! | `call …` | the same for these elements of `tool_calls` |
//! | `end word` | the first choice ends with this reason |
//! | `done` | `[DONE]` |
//! | `args N text`, `text N text` | a delta of the item at place N, for Responses |
//! | `added N {…}`, `item N {…}` | the item at place N was added, or is done |
//! | `completed […]` | the response is complete, and lists these items |
//! | `raw "…"` | these bytes as they are, in the spelling of JSON |
//! | `hex …` | these bytes as they are |

use openai_adapter::{Api, ServerProfile, ThinkTags, decoder_for};
use wire_rehearsal::{PIECES, play};

/// A row of a table.
#[derive(Debug, Default)]
struct Row {
    name: String,
    bytes: Vec<u8>,
    expected: String,
}

fn table(api: Api, name: &str) {
    table_of(&ServerProfile::default(), api, name);
}

fn table_of(server: &ServerProfile, api: Api, name: &str) {
    let path = format!("{}/tests/fixtures/hostile/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let rows = rows(&std::fs::read_to_string(&path).expect("the table can be read"));
    assert!(rows.len() > 5, "{name} has next to no rows");
    let wrong: Vec<String> = rows.iter().filter_map(|row| wrong(server, api, row)).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// What is wrong with the outcome of a row.
fn wrong(server: &ServerProfile, api: Api, row: &Row) -> Option<String> {
    let decoder = || decoder_for(api, "issuer", "seed", server);
    let whole = play(decoder(), &row.bytes, usize::MAX);
    if whole.outcome != row.expected {
        return Some(format!("{}\n  {}\n  {}", row.name, row.expected, whole.outcome));
    }
    let other = PIECES.into_iter().find(|size| play(decoder(), &row.bytes, *size) != whole);
    other.map(|size| format!("{}: another outcome in pieces of {size}", row.name))
}

fn rows(text: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        if let Some(name) = line.strip_prefix("== ") {
            rows.push(Row { name: name.to_owned(), ..Row::default() });
            continue;
        }
        let row = rows.last_mut().expect("a row begins with its name");
        match line.strip_prefix("=> ") {
            Some(expected) => row.expected = minted_ids(expected),
            None => row.bytes.extend(sent(line)),
        }
    }
    rows
}

/// `<0>` stands for the id that is made up for the call at position 0, `<nl>` for a line end.
fn minted_ids(text: &str) -> String {
    let ids = (0..9).map(|at| (format!("<{at}>"), model_wire::minted("seed", at)));
    ids.fold(text.replace("<nl>", "\n"), |text, (mark, id)| text.replace(&mark, &id))
}

fn sent(line: &str) -> Vec<u8> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (place, tail) = rest.split_once(' ').unwrap_or((rest, ""));
    let choice = |inside: String| format!(r#"{{"choices":[{{"index":0,{inside}}}]}}"#);
    let data = match word {
        "raw" => return serde_json::from_str::<String>(rest).expect("a text").into_bytes(),
        "hex" => return rest.split(' ').map(byte).collect(),
        "+" => choice(format!(r#""delta":{rest}"#)),
        "call" => choice(format!(r#""delta":{{"tool_calls":[{rest}]}}"#)),
        "end" => choice(format!(r#""delta":{{}},"finish_reason":"{rest}""#)),
        "done" => "[DONE]".to_owned(),
        "args" => event("function_call_arguments.delta", place, "delta", &quoted(tail)),
        "text" => event("output_text.delta", place, "delta", &quoted(tail)),
        "added" => event("output_item.added", place, "item", tail),
        "item" => event("output_item.done", place, "item", tail),
        "completed" => {
            format!(r#"{{"type":"response.completed","response":{{"id":"r","output":{rest}}}}}"#)
        }
        _ => line.to_owned(),
    };
    format!("data: {data}\n\n").into_bytes()
}

fn event(kind: &str, place: &str, name: &str, value: &str) -> String {
    format!(r#"{{"type":"response.{kind}","output_index":{place},"{name}":{value}}}"#)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn byte(digits: &str) -> u8 {
    u8::from_str_radix(digits, 16).expect("two digits")
}

#[test]
fn a_calls_in_other_disorders() {
    table(Api::Chat, "calls");
}

#[test]
fn a6_arguments_are_what_the_server_wrote() {
    table(Api::Chat, "arguments");
}

#[test]
fn b_frames_and_ends_in_other_shapes() {
    table(Api::Chat, "frames");
}

#[test]
fn b9_errors_in_other_places() {
    table(Api::Chat, "errors");
}

#[test]
fn c_counts_in_other_spellings() {
    table(Api::Chat, "counts");
}

#[test]
fn d_reasoning_in_other_places() {
    table(Api::Chat, "reasoning");
}

#[test]
fn d3_tags_of_a_server_that_writes_reasoning_between_them() {
    let server = ServerProfile { think_tags: ThinkTags::Reasoning, ..ServerProfile::default() };
    table_of(&server, Api::Chat, "tags");
}

#[test]
fn a_to_d_what_families_of_servers_send() {
    table(Api::Chat, "families");
}

#[test]
fn e_what_gateways_send() {
    table(Api::Responses, "gateways");
}

#[test]
fn e_events_in_other_disorders() {
    table(Api::Responses, "events");
}

#[test]
fn e7_ends_of_responses_in_other_words() {
    table(Api::Responses, "ends");
}

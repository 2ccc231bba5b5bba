//! Decides whether a run can be recorded and replayed: the same answer, without a network, a key or
//! a cost; and whether a tape that does not fit is told as such.
//!
//! `BLESS_TAPES=1` keeps the recordings that are replayed from the repository.

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    model_server::{End, ModelServer, Reply},
    place::{Ended, Place},
};

const TASK: &str = "what is planned?";
const KEY: &str = "sk-canary-5f1c";

/// A call to which the server gives no id.
fn call_without_id(tool: &str, arguments: &serde_json::Value) -> Reply {
    let function = json!({ "name": tool, "arguments": arguments.to_string() });
    let delta = json!({ "tool_calls": [{ "index": 0, "function": function }] });
    let frame = |delta: serde_json::Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        format!("data: {}\n\n", json!({ "id": "c-1", "choices": [choice] }))
    };
    let frames = frame(delta, None) + &frame(json!({}), Some("tool_calls"));
    Reply::Stream(frames + "data: [DONE]\n\n", End::Finished)
}

fn replies() -> Vec<Reply> {
    vec![
        call_without_id("list_files", &json!({ "path": "." })),
        Reply::call("read_file", json!({ "path": "ideas.md" })),
        call_without_id("read_file", &json!({ "path": "missing.md" })),
        Reply::reasoned("I have seen it.", "A balcony, with herbs."),
    ]
}

fn recorded(place: &Place, replies: Vec<Reply>, arguments: &[&str]) -> Ended {
    let server = ModelServer::playing(replies);
    let all = [&["run", "--record", "../tape.jsonl"], arguments].concat();
    place.agent(&all).with_server(&server).env("OPENAI_API_KEY", KEY).ended()
}

/// With neither an address nor a key.
fn replayed(place: &Place, arguments: &[&str]) -> Ended {
    place.agent(&[&["run", "--replay", "../tape.jsonl"], arguments].concat()).ended()
}

fn tape(place: &Place) -> String {
    fs::read_to_string(place.path("tape.jsonl")).unwrap()
}

fn failed(ended: &Ended, code: i32, parts: &[&str]) {
    assert_eq!(ended.code, Some(code), "{ended:?}");
    for part in parts {
        assert!(ended.stderr.contains(part), "no {part:?} in {}", ended.stderr);
    }
}

#[test]
fn a_replay_gives_the_same_answer_and_costs_nothing() {
    let place = Place::notes();
    let then = recorded(&place, replies(), &["--model", "m", TASK]);
    assert_eq!(
        (then.code, then.stdout.as_str()),
        (Some(0), "A balcony, with herbs.\n"),
        "{then:?}"
    );
    assert_eq!(fs::metadata(place.path("tape.jsonl")).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!tape(&place).contains("canary"));
    let receipts = place.receipts().len();
    for arguments in [&[TASK][..], &["--model", "m", TASK], &["--json", TASK]] {
        let now = replayed(&place, arguments);
        assert_eq!(now.code, Some(0), "{now:?}");
        assert!(now.stdout.contains("A balcony, with herbs."), "{now:?}");
    }
    assert_eq!(place.receipts().len(), receipts, "a replay costs nothing");
}

#[test]
fn another_task_is_not_answered_and_the_place_is_named() {
    let place = Place::notes();
    recorded(&place, replies(), &["--model", "m", TASK]);
    let ended = replayed(&place, &["canary?"]);
    assert_eq!(ended.stdout, "");
    failed(
        &ended,
        1,
        &["it differs at $.messages[", "].content", "REPLAY_MISMATCH", "record again"],
    );
    let named = replayed(&place, &["--model", "other", TASK]);
    failed(&named, 3, &["the tape has no run with the model \"other\"", "leave --model out"]);
}

#[test]
fn a_fallback_does_not_hide_what_differs() {
    let place = Place::notes();
    let then = recorded(&place, replies(), &["--model", "m", "--fallback", "n", TASK]);
    assert_eq!(then.code, Some(0), "{then:?}");
    let ended = replayed(&place, &["another task"]);
    failed(&ended, 1, &["it differs at $.messages[", "REPLAY_MISMATCH"]);
    assert!(!ended.stderr.contains("is asked instead"), "{ended:?}");
}

#[test]
fn a_folder_that_changed_is_not_answered_for() {
    let place = Place::notes();
    recorded(&place, replies(), &["--model", "m", TASK]);
    place.put("ideas.md", "something else\n");
    failed(&replayed(&place, &[TASK]), 1, &["of exchange ", "it differs at $.messages["]);
}

#[test]
fn failures_are_replayed_too() {
    let place = Place::empty();
    let cut = || Reply::cut_after("The beginning of");
    let then = recorded(&place, vec![cut()], &["--model", "m", TASK]);
    failed(&then, 5, &["broke in the middle of the answer"]);
    failed(
        &replayed(&place, &[TASK]),
        5,
        &["broke in the middle of the answer", "The beginning of"],
    );
}

#[test]
fn a_tape_that_is_not_used_up_is_told() {
    let place = Place::empty();
    let chat = |arguments: &[&str], input: &str, server: Option<&ModelServer>| {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let agent = place.agent(&[&["chat"], arguments].concat()).stdin(reader);
        let running = match server {
            Some(server) => agent.with_server(server).start(),
            None => agent.start(),
        };
        writer.write_all(input.as_bytes()).unwrap();
        drop(writer);
        running.ended()
    };
    let server = ModelServer::playing([Reply::text("Hello, Ada."), Reply::text("Ada.")]);
    let record = ["--model", "m", "--record", "../tape.jsonl"];
    let then = chat(&record, "I am Ada.\nWho am I?\n", Some(&server));
    assert_eq!((then.code, then.stdout.as_str()), (Some(0), "Hello, Ada.\nAda.\n"), "{then:?}");
    let replay = ["--replay", "../tape.jsonl"];
    let whole = chat(&replay, "I am Ada.\nWho am I?\n", None);
    assert_eq!((whole.code, &whole.stdout), (Some(0), &then.stdout), "{whole:?}");
    let part = chat(&replay, "I am Ada.\n", None);
    failed(&part, 1, &["the replay did not ask for exchange 2: POST chat/completions"]);
}

#[test]
fn several_providers_are_replayed_by_their_addresses() {
    let place = Place::empty();
    let first = ModelServer::playing([Reply::error(402, "insufficient_quota", "pay first")]);
    let second = ModelServer::playing([Reply::text("Hello.")]);
    let section = |name: &str, server: &ModelServer| {
        format!("[[providers]]\nname = '{name}'\nbase_url = '{}'\n", server.base_url())
    };
    let sections = section("one", &first) + &section("two", &second);
    place.configure(&format!("model = 'one/m'\nfallbacks = ['two/n']\n\n{sections}"));
    let then = place.agent(&["run", "--record", "../tape.jsonl", TASK]).ended();
    assert_eq!((then.code, then.stdout.as_str()), (Some(0), "Hello.\n"), "{then:?}");
    place.configure("");
    let now = replayed(&place, &[TASK]);
    assert_eq!((now.code, now.stdout.as_str()), (Some(0), "Hello.\n"), "{now:?}");
    assert!(now.stderr.contains("n at two is asked instead"), "{now:?}");
}

#[test]
fn a_tape_that_cannot_be_used_is_refused_before_anything_is_sent() {
    let place = Place::empty();
    fs::write(place.path("tape.jsonl"), "{\"tape\":1}\n{\"exchange\":\n").unwrap();
    let there = recorded(&place, vec![], &["--model", "m", TASK]);
    failed(&there, 3, &["tape.jsonl exists already; name another file, or remove it"]);
    failed(&replayed(&place, &[TASK]), 3, &["line 2 of the tape is damaged", "record again"]);
    fs::write(place.path("tape.jsonl"), "{\"tape\":7}\n").unwrap();
    failed(&replayed(&place, &[TASK]), 3, &["the tape has version 7", "reads version 1"]);
    let missing = place.agent(&["run", "--replay", "missing.jsonl", TASK]).ended();
    failed(&missing, 3, &["the tape missing.jsonl cannot be read"]);
    let nowhere = place.agent(&["run", "--model", "m", "--record", "missing/tape.jsonl", TASK]);
    let nowhere = nowhere.env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1").ended();
    failed(&nowhere, 3, &["the tape missing/tape.jsonl cannot be written"]);
    let offline = place.agent(&["run", "--record", "new.jsonl", "list the files"]).ended();
    failed(&offline, 3, &["the embedded model says nothing over the wire"]);
    assert_eq!(place.file("new.jsonl"), None, "nothing is begun for it");
    let both = place.agent(&["run", "--record", "a", "--replay", "b", TASK]).ended();
    failed(&both, 2, &["cannot be used with"]);
}

/// The folder of a recording that is kept, in its text.
const FOLDER: &str = "/the/folder";

fn kept(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tapes");
    PathBuf::from(folder).join(format!("{name}.jsonl"))
}

/// Where a test works is in what its model is told.
fn exchanged(text: &str, from: &str, to: &str) -> String {
    text.replace(from, to)
}

#[test]
fn recordings_that_are_kept_are_replayed_to_the_same_answer() {
    let reads = [("read_file", json!({ "path": "ideas.md" })), ("list_files", json!({}))];
    let refused = Reply::error(400, "unknown", "Unknown parameter: 'stream_options'");
    let at_once = vec![refused, Reply::calls(&reads), Reply::text("Herbs.")];
    let runs = [("tools", replies(), "A balcony, with herbs.\n"), ("at-once", at_once, "Herbs.\n")];
    for (name, replies, answer) in runs {
        let place = Place::notes();
        let folder = fs::canonicalize(place.folder()).unwrap().display().to_string();
        if std::env::var_os("BLESS_TAPES").is_some() {
            let then = recorded(&place, replies, &["--model", "m", TASK]);
            assert_eq!(then.stdout, answer, "{then:?}");
            fs::create_dir_all(kept(name).parent().unwrap()).unwrap();
            fs::write(kept(name), exchanged(&tape(&place), &folder, FOLDER)).unwrap();
        }
        let text = fs::read_to_string(kept(name)).unwrap();
        fs::write(place.path("tape.jsonl"), exchanged(&text, FOLDER, &folder)).unwrap();
        let now = replayed(&place, &[TASK]);
        assert_eq!((now.code, now.stdout.as_str()), (Some(0), answer), "{now:?}");
    }
}

#[test]
fn a_process_that_is_killed_leaves_what_had_ended() {
    let place = Place::notes();
    let list = Reply::call("list_files", json!({}));
    let server = ModelServer::playing([list, Reply::stall_after("The")]);
    let agent = place.agent(&["run", "--model", "m", "--record", "../tape.jsonl", TASK]);
    let running = agent.with_server(&server).start();
    server.until_requests(2);
    running.signal(rustix::process::Signal::KILL);
    assert_eq!(running.ended().code, None);
    assert_eq!(tape(&place).lines().count(), 3, "the version, the choice, and one exchange");
    let ended = replayed(&place, &[TASK]);
    failed(&ended, 1, &["the tape has no more exchange for POST chat/completions", "[1] ok"]);
}

/// Whoever was to be spared by waiting is not there.
#[test]
fn what_a_server_asked_to_wait_is_not_waited_again() {
    let place = Place::empty();
    let wait = || Reply::Status(429, "retry-after: 2\r\n", "{}".to_owned());
    let replies = vec![wait(), Reply::text("Herbs.")];
    let began = Instant::now();
    let then = recorded(&place, replies, &["--model", "m", TASK]);
    assert_eq!((then.code, then.stdout.as_str()), (Some(0), "Herbs.\n"), "{then:?}");
    assert!(began.elapsed() >= Duration::from_secs(2), "{:?}", began.elapsed());
    let began = Instant::now();
    let ended = replayed(&place, &[TASK]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Herbs.\n"), "{ended:?}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

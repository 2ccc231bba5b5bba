//! Decides what recordings and replays do where somebody uses them otherwise than they are meant: in
//! another folder or time zone, with a server that is still there, with files that are none, with
//! keys in places where nobody expects them.

use std::fs;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{
    model_server::{ModelServer, Reply},
    place::{Ended, Place},
};

const TASK: &str = "what is planned?";
const KEY: &str = "sk-canary-5f1c-0123456789";

fn record(place: &Place, server: &ModelServer) -> Ended {
    let agent = place.agent(&["run", "--model", "m", "--record", "../tape.jsonl", TASK]);
    agent.with_server(server).env("OPENAI_API_KEY", KEY).ended()
}

fn said(ended: &Ended, code: i32, parts: &[&str]) {
    assert_eq!(ended.code, Some(code), "{ended:?}");
    for part in parts {
        assert!(ended.stderr.contains(part), "no {part:?} in {}", ended.stderr);
    }
}

#[test]
fn a_replay_asks_nobody_although_the_server_is_still_there() {
    let place = Place::notes();
    let server = ModelServer::playing([Reply::text("Herbs.")]);
    assert_eq!(record(&place, &server).stdout, "Herbs.\n");
    let (asked, listed) = (server.requests().len(), server.listings().len());
    let replay = place.agent(&["run", "--replay", "../tape.jsonl", TASK]);
    let now = replay.with_server(&server).env("OPENAI_API_KEY", KEY).ended();
    assert_eq!((now.code, now.stdout.as_str()), (Some(0), "Herbs.\n"), "{now:?}");
    let other = place.agent(&["run", "--replay", "../tape.jsonl", "another task"]);
    said(&other.with_server(&server).ended(), 1, &["REPLAY_MISMATCH"]);
    assert_eq!((server.requests().len(), server.listings().len()), (asked, listed));
}

#[test]
fn another_folder_with_the_same_files_changes_nothing() {
    let (then, now) = (Place::notes(), Place::notes());
    record(&then, &ModelServer::playing([Reply::text("Herbs.")]));
    fs::copy(then.path("tape.jsonl"), now.path("tape.jsonl")).unwrap();
    let ended = now.agent(&["run", "--replay", "../tape.jsonl", TASK]).ended();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Herbs.\n"), "{ended:?}");
}

#[test]
fn another_time_zone_and_language_change_nothing() {
    let place = Place::notes();
    record(&place, &ModelServer::playing([Reply::text("Herbs.")]));
    for zone in ["Asia/Tokyo", "America/Los_Angeles", ""] {
        let agent = place.agent(&["run", "--replay", "../tape.jsonl", TASK]);
        let ended = agent.env("TZ", zone).env("LANG", "de_DE.UTF-8").ended();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Herbs.\n"), "{ended:?}");
    }
}

#[test]
fn folders_and_devices_are_no_tapes() {
    let place = Place::notes();
    let recorded = |file: &str| {
        let server = ModelServer::playing([]);
        let agent = place.agent(&["run", "--model", "m", "--record", file, TASK]);
        let ended = agent.with_server(&server).ended();
        assert_eq!(server.requests().len(), 0, "{file}: nothing is sent");
        ended
    };
    said(&recorded("."), 3, &["the tape . exists already", "name another file"]);
    said(&recorded("/dev/full"), 3, &["the tape /dev/full exists already"]);
    said(&recorded("/proc/tape"), 3, &["the tape /proc/tape cannot be written"]);
    let replayed = |file: &str| place.agent(&["run", "--replay", file, TASK]).ended();
    said(&replayed("."), 3, &["the tape . cannot be read"]);
    said(&replayed("/dev/null"), 3, &["tape"]);
}

#[test]
fn the_second_of_two_recordings_into_one_file_is_refused() {
    let place = Place::notes();
    let waits = ModelServer::playing([Reply::stall_after("The")]);
    let agent = place.agent(&["run", "--model", "m", "--record", "../tape.jsonl", TASK]);
    let first = agent.with_server(&waits).start();
    waits.until_requests(1);
    let second = record(&place, &ModelServer::playing([]));
    said(&second, 3, &["tape.jsonl exists already; name another file, or remove it"]);
    first.signal(rustix::process::Signal::INT);
    assert_eq!(first.ended().code, Some(130));
    let text = fs::read_to_string(place.path("tape.jsonl")).unwrap();
    assert!(text.contains("\"end\":\"cancelled\""), "{text}");
}

#[test]
fn keys_of_every_api_are_blotted_out_also_in_base64_and_in_errors() {
    for api in ["chat", "responses", "messages", "gemini"] {
        let place = Place::notes();
        let basic = STANDARD.encode(format!("user:{KEY}"));
        let echoed = format!("the key {KEY}, or Basic {basic}, is wrong");
        let server = ModelServer::playing([Reply::error(401, "invalid_api_key", &echoed)]);
        place.configure(&format!(
            "[[providers]]\nname = 'mine'\nbase_url = '{}'\napi = '{api}'\napi_key_env = 'MINE'\n",
            server.base_url()
        ));
        let task = format!("keep {KEY}");
        let agent = place.agent(&["run", "-m", "mine/m", "--record", "../tape.jsonl", &task]);
        let ended = agent.env("MINE", KEY).ended();
        assert_eq!(ended.code, Some(4), "{api}: {ended:?}");
        let text = fs::read_to_string(place.path("tape.jsonl")).unwrap();
        assert!(text.contains("\"status\":401"), "{api}: {text}");
        for part in ["canary", "5f1c", &basic[8..24]] {
            assert!(!text.contains(part), "{api}: {part} in {text}");
        }
    }
}

#[test]
fn a_key_in_an_address_is_in_no_tape() {
    let place = Place::notes();
    let server = ModelServer::playing([]);
    place.configure(&format!(
        "[[providers]]\nname = 'mine'\nbase_url = '{}?key={KEY}'\napi = 'gemini'\n",
        server.base_url()
    ));
    let agent = place.agent(&["run", "-m", "mine/m", "--record", "../tape.jsonl", TASK]);
    let ended = agent.ended();
    said(&ended, 3, &["give the api key by itself"]);
    assert!(!ended.stderr.contains("canary"), "{ended:?}");
    let text = fs::read_to_string(place.path("tape.jsonl")).unwrap_or_default();
    assert!(!text.contains("canary"), "{text}");
}

#[test]
fn a_tape_that_was_cut_or_changed_says_what_is_wrong() {
    let place = Place::notes();
    record(&place, &ModelServer::playing([Reply::text("Herbs.")]));
    let text = fs::read_to_string(place.path("tape.jsonl")).unwrap();
    let check = |tape: &str, code: i32, part: &str| {
        fs::write(place.path("tape.jsonl"), tape).unwrap();
        let ended = place.agent(&["run", "--replay", "../tape.jsonl", TASK]).ended();
        said(&ended, code, &[part]);
    };
    // As a process leaves it that is killed amid a line.
    check(&text[..text.len() - 40], 1, "the tape has no more exchange for POST");
    check(&text.replace("\"status\":200", "\"status\":\"200\""), 3, "of the tape is damaged");
    check("", 3, "tape");
    check("a text\n", 3, "line 1 of the tape is damaged");
    let renamed = text.replace("\"exchange\":1", "\"unknown\":1,\"exchange\":1");
    check(&renamed, 3, "line 3 of the tape is damaged");
}

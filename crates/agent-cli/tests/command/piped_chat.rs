//! Decides whether a conversation can be held by a program: lines in, answers out.

use std::io::Write;

use serde_json::Value;

use crate::{
    model_server::{ModelServer, Reply},
    output::end_of,
    place::{Ended, Place},
};

/// Sends these lines to a conversation and waits for its end.
fn chat(place: &Place, server: Option<&ModelServer>, arguments: &[&str], input: &str) -> Ended {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let agent = place.agent(&[&["chat"], arguments].concat()).stdin(reader);
    let agent = match server {
        Some(server) => agent.with_server(server),
        None => agent,
    };
    let running = agent.start();
    writer.write_all(input.as_bytes()).unwrap();
    drop(writer);
    running.ended()
}

#[test]
fn each_line_is_a_message_and_standard_output_has_the_answers() {
    let place = Place::empty();
    let server = ModelServer::playing([Reply::text("Hello, Ada."), Reply::text("Ada.")]);
    let ended = chat(&place, Some(&server), &["--model", "m"], "I am Ada.\n\nWho am I?\r\n");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Hello, Ada.\nAda.\n"), "{ended:?}");
    let second = server.requests()[1].body["messages"].to_string();
    assert!(second.contains("I am Ada.") && second.contains("Hello, Ada."), "{second}");
    assert!(!(ended.stdout + &ended.stderr).contains('\u{1b}'), "no control codes");
}

#[test]
fn the_offline_model_converses_without_a_server() {
    let place = Place::notes();
    let ended =
        chat(&place, None, &[], "list the files\n/tools\nread shopping.txt\n/exit\nnever read\n");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("ideas.md") && ended.stdout.contains("milk"), "{ended:?}");
    assert!(ended.stderr.contains("  read_file"), "{ended:?}");
}

#[test]
fn events_are_lines_and_each_message_has_one_that_is_last() {
    let place = Place::empty();
    let server = ModelServer::playing([Reply::text("One."), Reply::text("Two.")]);
    let ended = chat(&place, Some(&server), &["--model", "m", "--json"], "a\nb\n");
    let events: Vec<Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last: Vec<_> = events.iter().filter(|event| event.get("exit_code").is_some()).collect();
    let answers: Vec<_> = last.iter().map(|event| event["final_answer"].clone()).collect();
    assert_eq!(answers, ["One.", "Two."]);
    let sessions: std::collections::BTreeSet<_> =
        events.iter().map(|event| event["session_id"].to_string()).collect();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    assert_eq!(last[1]["totals"]["requests"], 1, "of the message alone");
}

#[test]
fn a_message_that_fails_does_not_end_the_conversation_and_shows_in_the_exit_code() {
    let place = Place::empty();
    let server =
        ModelServer::playing([Reply::error(401, "invalid_api_key", "no"), Reply::text("Better.")]);
    let ended = chat(&place, Some(&server), &["--model", "m"], "a\nb\n");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(4), "Better.\n"), "{ended:?}");
}

#[test]
fn what_needs_approval_is_refused_where_nobody_is() {
    let place = Place::empty();
    let ended = chat(&place, None, &[], "write \"x\" to a.txt\n");
    assert_eq!((ended.code, place.file("a.txt")), (Some(6), None), "{ended:?}");
    let ended = chat(&place, None, &["--yes"], "write \"x\" to a.txt\n");
    assert_eq!((ended.code, place.file("a.txt").as_deref()), (Some(0), Some("x\n")), "{ended:?}");
}

#[test]
fn a_conversation_that_is_not_there_is_a_wrong_configuration() {
    let place = Place::empty();
    for arguments in [&["--resume"][..], &["--session", "00"]] {
        let ended = chat(&place, None, arguments, "");
        assert_eq!(ended.code, Some(3), "{ended:?}");
    }
}

#[test]
fn what_is_kept_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::notes();
    assert_eq!(chat(&place, None, &[], "list the files\n").code, Some(0));
    let folder = place.path("state/agent/conversations");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
    let mut command = place.agent(&["chat", "--resume", "--json"]).into_command();
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    assert_eq!(end_of(&mut child).code(), Some(0));
}

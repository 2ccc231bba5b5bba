//! Decides whether nothing is written or run without a yes when there is no terminal to ask on.

use serde_json::json;

use crate::{
    model_server::{ModelServer, Reply},
    place::Place,
};

#[test]
fn a_write_without_yes_is_refused_with_what_to_do() {
    let place = Place::notes();
    let ended = place.run(&["write \"x\" to new.txt"]);
    assert_eq!(ended.code, Some(6), "{ended:?}");
    assert_eq!(place.file("new.txt"), None);
    let hint = "no terminal to ask on; run again with --yes, or from a terminal";
    assert!(ended.stderr.contains(hint) && ended.stdout.contains(hint), "{ended:?}");
    assert_eq!(ended.stderr.matches(hint).count(), 1, "said once: {}", ended.stderr);
}

#[test]
fn reading_needs_no_yes() {
    let place = Place::notes();
    assert_eq!(place.run(&["read shopping.txt"]).code, Some(0));
}

#[test]
fn a_command_is_refused_even_with_yes() {
    let call = Reply::call("run_command", json!({ "command": "touch made.txt" }));
    let server = ModelServer::playing([call, Reply::text("I may not.")]);
    let place = Place::empty();
    let ended = place.run_with(&server, &["--yes", "--model", "m", "make a file"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(6), "I may not.\n"), "{ended:?}");
    assert_eq!(place.file("made.txt"), None);
    assert!(ended.stderr.contains("[1] run_command touch made.txt"), "{ended:?}");
    assert!(ended.stderr.contains("from a terminal; --yes does not cover commands"), "{ended:?}");
    let told = server.requests()[1].body["messages"].to_string();
    assert!(told.contains("approval_denied"), "the model is told: {told}");
}

#[test]
fn with_yes_a_write_is_not_asked_for() {
    let first = Reply::call("write_file", json!({ "path": "a.txt", "content": "a" }));
    let server = ModelServer::playing([first, Reply::text("Done.")]);
    let place = Place::empty();
    let ended = place.run_with(&server, &["-y", "-m", "m", "write"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(place.file("a.txt").as_deref(), Some("a"));
    assert!(!ended.stderr.contains("approved"), "{ended:?}");
}

#[test]
fn without_a_terminal_a_model_is_not_offered_to_ask() {
    let server = ModelServer::playing([Reply::text("Done.")]);
    Place::empty().run_with(&server, &["-m", "m", "do it"]);
    let tools = server.requests()[0].body["tools"].to_string();
    assert!(tools.contains("read_file") && !tools.contains("ask_user"), "{tools}");
}

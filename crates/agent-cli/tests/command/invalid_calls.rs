//! Decides whether a model that breaks the rules of calling is told so, and the run goes on.

use serde_json::json;

use crate::{
    model_server::{ModelServer, Reply},
    place::Place,
};

/// Plays a call and a closing answer; gives the progress, and what the model was told.
fn play(call: Reply) -> (String, String) {
    let server = ModelServer::playing([call, Reply::text("Sorry.")]);
    let place = Place::notes();
    let ended = place.run_with(&server, &["--model", "m", "do it"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Sorry.\n"), "{ended:?}");
    let messages = server.requests()[1].body["messages"].clone();
    let last = messages.as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["role"], "tool", "{last}");
    (ended.stderr, last["content"].to_string())
}

#[test]
fn an_unknown_tool_is_answered() {
    let (progress, told) = play(Reply::call("fly_away", json!({ "to": "the moon" })));
    assert!(progress.contains("[1] fly_away {\"to\":\"the moon\"}"), "{progress}");
    assert!(progress.contains("[1] failed: there is no tool of this name"), "{progress}");
    assert!(told.contains("tool_not_found"), "{told}");
}

#[test]
fn arguments_that_do_not_fit_are_answered() {
    for arguments in [json!({}), json!({ "path": 7 }), json!({ "path": "ideas.md", "more": 1 })] {
        let (progress, told) = play(Reply::call("read_file", arguments));
        assert!(progress.contains("[1] failed: "), "{progress}");
        assert!(told.contains("invalid_arguments"), "{told}");
    }
}

#[test]
fn a_call_beside_the_bridge_or_malformed_is_answered() {
    for (tool, arguments, reason) in [
        ("read_file", r#"{"path":"ideas.md"}"#, "unknown provider tool"),
        ("call_ktool", "name: read_file", "not an object"),
        ("call_ktool", "[1]", "not an object"),
        ("call_ktool", r#"{"name":"read_file"}"#, "invalid arguments"),
        ("call_ktool", r#"{"name":"","arguments":{}}"#, "invalid name"),
        ("call_ktool", r#"{"name":"a","arguments":{},"b":1}"#, "unknown argument"),
    ] {
        let server_reply = Reply::raw_call("", tool, arguments);
        let (progress, told) = play(server_reply);
        assert!(progress.contains("[1] refused: "), "{progress}");
        assert!(progress.contains(reason) && told.contains(reason), "{progress}\n{told}");
    }
}

#[test]
fn a_call_that_was_cut_is_not_run() {
    let server = ModelServer::playing([Reply::raw_call("", "call_ktool", r#"{"name":"list_fi"#)]);
    let place = Place::notes();
    let ended = place.run_with(&server, &["--model", "m", "do it"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    let why = "the answer ended early: it met a length limit, or a tool call in it is incomplete";
    assert!(ended.stderr.contains(why), "{ended:?}");
    assert!(!ended.stderr.contains("[1]"), "{ended:?}");
}

#[test]
fn a_model_without_a_word_is_asked_once_more() {
    let server = ModelServer::playing([Reply::text(""), Reply::text("There.")]);
    let place = Place::empty();
    let ended = place.run_with(&server, &["--model", "m", "do it"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "There.\n"), "{ended:?}");
    let server = ModelServer::playing([Reply::text(""), Reply::text(" ")]);
    let ended = place.run_with(&server, &["--model", "m", "do it"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    assert!(ended.stderr.contains("gave no answer, twice; try another model"), "{ended:?}");
}

/// The end would be 6 if somebody had been looked for.
#[test]
fn nobody_is_asked_about_a_call_that_cannot_run() {
    for tool in ["run_command", "write_file"] {
        let (progress, told) = play(Reply::call(tool, json!({ "wrong": 1 })));
        assert!(!progress.contains("approv"), "{progress}");
        assert!(told.contains("invalid_arguments_type"), "{told}");
    }
}

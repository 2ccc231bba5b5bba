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
fn a_malformed_call_is_answered() {
    for (tool, arguments, code) in [
        ("read_file", "name: ideas.md", "invalid_arguments_json"),
        ("read_file", "[1]", "invalid_arguments_payload"),
        ("call_ktool", r#"{"name":"read_file","arguments":{"path":"ideas.md"}}"#, "tool_not_found"),
        ("ask_user", r#"{"question":"who?"}"#, "tool_not_found"),
        ("task_finish", r#"{"message":"done"}"#, "tool_not_allowed"),
    ] {
        let (progress, told) = play(Reply::raw_call("", tool, arguments));
        assert!(progress.contains("[1] failed: "), "{progress}");
        assert!(progress.contains(code) && told.contains(code), "{progress}\n{told}");
    }
}

#[test]
fn a_call_that_was_cut_is_not_run() {
    let server = ModelServer::playing([Reply::raw_call("", "list_files", r#"{"path":"re"#)]);
    let place = Place::notes();
    let ended = place.run_with(&server, &["--model", "m", "do it"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    assert!(ended.stderr.contains("(model_output_limit)"), "{ended:?}");
    assert!(!ended.stderr.contains("[1] ok"), "{ended:?}");
}

#[test]
fn a_model_without_a_word_is_asked_once_more() {
    let server = ModelServer::playing([Reply::text(""), Reply::text("There.")]);
    let place = Place::empty();
    let ended = place.run_with(&server, &["--model", "m", "do it"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "There.\n"), "{ended:?}");
    let messages = server.requests()[1].body["messages"].to_string();
    assert!(messages.contains("do it") && messages.contains("Give the final answer"), "{messages}");
    let server = ModelServer::playing([Reply::text(""), Reply::text(" ")]);
    let ended = place.run_with(&server, &["--model", "m", "do it"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    assert!(ended.stderr.contains("gave neither an answer nor a tool call"), "{ended:?}");
    let server = ModelServer::playing([Reply::text("")]);
    let ended = place.run_with(&server, &["--max-cycles", "1", "--model", "m", "do it"]);
    assert_eq!(ended.code, Some(1), "no cycle is left to ask again: {ended:?}");
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

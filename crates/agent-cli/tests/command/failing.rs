//! Decides whether each way to fail has its exit code, and says what to do next.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt};

use crate::{
    model_server::{ModelServer, Reply},
    place::{Agent, Ended, Place},
};

/// Standard output stays empty; progress ends with `agent: …`, and every part is told.
fn check(ended: &Ended, code: i32, parts: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{ended:?}");
    assert!(ended.stderr.contains("agent: "), "{ended:?}");
    for part in parts {
        assert!(ended.stderr.contains(part), "no {part:?} in {}", ended.stderr);
    }
}

fn failing_with(replies: impl IntoIterator<Item = Reply>) -> (Place, Ended) {
    let server = ModelServer::playing(replies);
    let place = Place::empty();
    let agent = place.agent(&["run", "--model", "m", "do it"]).with_server(&server);
    let ended = agent.env("OPENAI_API_KEY", "sk-canary").ended();
    assert!(!ended.stderr.contains("canary"), "{ended:?}");
    (place, ended)
}

#[test]
fn a_model_without_a_key_or_a_server() {
    let ended = Place::empty().run(&["--model", "gpt-5", "do it"]);
    check(&ended, 3, &["the model gpt-5 needs a key: set OPENAI_API_KEY", "--model offline"]);
}

#[test]
fn a_wrong_key() {
    let refused = Reply::error(401, "invalid_api_key", "Incorrect API key: sk-canary");
    let (place, ended) = failing_with([refused]);
    check(
        &ended,
        4,
        &["does not accept the api key", "AUTHENTICATION_FAILED", "set OPENAI_API_KEY"],
    );
    assert_eq!(place.receipts()[0]["end"], "failed");
}

#[test]
fn an_unknown_model() {
    let refused = Reply::error(404, "model_not_found", "The model `m` does not exist");
    let (_, ended) = failing_with([refused]);
    check(&ended, 4, &["does not serve this model", "check the name in --model or AGENT_MODEL"]);
}

#[test]
fn a_limit_of_the_provider_is_waited_for_and_then_told() {
    let limited = || Reply::error(429, "rate_limit_exceeded", "Slow down");
    let (place, ended) = failing_with([limited(), limited(), limited()]);
    let told = ["failed (RATE_LIMITED); again in ", "too many requests", "wait a while"];
    check(&ended, 4, &told);
    assert_eq!(place.receipts()[0]["requests"].as_array().unwrap().len(), 3);
    let (place, ended) = failing_with([limited(), Reply::text("Now it works.")]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Now it works.\n"), "{ended:?}");
    assert_eq!(place.receipts()[0]["requests"].as_array().unwrap().len(), 2);
}

#[test]
fn a_server_that_is_not_there() {
    let address = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let url = format!("http://{address}/v1");
    for arguments in [&["run", "--model", "m", "do it"][..], &["run", "do it"]] {
        let ended = Place::empty().agent(arguments).env("OPENAI_BASE_URL", &url).ended();
        check(&ended, 5, &["cannot reach", "and that the server runs; --model offline needs none"]);
    }
}

#[test]
fn an_answer_that_is_cut() {
    let (place, ended) = failing_with([Reply::cut_after("The beginning of")]);
    check(&ended, 5, &["broke in the middle of the answer", "try again"]);
    assert!(ended.stderr.contains("The beginning of"), "what came is shown: {ended:?}");
    assert_eq!(place.receipts().len(), 1);
}

#[test]
fn a_page_instead_of_an_api() {
    let page = Reply::Status(404, "", "<!doctype html><title>Not here</title>".to_owned());
    let (_, ended) = failing_with([page]);
    check(&ended, 4, &["check the base url"]);
}

#[test]
fn a_folder_that_is_missing_or_no_folder() {
    let place = Place::notes();
    let ended = place.run(&["--folder", "nowhere", "list the files"]);
    check(&ended, 3, &["nowhere: ", "does not exist", "name an existing folder with --folder"]);
    let ended = place.run(&["--folder", "ideas.md", "list the files"]);
    check(&ended, 3, &["ideas.md: ", "is not a folder", "--folder"]);
}

#[test]
fn a_configuration_file_that_is_wrong() {
    for (text, reason) in [
        ("modle = 'x'", "unknown field `modle`"),
        ("model = ", "line 1"),
        ("api_key = 'sk-canary'", "unknown field `api_key`"),
        ("api_key_env = 'sk-canary'", "the name of an environment variable"),
    ] {
        let place = Place::empty();
        place.configure(text);
        let ended = place.run(&["do it"]);
        check(&ended, 3, &["the configuration file", "config.toml is wrong: ", reason]);
        assert!(!ended.stderr.contains("canary"), "{ended:?}");
    }
}

#[test]
fn a_configuration_file_that_is_none() {
    let place = Place::empty();
    fs::create_dir(place.path("config/agent/config.toml")).unwrap();
    check(&place.run(&["do it"]), 3, &["config.toml is unreadable"]);
}

#[test]
fn a_state_folder_that_cannot_be_used() {
    let place = Place::empty();
    fs::write(place.path("file"), "").unwrap();
    let in_a_file = place.path("file/below");
    let open_to_all = place.path("shared");
    fs::create_dir_all(open_to_all.join("agent/receipts")).unwrap();
    let anybody = fs::Permissions::from_mode(0o777);
    fs::set_permissions(open_to_all.join("agent/receipts"), anybody).unwrap();
    for state in [in_a_file, open_to_all] {
        let with_state = |agent: Agent| agent.env("XDG_STATE_HOME", &state).ended();
        let ended = with_state(place.agent(&["run", "list the files"]));
        check(&ended, 3, &["receipts cannot be kept in ", "set XDG_STATE_HOME"]);
        let ended = with_state(place.agent(&["receipts"]));
        check(&ended, 3, &["the receipts in ", "cannot be read"]);
    }
}

#[test]
fn a_key_is_not_sent_in_the_clear_to_another_machine() {
    let place = Place::empty();
    let agent = place.agent(&["run", "--model", "m", "do it"]);
    let agent = agent.env("OPENAI_BASE_URL", "http://192.0.2.1/v1");
    let ended = agent.env("OPENAI_API_KEY", "sk-canary").ended();
    check(&ended, 3, &["not sent over plain http to another machine; use https"]);
}

#[test]
fn an_address_that_is_none_or_holds_a_password() {
    for (url, reason) in [
        ("127.0.0.1:8080", "must be an absolute http or https address"),
        ("ftp://host/v1", "must be an absolute http or https address"),
        ("https://me:sk-canary@host/v1", "must not hold a user or a password"),
    ] {
        let place = Place::empty();
        let agent = place.agent(&["run", "--model", "m", "do it"]);
        let ended = agent.env("OPENAI_BASE_URL", url).ended();
        check(&ended, 3, &[reason, "check OPENAI_BASE_URL"]);
        assert!(!ended.stderr.contains("canary"), "{ended:?}");
    }
}

#[test]
fn a_command_line_that_is_wrong() {
    for arguments in
        [&["run"][..], &["run", "--fly", "x"], &["fly"], &[], &["receipts", "--limit", "-1"]]
    {
        let ended = Place::empty().agent(arguments).ended();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains("Usage: agent"), "{ended:?}");
    }
}

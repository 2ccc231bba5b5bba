//! Decides whether a model that cannot serve is replaced by the one that was named for it, with the
//! user told, and each key sent to its own server alone.

use serde_json::Value;

use crate::{
    model_server::{ModelServer, Reply},
    place::{Ended, Place},
};

const TASK: &str = "say hello";

fn limited() -> Reply {
    Reply::error(402, "insufficient_quota", "canary: pay first")
}

/// Two servers in the user's file, each with a key of its own.
fn configured(first: &ModelServer, second: &ModelServer) -> Place {
    let place = Place::empty();
    place.configure(&format!(
        "model = 'one/m'\nfallbacks = ['two/n']\n\n\
         [[providers]]\nname = 'one'\nbase_url = '{}'\napi_key_env = 'ONE_KEY'\n\n\
         [[providers]]\nname = 'two'\napi = 'chat'\nbase_url = '{}'\napi_key_env = 'TWO_KEY'\n",
        first.base_url(),
        second.base_url()
    ));
    place
}

fn run(place: &Place, arguments: &[&str]) -> Ended {
    let agent = place.agent(&[&["run"], arguments, &[TASK]].concat());
    let agent = agent.env("ONE_KEY", "key-of-one").env("TWO_KEY", "key-of-two");
    agent.env("OPENAI_API_KEY", "key-of-openai").ended()
}

fn only_key(server: &ModelServer, key: &str) {
    for request in server.requests() {
        let head = request.head.to_lowercase();
        assert!(head.contains(&format!("authorization: bearer {key}\r\n")), "{head}");
        assert_eq!(head.matches("key-of").count(), 1, "{head}");
    }
}

#[test]
fn another_server_answers_and_the_user_sees_it() {
    let first = ModelServer::playing([limited()]);
    let second = ModelServer::playing([Reply::text("Hello.")]);
    let place = configured(&first, &second);
    let ended = run(&place, &[]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Hello.\n"), "{ended:?}");
    for told in [
        "model   m at one",
        "        or n at two",
        "m at one failed (QUOTA_EXHAUSTED); n at two is asked instead",
        "totals  2 requests, ",
    ] {
        assert!(ended.stderr.contains(told), "no {told:?} in {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("canary"), "{ended:?}");
    assert_eq!(
        (&first.requests()[0].body["model"], &second.requests()[0].body["model"]),
        (&Value::from("m"), &Value::from("n"))
    );
    only_key(&first, "key-of-one");
    only_key(&second, "key-of-two");
    let receipt = &place.receipts()[0];
    assert_eq!((&receipt["provider"], &receipt["providerModel"]), (&"two".into(), &"n".into()));
    assert_eq!(receipt["requests"].as_array().unwrap().len(), 2);
}

#[test]
fn programs_are_told_in_the_last_line() {
    let first = ModelServer::playing([limited()]);
    let second = ModelServer::playing([Reply::text("Hello.")]);
    let ended = run(&configured(&first, &second), &["--json"]);
    let last: Value = serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&last["exit_code"], &last["totals"]["requests"]), (&0.into(), &2.into()));
    let losses = last["losses"].to_string();
    for told in ["m at one failed (QUOTA_EXHAUSTED)", "request 1 went to n at two"] {
        assert!(losses.contains(told), "{losses}");
    }
}

#[test]
fn a_flag_names_the_fallbacks_instead() {
    let first = ModelServer::playing([limited(), Reply::text("Hello.")]);
    let second = ModelServer::playing([]);
    let place = configured(&first, &second);
    let ended = run(&place, &["--fallback", "one/other"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Hello.\n"), "{ended:?}");
    assert_eq!(first.requests()[1].body["model"], "other");
}

#[test]
fn with_no_fallback_left_the_failure_is_told() {
    let first = ModelServer::playing([limited()]);
    let second = ModelServer::playing([limited()]);
    let place = configured(&first, &second);
    let ended = run(&place, &[]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(4), ""), "{ended:?}");
    assert!(ended.stderr.contains("QUOTA_EXHAUSTED"), "{ended:?}");
}

#[test]
fn what_cannot_be_a_fallback_is_refused_before_anything_is_sent() {
    let server = ModelServer::playing([]);
    for (name, told) in [
        ("offline", "the embedded model follows rules and cannot stand in"),
        ("claude-opus-5-5", "the model claude-opus-5-5 needs a key: set ANTHROPIC_API_KEY"),
    ] {
        let place = configured(&server, &server);
        let ended = run(&place, &["--fallback", name]);
        assert_eq!(ended.code, Some(3), "{ended:?}");
        assert!(ended.stderr.contains(told), "{ended:?}");
    }
}

#[test]
fn a_key_of_the_environment_goes_to_its_own_vendor() {
    let first = ModelServer::playing([limited()]);
    let second = ModelServer::playing([limited()]);
    let third = ModelServer::playing([limited()]);
    let place = Place::empty();
    let arguments = [
        "run",
        "--model",
        "m",
        "--fallback",
        "claude-opus-5-5",
        "--fallback",
        "gemini-4-neon",
        TASK,
    ];
    let address = |server: &ModelServer| server.base_url().replace("/v1", "");
    let ended = place
        .agent(&arguments)
        .with_server(&first)
        .env("ANTHROPIC_BASE_URL", address(&second))
        .env("GEMINI_BASE_URL", address(&third))
        .env("OPENAI_API_KEY", "key-of-openai")
        .env("ANTHROPIC_API_KEY", "key-of-anthropic")
        .env("GOOGLE_API_KEY", "key-of-google")
        .ended();
    assert_eq!(ended.code, Some(4), "{ended:?}");
    let head = |server: &ModelServer| server.requests()[0].head.to_lowercase();
    for (server, path, key) in [
        (&first, "post /v1/chat/completions ", "authorization: bearer key-of-openai\r\n"),
        (&second, "post /v1/messages ", "x-api-key: key-of-anthropic\r\n"),
        (&third, "post /v1beta/models/gemini-4-neon:", "x-goog-api-key: key-of-google\r\n"),
    ] {
        let head = head(server);
        assert!(head.starts_with(path) && head.contains(key), "{head}");
        assert_eq!(head.matches("key-of").count(), 1, "{head}");
    }
}

#[test]
fn a_profile_of_a_server_is_read_and_a_wrong_one_is_named() {
    let server = ModelServer::playing([]);
    let place = Place::empty();
    place.configure(&format!(
        "[[providers]]\nname = 'one'\nbase_url = '{}'\nprofile = '/nowhere/profile.toml'\n",
        server.base_url()
    ));
    let ended = place.agent(&["run", "--model", "one/m", TASK]).ended();
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stderr.contains("the server profile /nowhere/profile.toml is unreadable"));
}

#[test]
fn one_host_may_speak_several_apis() {
    let server = ModelServer::playing([limited(), limited()]);
    let place = Place::empty();
    let arguments = ["run", "--model", "m", "--fallback", "claude-opus-5-5", TASK];
    let agent = place.agent(&arguments).with_server(&server);
    let ended = agent.env("ANTHROPIC_BASE_URL", server.base_url()).ended();
    assert_eq!(ended.code, Some(4), "{ended:?}");
    let host = server.base_url().replace("http://", "").replace("/v1", "");
    let told = format!("        or claude-opus-5-5 at {host}/messages\n");
    assert!(ended.stderr.contains(&told), "{ended:?}");
    let [first, second] = &server.requests()[..] else { panic!("two requests") };
    assert!(first.head.starts_with("POST /v1/chat/completions "), "{}", first.head);
    assert!(second.head.starts_with("POST /v1/messages "), "{}", second.head);
}

/// Nobody can say what a request may cost then.
#[test]
fn a_budget_in_dollars_needs_a_price_for_each_fallback() {
    let server = ModelServer::playing([]);
    let place = configured(&server, &server);
    let arguments = ["--model", "gpt-5", "--fallback", "two/n", "--budget-usd", "1"];
    let ended = run(&place, &arguments);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), ""), "{ended:?}");
    for told in
        ["budget_unpriced_model", "the price of n at two", "leave it out", "--budget-tokens"]
    {
        assert!(ended.stderr.contains(told), "no {told:?} in {}", ended.stderr);
    }
    assert!(place.receipts().is_empty(), "nothing was sent");
}

//! Decides whether the models that can be used are listed, with what is known of them.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{model_server::ModelServer, output::LIMIT, place::Place};

fn row<'a>(listed: &'a str, model: &str) -> &'a str {
    let begins = |line: &&str| line.split_whitespace().next() == Some(model);
    listed.lines().find(begins).unwrap_or_else(|| panic!("no {model} in {listed}"))
}

#[test]
fn the_catalogue_is_listed_with_prices_and_keys() {
    let place = Place::empty();
    let ended = place.agent(&["models"]).env("ANTHROPIC_API_KEY", "sk-canary").ended();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    assert!(!ended.stdout.contains("canary"), "{ended:?}");
    let claude = row(&ended.stdout, "claude-opus-5-5");
    for part in ["api.anthropic.com", "1,000,000", "128,000", "4.00", "0.20", "20.00", "there"] {
        assert!(claude.contains(part), "no {part} in {claude}");
    }
    assert!(row(&ended.stdout, "gpt-5").ends_with("set OPENAI_API_KEY"), "{ended:?}");
    let gemini = row(&ended.stdout, "gemini-2.5-pro");
    assert!(gemini.contains("unpriced") && gemini.ends_with("set GEMINI_API_KEY"), "{gemini}");
    assert!(row(&ended.stdout, "offline").ends_with("none needed"), "{ended:?}");
    let longest = ended.stdout.lines().map(str::len).max().unwrap();
    assert!(longest <= 140, "{longest} columns");
}

#[test]
fn programs_get_one_object_a_line() {
    let ended = Place::empty().agent(&["models", "--json"]).ended();
    let lines: Vec<Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |model: &str| lines.iter().find(|line| line["model"] == model).unwrap();
    let claude = of("claude-opus-5-5");
    assert_eq!((&claude["version"], &claude["kind"]), (&1.into(), &"model".into()));
    assert_eq!(claude["nano_usd_per_million_tokens"]["input"], 4_000_000_000_u64);
    assert_eq!(
        (&claude["key"], &claude["key_variable"]),
        (&"missing".into(), &"ANTHROPIC_API_KEY".into())
    );
    assert_eq!(of("gemini-2.5-pro")["nano_usd_per_million_tokens"], Value::Null);
}

#[test]
fn servers_of_the_user_are_asked_for_theirs() {
    let server = ModelServer::playing([]).listing(&["small", "large"]);
    let place = Place::empty();
    place
        .configure(&format!("[[providers]]\nname = 'house'\nbase_url = '{}'\n", server.base_url()));
    let ended = place.agent(&["models"]).ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for model in ["house/small", "house/large", "gpt-5"] {
        row(&ended.stdout, model);
    }
    let large = row(&ended.stdout, "house/large");
    assert!(large.contains("unknown") && large.contains("unpriced"), "{large}");
}

#[test]
fn one_server_can_be_asked_and_gets_no_key_that_is_not_its_own() {
    let server = ModelServer::playing([]).listing(&["only"]);
    let place = Place::empty();
    let url = server.base_url();
    let agent = place.agent(&["models", "--base-url", &url]).env("OPENAI_API_KEY", "sk-canary");
    let ended = agent.ended();
    assert_eq!((ended.code, ended.stdout.lines().count()), (Some(0), 2), "{ended:?}");
    row(&ended.stdout, "only");
    assert!(!server.listings()[0].contains("canary"), "{:?}", server.listings());
    let ended = place.agent(&["models", "--base-url", "http://127.0.0.1:9/v1"]).ended();
    assert_eq!(ended.code, Some(5), "{ended:?}");
    assert!(ended.stderr.starts_with("agent: 127.0.0.1:9: cannot reach"), "{ended:?}");
}

#[test]
fn servers_are_asked_at_once_so_that_none_waits_for_another() {
    let servers = ["slow", "late"].map(|model| ModelServer::playing([]).listing(&[model]));
    let servers = servers.map(ModelServer::when_told);
    let place = Place::empty();
    let section = |(name, server): (&str, &ModelServer)| {
        format!("[[providers]]\nname = '{name}'\nbase_url = '{}'\n", server.base_url())
    };
    let sections: Vec<String> = ["one", "two"].into_iter().zip(&servers).map(section).collect();
    place.configure(&sections.concat());
    let running = place.agent(&["models"]).start();
    let until = Instant::now() + LIMIT;
    while servers.iter().any(|server| server.listings().is_empty()) {
        assert!(Instant::now() < until, "one of them is not asked before the other has answered");
        thread::sleep(Duration::from_millis(5));
    }
    servers.iter().for_each(ModelServer::go_on);
    let ended = running.ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let place = |model: &str| ended.stdout.find(row(&ended.stdout, model));
    assert!(place("one/slow") < place("two/late"), "in the order of the file: {ended:?}");
}

//! Decides whether each model finds its server, and each key its address and no other.

use std::collections::HashMap;

use super::Servers;
use crate::{configuration::ConfigurationFile, endpoint::Endpoint};

const FILE: &str = "
    [[providers]]
    name = 'house'
    base_url = 'https://house/v1'
    api_key_env = 'HOUSE_KEY'

    [[providers]]
    name = 'anthropic'
    base_url = 'https://gate/anthropic'
";

fn shown(endpoint: &Endpoint) -> String {
    let key = endpoint.key.as_ref().map_or("no key", |key| key.expose());
    format!("{} by {:?} with {key}", endpoint.base_url, endpoint.api)
}

fn found(model: &str, environment: &[(&str, &str)], file: &str) -> Result<String, String> {
    let environment: HashMap<_, _> = environment.iter().copied().collect();
    let variable = |name: &str| environment.get(name).map(|value| (*value).to_owned());
    let file = ConfigurationFile::parse(file).unwrap();
    let model = Some(model).filter(|model| !model.is_empty());
    let served = Servers::of(&variable, &file).serving(model);
    match served.map_err(|error| error.to_string())? {
        Some((endpoint, model)) => {
            Ok(format!("{} at {}", model.as_deref().unwrap_or("?"), shown(&endpoint)))
        }
        None => Ok("nothing".to_owned()),
    }
}

const ALL: &[(&str, &str)] = &[
    ("OPENAI_API_KEY", "o"),
    ("ANTHROPIC_API_KEY", "a"),
    ("GEMINI_API_KEY", "g"),
    ("HOUSE_KEY", "h"),
];

#[test]
fn a_name_finds_its_provider() {
    let anthropic = "https://api.anthropic.com/v1 by Messages with a";
    let gemini = "https://generativelanguage.googleapis.com/v1beta by Gemini with g";
    let openai = "https://api.openai.com/v1 by Responses with o";
    for (model, expected) in [
        ("claude-opus-5-5", format!("claude-opus-5-5 at {anthropic}")),
        ("claude-next", format!("claude-next at {anthropic}")),
        ("anthropic/claude-next", format!("claude-next at {anthropic}")),
        ("gemini-4-neon", format!("gemini-4-neon at {gemini}")),
        ("gemini/tuned", format!("tuned at {gemini}")),
        ("gpt-5", format!("gpt-5 at {openai}")),
        ("openai/o-next", format!("o-next at {openai}")),
        ("anything", format!("anything at {openai}")),
        ("", format!("gpt-5-mini at {openai}")),
    ] {
        assert_eq!(found(model, ALL, "").unwrap(), expected, "{model}");
    }
}

#[test]
fn a_key_goes_to_its_own_address_and_to_no_other() {
    let with = |more: &[(&'static str, &'static str)]| [ALL, more].concat();
    let gate = ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let own = ("ANTHROPIC_BASE_URL", "http://127.0.0.1:2");
    let local = "http://127.0.0.1:1/v1 by Chat with o";
    for (model, environment, file, expected) in [
        ("m", with(&[gate]), "", format!("m at {local}")),
        // A gateway has names of this form itself.
        (
            "anthropic/claude-opus-5.5",
            with(&[gate]),
            "",
            format!("anthropic/claude-opus-5.5 at {local}"),
        ),
        (
            "claude-opus-5-5",
            with(&[gate]),
            "",
            "claude-opus-5-5 at https://api.anthropic.com/v1 by Messages with a".into(),
        ),
        (
            "claude-opus-5-5",
            with(&[own]),
            "",
            "claude-opus-5-5 at http://127.0.0.1:2/v1 by Messages with a".into(),
        ),
    ] {
        assert_eq!(found(model, &environment, file).unwrap(), expected, "{model} {file}");
    }
}

#[test]
fn a_key_of_the_file_goes_to_the_address_beside_it() {
    let gate = [ALL, &[("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")]].concat();
    let local = "http://127.0.0.1:1/v1 by Chat with o";
    for (model, environment, file, expected) in [
        // Without a key of their own the addresses of the file get none.
        (
            "claude-opus-5-5",
            ALL.to_vec(),
            FILE,
            "claude-opus-5-5 at https://gate/anthropic by Messages with no key".into(),
        ),
        ("house/x/y", ALL.to_vec(), FILE, "x/y at https://house/v1 by Chat with h".into()),
        ("house/m", gate.clone(), FILE, "m at https://house/v1 by Chat with h".into()),
        (
            "gpt-5",
            ALL.to_vec(),
            FILE,
            "gpt-5 at https://api.openai.com/v1 by Responses with o".into(),
        ),
        (
            "m",
            ALL.to_vec(),
            "base_url = 'https://top/v1'\napi_key_env = 'HOUSE_KEY'",
            "m at https://top/v1 by Chat with h".into(),
        ),
        (
            "m",
            gate.clone(),
            "base_url = 'https://top/v1'\napi_key_env = 'HOUSE_KEY'",
            format!("m at {local}"),
        ),
        (
            "openai/m",
            ALL.to_vec(),
            "[[providers]]\nname = 'openai'\nbase_url = 'https://proxy/v1'",
            "m at https://proxy/v1 by Chat with no key".into(),
        ),
        (
            "openai/m",
            ALL.to_vec(),
            "[[providers]]\nname = 'openai'",
            "m at https://api.openai.com/v1 by Responses with o".into(),
        ),
    ] {
        assert_eq!(found(model, &environment, file).unwrap(), expected, "{model} {file}");
    }
}

#[test]
fn without_a_key_or_a_server_it_says_what_to_set() {
    for (model, environment, file, said) in [
        ("gpt-5", &[][..], "", "needs a key: set OPENAI_API_KEY"),
        ("claude-opus-5-5", &[], "", "needs a key: set ANTHROPIC_API_KEY"),
        ("claude-opus-5-5", &[("OPENAI_API_KEY", "o")], "", "set ANTHROPIC_API_KEY"),
        ("gemini-4-neon", &[], "", "needs a key: set GEMINI_API_KEY"),
        ("", &[], FILE, "name a model, like house/…"),
    ] {
        let error = found(model, environment, file).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn what_is_there_is_used_when_nothing_is_named() {
    let one = "[[providers]]\nname = 'house'\nbase_url = 'https://house/v1'";
    for (environment, file, expected) in [
        (&[][..], "", "nothing"),
        (&[], one, "? at https://house/v1 by Chat with no key"),
        (
            &[("ANTHROPIC_API_KEY", "a")],
            "",
            "claude-sonnet-5-5 at https://api.anthropic.com/v1 by Messages with a",
        ),
        (
            &[("GOOGLE_API_KEY", "g")],
            "",
            "gemini-4-hydrogen at https://generativelanguage.googleapis.com/v1beta by Gemini with g",
        ),
    ] {
        assert_eq!(found("", environment, file).unwrap(), expected);
    }
    assert_eq!(
        found("m", &[], one).unwrap(),
        "m at https://house/v1 by Chat with no key",
        "the only server of the file"
    );
}

#[test]
fn every_server_is_listed_once() {
    let environment: HashMap<_, _> = ALL.iter().copied().collect();
    let variable = |name: &str| environment.get(name).map(|value| (*value).to_owned());
    let file = ConfigurationFile::parse(FILE).unwrap();
    let all: Vec<_> = Servers::of(&variable, &file).all().iter().map(shown).collect();
    assert_eq!(
        all,
        [
            "https://house/v1 by Chat with h",
            "https://gate/anthropic by Messages with no key",
            "https://api.openai.com/v1 by Responses with o",
            "https://api.anthropic.com/v1 by Messages with a",
            "https://generativelanguage.googleapis.com/v1beta by Gemini with g",
        ]
    );
}

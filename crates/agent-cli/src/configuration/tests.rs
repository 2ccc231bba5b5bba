//! Decides whether the model is found in the promised order.

use std::collections::HashMap;

use super::{ConfigurationFile, ModelChoice, PUBLIC_DEFAULT_MODEL, Wanted, choose_model};

fn choose(named: Option<&str>, environment: &[(&str, &str)], file: &str) -> anyhow::Result<String> {
    let environment: HashMap<_, _> = environment.iter().copied().collect();
    let file = ConfigurationFile::parse(file)?;
    let lookup = |name: &str| environment.get(name).map(|value| (*value).to_owned());
    let wanted = Wanted { model: named.map(str::to_owned), fallbacks: Vec::new() };
    Ok(match choose_model(wanted, lookup, file)? {
        ModelChoice::Offline => "offline".to_owned(),
        ModelChoice::Remote { endpoint, model, .. } => {
            let key = endpoint.key.as_ref().map_or("no key", |key| key.expose());
            let model = model.as_deref().unwrap_or("?");
            format!("{model} at {} by {:?} with {key}", endpoint.base_url, endpoint.api)
        }
    })
}

#[test]
fn the_command_line_wins_then_the_environment_then_the_file() {
    let key = ("OPENAI_API_KEY", "k");
    let local = ("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/");
    for (named, environment, file, expected) in [
        (None, &[][..], "", "offline"),
        (Some("offline"), &[key][..], "", "offline"),
        (None, &[key], "", "gpt-5-mini at https://api.openai.com/v1 by Responses with k"),
        (Some("m"), &[key], "", "m at https://api.openai.com/v1 by Responses with k"),
        (
            Some("m"),
            &[key, ("AGENT_MODEL", "e")],
            "model = 'f'",
            "m at https://api.openai.com/v1 by Responses with k",
        ),
        (
            None,
            &[key, ("AGENT_MODEL", "e")],
            "model = 'f'",
            "e at https://api.openai.com/v1 by Responses with k",
        ),
        (None, &[key], "model = 'f'", "f at https://api.openai.com/v1 by Responses with k"),
        (None, &[local], "", "? at http://127.0.0.1:8080/v1 by Chat with no key"),
        (
            Some("m"),
            &[local, key],
            "api = 'responses'",
            "m at http://127.0.0.1:8080/v1 by Responses with k",
        ),
        (
            None,
            &[local],
            "base_url = 'http://f/v1'",
            "? at http://127.0.0.1:8080/v1 by Chat with no key",
        ),
        (None, &[("OPENAI_API_KEY", " "), ("AGENT_MODEL", "")], "", "offline"),
        (Some(" "), &[], "model = 'offline'", "offline"),
    ] {
        assert_eq!(choose(named, environment, file).unwrap(), expected);
    }
    assert_eq!(PUBLIC_DEFAULT_MODEL, "gpt-5-mini");
}

#[test]
fn a_key_is_sent_to_the_address_that_it_is_named_for() {
    let key = ("OPENAI_API_KEY", "k");
    let local = ("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/");
    for (named, environment, file, expected) in [
        (
            None::<&str>,
            &[("MY_KEY", "mine")][..],
            "base_url = 'https://f/v1'\napi_key_env = 'MY_KEY'",
            "? at https://f/v1 by Chat with mine",
        ),
        (
            None,
            &[("MY_KEY", "mine"), key],
            "base_url = 'https://f/v1'\napi_key_env = 'MY_KEY'",
            "? at https://f/v1 by Chat with mine",
        ),
        (
            None,
            &[("MY_KEY", "mine"), local],
            "base_url = 'https://f/v1'\napi_key_env = 'MY_KEY'",
            "? at http://127.0.0.1:8080/v1 by Chat with no key",
        ),
        (
            None,
            &[("OPENAI_API_KEY", " k\n")],
            "base_url = 'https://f/v1'",
            "? at https://f/v1 by Chat with k",
        ),
    ] {
        assert_eq!(choose(named, environment, file).unwrap(), expected);
    }
}

#[test]
fn a_model_without_key_or_server_says_what_to_do() {
    let error = choose(Some("gpt-5"), &[], "").unwrap_err().to_string();
    assert!(error.contains("set OPENAI_API_KEY") && error.contains("--model offline"), "{error}");
}

#[test]
fn a_wrong_setting_is_named_by_its_line_without_its_value() {
    for (file, reason) in [
        ("\nmodle = 'canary'", "line 2: unknown field `modle`"),
        ("api_key = 'canary'", "line 1: unknown field `api_key`"),
        ("# ok\n\nmodel = 'canary", "line 3: "),
        ("api_key_env = 'canary-sk-1'", "api_key_env must be the name"),
        ("api = 'soap'", "line 1: unknown variant `soap`"),
        ("[[providers]]\nname = 'a'\nkey = 'canary'", "line 3: unknown field `key`"),
        (
            "[[providers]]\nname = 'a'\nbase_url = 'x'\napi_key_env = 'canary-sk-1'",
            "api_key_env must be the name",
        ),
        ("[[providers]]\nname = 'canary/a'", "provider number 1: give it a name"),
        ("[[providers]]\nname = 'offline'", "provider number 1: give it a name"),
        ("[[providers]]\nname = 'a'", "provider number 1: give it a base_url"),
        (
            "[[providers]]\nname = 'openai'\n[[providers]]\nname = 'openai'",
            "provider number 2: its name is given twice",
        ),
    ] {
        let error = format!("{:#}", choose(None, &[], file).unwrap_err());
        assert!(error.starts_with(reason), "{error}");
        assert!(!error.contains("canary"), "{error}");
    }
}

#[test]
fn the_debug_output_of_a_choice_hides_the_key() {
    let lookup = |name: &str| (name == "OPENAI_API_KEY").then(|| "canary-1".to_owned());
    let choice = choose_model(Wanted::default(), lookup, ConfigurationFile::default()).unwrap();
    assert!(!format!("{choice:?}").contains("canary"));
}

fn fallbacks(flags: &[&str], file: &str) -> anyhow::Result<Vec<String>> {
    let flags = flags.iter().map(|&name| name.to_owned()).collect();
    let wanted = Wanted { model: Some("m".into()), fallbacks: flags };
    let lookup = |name: &str| match name {
        "OPENAI_BASE_URL" => Some("http://127.0.0.1:8080/v1".to_owned()),
        "ANTHROPIC_API_KEY" => Some("a".to_owned()),
        _ => None,
    };
    match choose_model(wanted, lookup, ConfigurationFile::parse(file)?)? {
        ModelChoice::Offline => Ok(Vec::new()),
        ModelChoice::Remote { fallbacks, .. } => {
            let shown =
                fallbacks.iter().map(|it| format!("{} at {}", it.model, it.endpoint.provider()));
            Ok(shown.collect())
        }
    }
}

#[test]
fn fallbacks_are_those_of_the_command_line_or_else_of_the_file() {
    let file = "fallbacks = ['n', 'claude-opus-5-5']";
    let own = "n at 127.0.0.1:8080";
    let claude = "claude-opus-5-5 at api.anthropic.com";
    assert_eq!(fallbacks(&[], file).unwrap(), [own, claude]);
    assert_eq!(fallbacks(&["claude-opus-5-5"], file).unwrap(), [claude]);
    assert!(fallbacks(&[], "").unwrap().is_empty());
    let error = fallbacks(&["offline"], "").unwrap_err();
    assert!(format!("{error:#}").contains("cannot stand in for another"), "{error:#}");
}

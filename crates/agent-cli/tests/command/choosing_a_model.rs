//! Decides whether the model is found where it was promised to be looked for.

use serde_json::json;

use crate::{
    model_server::{ModelServer, Reply},
    place::Place,
};

const TASK: &str = "say hello";

#[test]
fn the_command_line_wins_over_the_environment_and_that_over_the_file() {
    for (flag, variable, expected) in [
        (Some("flag"), Some("variable"), "flag"),
        (None, Some("variable"), "variable"),
        (None, None, "file"),
    ] {
        let server = ModelServer::playing([Reply::text("Hello.")]);
        let place = Place::empty();
        place.configure("model = 'file'\n");
        let mut arguments = vec!["run", TASK];
        arguments.extend(flag.into_iter().flat_map(|name| ["--model", name]));
        let mut agent = place.agent(&arguments).with_server(&server);
        if let Some(name) = variable {
            agent = agent.env("AGENT_MODEL", name);
        }
        let ended = agent.ended();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Hello.\n"), "{ended:?}");
        assert_eq!(server.requests()[0].body["model"], expected);
    }
}

#[test]
fn a_server_can_be_named_in_the_file_alone_with_its_api_and_its_key() {
    let server = ModelServer::playing([Reply::text("Hello.")]);
    let place = Place::empty();
    let url = server.base_url();
    place.configure(&format!(
        "base_url = '{url}/'\nmodel = 'm'\napi = 'chat'\napi_key_env = 'MY_KEY'\n"
    ));
    let ended =
        place.agent(&["run", TASK]).env("MY_KEY", "mine").env("OPENAI_API_KEY", "another").ended();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Hello.\n"), "{ended:?}");
    let request = &server.requests()[0];
    assert!(request.head.starts_with("POST /v1/chat/completions "), "{}", request.head);
    assert!(request.head.to_lowercase().contains("authorization: bearer mine\r\n"));
}

#[test]
fn offline_is_always_the_embedded_one() {
    let server = ModelServer::playing([]);
    let place = Place::notes();
    let ended = place.run_with(&server, &["--model", "offline", "list the files"]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stdout.ends_with("(offline model: rule-based, no network)\n"), "{ended:?}");
}

#[test]
fn a_server_with_one_model_needs_no_name() {
    let server = ModelServer::playing([Reply::text("Hello.")]).listing(&["the-only-one"]);
    let place = Place::empty();
    let ended = place.run_with(&server, &[TASK]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Hello.\n"), "{ended:?}");
    assert_eq!(server.requests()[0].body["model"], "the-only-one");
    assert!(ended.stderr.contains("model   the-only-one at 127.0.0.1:"), "{ended:?}");
}

#[test]
fn a_server_with_several_models_or_none_asks_for_a_name() {
    let many: Vec<String> = (1..=30).map(|number| format!("model-{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (models, told) in [
        (&["a", "b"][..], "the server has 2 models: a, b\n"),
        (&many, "model-12, …\n"),
        (&[], "the server lists no model\n"),
    ] {
        let server = ModelServer::playing([]).listing(models);
        let place = Place::empty();
        let ended = place.run_with(&server, &[TASK]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), ""), "{ended:?}");
        assert!(ended.stderr.contains(told), "{ended:?}");
        assert!(ended.stderr.contains("name one with --model or AGENT_MODEL"), "{ended:?}");
    }
}

#[test]
fn nothing_in_the_folder_decides_where_a_key_is_sent() {
    let trap = ModelServer::playing([]);
    let server = ModelServer::playing([Reply::text("Hello.")]);
    let place = Place::empty();
    let url = trap.base_url();
    place.put(".env", &format!("OPENAI_BASE_URL={url}\nAGENT_MODEL=trap\n"));
    for name in
        ["config.toml", "agent/config.toml", ".agent/config.toml", ".config/agent/config.toml"]
    {
        place.put(name, &format!("base_url = '{url}'\nmodel = 'trap'\n"));
    }
    let ended = place
        .agent(&["run", "--model", "m", TASK])
        .with_server(&server)
        .env("OPENAI_API_KEY", "k")
        .ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(trap.requests().len(), 0);
}

#[test]
fn standing_instructions_and_skills_of_the_user_reach_the_model() {
    let server = ModelServer::playing([Reply::text("Hello.")]);
    let place = Place::empty();
    std::fs::write(place.path("config/agent/instructions.md"), "Always be brief.\n").unwrap();
    std::fs::create_dir(place.path("config/agent/skills")).unwrap();
    std::fs::write(place.path("config/agent/skills/baking.md"), "Use butter.\n").unwrap();
    place.run_with(&server, &["--model", "m", TASK]);
    let messages = &server.requests()[0].body["messages"];
    assert_eq!([&messages[0]["role"], &messages[1]["role"]], ["system", "user"]);
    let system = messages[0]["content"].to_string();
    for part in ["Always be brief.", "# Skill: baking", "Use butter."] {
        assert!(system.contains(part), "{system}");
    }
    assert_eq!(messages[1]["content"], json!(TASK));
}

#[test]
fn without_further_word_settings_and_receipts_are_below_the_home_folder() {
    let server = ModelServer::playing([Reply::text("Hello.")]);
    let place = Place::empty();
    let settings = place.path("home/.config/agent");
    std::fs::create_dir_all(&settings).unwrap();
    let text = format!("base_url = '{}'\nmodel = 'from-home'\n", server.base_url());
    std::fs::write(settings.join("config.toml"), text).unwrap();
    let agent = place.agent(&["run", TASK]).without(&["XDG_CONFIG_HOME", "XDG_STATE_HOME"]);
    assert_eq!(agent.ended().stdout, "Hello.\n");
    assert_eq!(server.requests()[0].body["model"], "from-home");
    assert!(place.path("home/.local/state/agent/receipts/receipts.jsonl").exists());
}

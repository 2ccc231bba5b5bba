//! Decides whether `agent doctor` tells servers of every temperament as they are.

mod hostile;
mod raw_server;
mod server;
mod vendors;
mod windows;
mod wires;

use std::{sync::Arc, time::Duration};

use openai_adapter::{OpenAiSession, ServerProfile};
use runtime_ports::{
    ModelMessage, ModelRequest, ModelRole, ModelSession, OperationContext, ToolSet, Transcript,
};
use runtime_types::{ExecutionId, OperationId};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use self::server::{DoctorServer, Temper};
use crate::place::{Ended, Place};

fn examine(server: &DoctorServer, arguments: &[&str]) -> (Place, Ended) {
    let place = Place::empty();
    let url = server.base_url();
    let agent = place.agent(&[&["doctor", "--base-url", &url], arguments].concat());
    let ended = agent.ended();
    (place, ended)
}

/// Verdicts that are not `works`, each with what came.
fn departures(ended: &Ended) -> Vec<String> {
    let lines = ended.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let findings = lines.filter(|line| line["kind"] == "finding" && line["verdict"] != "works");
    let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    findings
        .map(|line| {
            format!("{} {}: {}", text(&line, "probe"), text(&line, "verdict"), text(&line, "came"))
        })
        .collect()
}

fn check(temper: Temper, arguments: &[&str], code: i32, expected: &[&str]) {
    let server = DoctorServer::start(temper);
    let (_, ended) = examine(&server, &[arguments, &["--json"]].concat());
    assert_eq!(ended.code, Some(code), "{ended:?}");
    assert_eq!(departures(&ended), expected, "{ended:?}");
    assert!(server.requests() <= 45, "{} requests", server.requests());
}

#[test]
fn a_server_that_behaves() {
    check(Temper::default(), &[], 0, &[]);
}

#[test]
fn the_table_fits_a_terminal_and_says_what_was_asked() {
    let (_, ended) = examine(&DoctorServer::start(Temper::default()), &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.lines().all(|line| line.width() <= 80), "{}", ended.stdout);
    for line in [
        "models           works          the list of models: 1, m among them",
        "call index       works          how those calls are told apart: index counts the",
        "                                calls",
        "long prompt      works          10,000 words: refused in words that are known",
        "an agent can work with this server and model",
    ] {
        assert!(ended.stdout.lines().any(|held| held == line), "no {line:?} in {}", ended.stdout);
    }
    assert!(ended.stderr.contains("about 35 requests and 15,000 tokens"), "{ended:?}");
    assert!(!ended.stdout.contains("What will not work"));
}

#[test]
fn a_server_that_counts_no_calls_and_cuts_prompts() {
    let temper =
        Temper { index_zero: true, cuts_to: Some(4_000), named: false, ..Temper::default() };
    check(
        temper,
        &[],
        0,
        &[
            "call index deviates_handled: index is 0 for all; ids tell them apart",
            "named call deviates_handled: taken, and forgotten; the tool is sent alone",
            "long prompt deviates_handled: cut to 4000 tokens without a word; cut answers are refused",
        ],
    );
}

#[test]
fn a_server_that_tells_no_usage() {
    let temper = Temper { usage: false, ..Temper::default() };
    let came = "usage deviates_handled: none: what it costs is unknown";
    check(temper.clone(), &[], 0, &[came]);
    let (_, ended) = examine(&DoctorServer::start(temper.clone()), &[]);
    assert!(ended.stdout.contains(" requests, tokens unknown: "), "{ended:?}");
    let (_, ended) = examine(&DoctorServer::start(temper), &["--json"]);
    let report: Value = serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&report["kind"], &report["tokens"]), (&"report".into(), &Value::Null), "{report}");
}

#[test]
fn a_server_that_knows_few_fields() {
    let temper = Temper {
        refuses: &[
            "stream_options",
            "parallel_tool_calls",
            "response_format",
            "developer",
            "image",
        ],
        ..Temper::default()
    };
    check(
        temper,
        &[],
        0,
        &[
            "usage deviates_handled: none: what it costs is unknown; stream_options is refused",
            "developer role deviates_handled: refused; system is sent",
            "more fields deviates_handled: parallel_tool_calls is refused, and left out",
            "JSON schema will_not_work: http 400: INVALID_REQUEST; nor any JSON",
            "images will_not_work: http 400: INVALID_REQUEST",
            "result images deviates_handled: http 400: INVALID_REQUEST; they are sent behind the \
             results",
        ],
    );
}

#[test]
fn a_server_without_tools_is_unfit() {
    let server = DoctorServer::start(Temper { refuses: &["tools"], ..Temper::default() });
    let (_, ended) = examine(&server, &[]);
    assert_eq!(ended.code, Some(11), "{ended:?}");
    let text = &ended.stdout;
    for part in [
        "tool calls       will not work  two calls of a tool: http 400: INVALID_REQUEST\n",
        "What will not work\n",
        "  - tool calls: the model calls no tools: it can talk, and not work\n",
        "an agent needs what this lacks: tool calls, empty arguments, results, agent turn\n",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

#[test]
fn a_server_that_wants_its_own_ids() {
    let temper = Temper { nine_letters: true, ..Temper::default() };
    let came = "foreign ids deviates_handled: refused, but for nine letters and digits";
    check(temper, &[], 0, &[came]);
}

#[test]
fn a_web_page() {
    let server = DoctorServer::start(Temper { page: true, ..Temper::default() });
    let (_, ended) = examine(&server, &["--model", "m"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(5), ""), "{ended:?}");
    assert!(ended.stderr.contains("a web page answered instead of the api"), "{ended:?}");
}

#[test]
fn a_server_that_is_not_there() {
    let server = DoctorServer::start(Temper::default());
    let url = server.base_url().replace("127.0.0.1", "127.0.0.2");
    let ended = Place::empty().agent(&["doctor", "--base-url", &url, "--model", "m"]).ended();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(5), ""), "{ended:?}");
    assert!(ended.stderr.contains("cannot reach http://127.0.0.2:"), "{ended:?}");
}

#[test]
fn a_wrong_key_and_a_key_of_another_address() {
    let server = DoctorServer::start(Temper { key: Some("sk-right"), ..Temper::default() });
    let place = Place::empty();
    let doctor =
        |arguments: &[&str]| place.agent(&[&["doctor", "--model", "m"], arguments].concat());
    let wrong = doctor(&[]).env("OPENAI_BASE_URL", server.base_url());
    let ended = wrong.env("OPENAI_API_KEY", "sk-canary-wrong").ended();
    assert_eq!(ended.code, Some(4), "{ended:?}");
    let words = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("answer will not work one word, streamed: http 401: AUTHENTICATION_FAILED")
    );
    assert!(words.contains("all else: not tested: nothing can be told without an answer"));
    assert!(!words.contains("canary"), "{words}");
    let right = doctor(&[]).env("OPENAI_BASE_URL", server.base_url());
    assert_eq!(right.env("OPENAI_API_KEY", "sk-right").ended().code, Some(0));
    let elsewhere = doctor(&["--base-url", &server.base_url()]);
    let ended = elsewhere.env("OPENAI_API_KEY", "sk-right").ended();
    assert_eq!(ended.code, Some(4), "the key is not sent there: {ended:?}");
    assert!(!server.heads().contains("sk-canary-right"));
}

#[test]
fn a_profile_that_was_written_changes_what_is_sent() {
    let server = DoctorServer::start(Temper {
        refuses: &["stream_options", "max_tokens"],
        ..Temper::default()
    });
    let place = Place::empty();
    let url = server.base_url();
    let arguments = ["doctor", "--base-url", &url, "--profile-out", "server.toml"];
    let ended = place.agent(&arguments).ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let profile = ServerProfile::from_toml(&place.file("server.toml").unwrap()).unwrap();
    assert_eq!(profile.name, "measured: m");
    let before = server.requests();
    ask_once(OpenAiSession::builder(&url).server_profile(profile));
    let body = server.bodies().last().unwrap().clone();
    assert_eq!(server.requests(), before + 1, "nothing was refused");
    assert!(body.get("stream_options").is_none() && body.get("max_tokens").is_none(), "{body}");
    assert_eq!(body["max_completion_tokens"], 9);
    let ended = place.agent(&arguments).ended();
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stderr.contains("server.toml exists already"), "{ended:?}");
}

#[test]
fn an_examination_begins_with_the_profile_that_is_set_up() {
    let server = DoctorServer::start(Temper::default());
    let place = Place::empty();
    let known = ServerProfile {
        chat_path: "own/chat".to_owned(),
        context_tokens: Some(4_096),
        ..ServerProfile::default()
    };
    place.put("known.toml", &known.to_toml());
    let (url, path) = (server.base_url(), place.folder().join("known.toml"));
    place.configure(&format!("model = 'm'\nbase_url = '{url}'\nprofile = '{}'\n", path.display()));
    for arguments in [&[][..], &["--base-url", &url, "--model", "m"]] {
        let out = format!("out-{}.toml", arguments.len());
        let all = [&["doctor", "--profile-out", &out], arguments].concat();
        let ended = place.agent(&all).ended();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let heads = server.heads();
        assert!(heads.contains("POST /v1/own/chat "), "{heads}");
        assert!(!heads.contains("POST /v1/chat/completions"), "{heads}");
        let profile = ServerProfile::from_toml(&place.file(&out).unwrap()).unwrap();
        assert_eq!((&*profile.chat_path, profile.context_tokens), ("own/chat", Some(4_096)));
    }
}

fn ask_once(builder: openai_adapter::OpenAiSessionBuilder) {
    let session = builder.build().unwrap();
    let request = ModelRequest {
        invocation_id: "invocation".into(),
        model: "m".into(),
        messages: Transcript::from(vec![ModelMessage::text(ModelRole::User, "Say hello.")]),
        tools: ToolSet::default(),
        max_output_tokens: Some(9),
        options: Arc::default(),
    };
    let id = uuid::Uuid::new_v4();
    let operation = OperationContext::root(
        OperationId::from(id),
        ExecutionId::from(id),
        Duration::from_secs(20),
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(session.invoke(&operation, request)).unwrap();
}

#[test]
fn the_other_api() {
    let (_, ended) = {
        let server = DoctorServer::start(Temper::default());
        examine(&server, &["--api", "responses", "--json"])
    };
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(departures(&ended), [] as [&str; 0], "{ended:?}");
}

#[test]
fn several_models_must_be_chosen_from() {
    let server = DoctorServer::start(Temper { models: &["a", "b"], ..Temper::default() });
    let (_, ended) = examine(&server, &[]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), ""), "{ended:?}");
    assert!(ended.stderr.contains("the server has 2 models: a, b"), "{ended:?}");
    assert!(ended.stderr.contains("name one with --model"), "{ended:?}");
}

#[test]
fn ctrl_c_stops_it() {
    let server = DoctorServer::start(Temper { silent: true, ..Temper::default() });
    let url = server.base_url();
    let place = Place::empty();
    let running = place.agent(&["doctor", "--base-url", &url, "--model", "m"]).start();
    server.until_requests(2);
    running.signal(rustix::process::Signal::INT);
    let ended = running.ended();
    assert_eq!(ended.code, Some(130), "{ended:?}");
}

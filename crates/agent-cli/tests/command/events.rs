//! Decides whether `--json` gives a program what `docs/json-events.md` promises: nothing but
//! events, numbered, with exactly one last.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    model_server::{ModelServer, Reply},
    place::{Ended, Place},
};

/// Reads the events and holds what is true of every run.
fn events(ended: &Ended) -> Vec<Value> {
    let lines = ended.stdout.lines().map(|line| serde_json::from_str(line).expect(line));
    let events: Vec<Value> = lines.collect();
    assert!(!events.is_empty(), "{ended:?}");
    for (position, event) in events.iter().enumerate() {
        assert_eq!((&event["version"], &event["sequence"]), (&json!(1), &json!(position + 1)));
        assert!(event["at_ms"].as_u64() > Some(1_600_000_000_000), "{event}");
        let is_last = ["run_completed", "run_failed", "run_cancelled"].contains(&name(event));
        assert_eq!(is_last, position + 1 == events.len(), "{event}");
    }
    let code = events.last().unwrap()["exit_code"].as_i64();
    assert_eq!(code, ended.code.map(i64::from), "{ended:?}");
    events
}

fn name(event: &Value) -> &str {
    event["event"].as_str().unwrap()
}

fn names(events: &[Value]) -> Vec<&str> {
    let mut names: Vec<&str> = events.iter().map(name).collect();
    names.dedup();
    names
}

#[test]
fn a_run_is_told_from_its_start_to_its_end() {
    let server = ModelServer::playing([
        Reply::remark_and_call("Reading.", "read_file", json!({ "path": "shopping.txt" })),
        Reply::reasoned("Four.", "Four things."),
    ]);
    let place = Place::notes();
    let ended = place.run_with(&server, &["--json", "--model", "m", "how many things to buy?"]);
    let events = events(&ended);
    assert_eq!(
        names(&events),
        [
            "run_started",
            "round_started",
            "text_delta",
            "usage_updated",
            "tool_called",
            "tool_returned",
            "reasoning_delta",
            "text_delta",
            "usage_updated",
            "receipt_recorded",
            "run_completed"
        ]
    );
    let (first, last) = (&events[0], events.last().unwrap());
    assert_eq!((&first["offline"], &first["model"]), (&json!(false), &json!("m")));
    assert_eq!(last["answer"], "Four things.");
    let returned = events.iter().find(|event| name(event) == "tool_returned").unwrap();
    let text: Value = serde_json::from_str(returned["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["content"], "milk\neggs\nflour\napples\n", "programs get the whole result");
    assert_eq!(ended.stderr, "", "everything is in the events");
}

#[test]
fn a_refusal_is_a_pair_of_events_and_an_exit_code() {
    let place = Place::notes();
    let ended = place.run(&["--json", "write \"x\" to a.txt"]);
    let events = events(&ended);
    assert_eq!(ended.code, Some(6));
    let asked = events.iter().find(|event| name(event) == "approval_requested").unwrap();
    let resolved = events.iter().find(|event| name(event) == "approval_resolved").unwrap();
    assert_eq!(asked["digest"].as_str().unwrap().len(), 64);
    assert_eq!((&resolved["approved"], &resolved["number"]), (&json!(false), &asked["number"]));
    let returned = events.iter().find(|event| name(event) == "tool_returned").unwrap();
    assert_eq!(returned["ok"], false);
}

#[test]
fn a_failure_is_the_last_event() {
    let server = ModelServer::playing([Reply::error(401, "invalid_api_key", "no")]);
    let ended = Place::empty().run_with(&server, &["--json", "--model", "m", "do it"]);
    let events = events(&ended);
    let last = events.last().unwrap();
    assert_eq!((name(last), &last["exit_code"]), ("run_failed", &json!(4)));
    assert_eq!(last["code"], "AUTHENTICATION_FAILED");
    assert!(last["hint"].as_str().unwrap().contains("OPENAI_API_KEY"), "{last}");
    assert_eq!(last["totals"]["turns"], 1);
}

#[test]
fn a_wrong_configuration_is_a_single_event() {
    let place = Place::empty();
    place.configure("modle = 'x'");
    for arguments in [&["--json", "do it"][..], &["--json", "--folder", "nowhere", "do it"]] {
        let ended = place.run(arguments);
        let events = events(&ended);
        assert_eq!((names(&events), ended.code), (vec!["run_failed"], Some(3)));
        assert_eq!(events[0]["code"], "CONFIGURATION");
    }
}

#[test]
fn a_cancelled_run_ends_with_its_receipt_and_one_last_event() {
    let server = ModelServer::playing([Reply::stall_after("It begins")]);
    let place = Place::empty();
    let agent = place.agent(&["run", "--json", "--model", "m", "do it"]).with_server(&server);
    let running = agent.start();
    running.stdout.until("\"text_delta\"");
    running.signal(Signal::INT);
    let ended = running.ended();
    let events = events(&ended);
    assert_eq!(ended.code, Some(130));
    assert_eq!(names(&events)[3..], ["receipt_recorded", "run_cancelled"]);
    assert_eq!(events.last().unwrap()["totals"]["turns"], 1);
}

#[test]
fn a_question_at_a_terminal_stays_off_the_events() {
    let server = ModelServer::playing([
        Reply::call("write_file", json!({ "path": "a.txt", "content": "a" })),
        Reply::text("Done."),
    ]);
    let place = Place::empty();
    let agent = place.agent(&["run", "--json", "--model", "m", "do it"]).with_server(&server);
    let events_file = place.path("events");
    let mut terminal = agent.at_terminal_with_output(std::fs::File::create(&events_file).unwrap());
    terminal.until("[y]es, [N]o");
    terminal.type_line("y");
    let left = terminal.left();
    assert_eq!(left.code, Some(0), "{left:?}");
    assert_eq!(place.file("a.txt").as_deref(), Some("a"));
    let stdout = std::fs::read_to_string(events_file).unwrap();
    let ended = Ended { code: left.code, stdout, stderr: String::new() };
    assert!(names(&events(&ended)).contains(&"approval_resolved"));
    assert!(!left.screen.contains("\"event\""), "{left:?}");
}

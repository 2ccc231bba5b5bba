//! Decides whether `--json` gives a program what `docs/json-events.md` promises: nothing but
//! events, numbered, with exactly one last.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    model_server::{ModelServer, Reply},
    place::{Ended, Place},
};

const TERMINAL: [&str; 6] = [
    "run_completed",
    "run_wait_user",
    "run_max_cycles",
    "run_cancelled",
    "run_failed",
    "budget_exhausted",
];

/// Reads the events and holds what is true of every job: each run is numbered without a gap and
/// ends with its one terminal event, and the last line of all has the exit code.
fn events(ended: &Ended) -> Vec<Value> {
    let lines = ended.stdout.lines().map(|line| serde_json::from_str(line).expect(line));
    let events: Vec<Value> = lines.collect();
    assert!(!events.is_empty(), "{ended:?}");
    let (mut run, mut sequence, mut delta, mut is_over) = (Value::Null, 0, 0, true);
    for (position, event) in events.iter().enumerate() {
        assert_eq!(event["version"], 1);
        if is_over {
            assert_ne!(event["run_id"], run, "nothing follows the last event: {event}");
            (run, sequence, delta) = (event["run_id"].clone(), 0, 0);
        }
        assert_eq!(event["run_id"], run);
        if event["delta"].is_null() {
            (sequence, delta) = (sequence + 1, 0);
        } else {
            delta += 1;
            assert_eq!(event["delta"], delta, "{event}");
        }
        assert_eq!(event["sequence"], sequence, "{event}");
        assert!(event["at_ms"].as_u64() > Some(1_600_000_000_000), "{event}");
        is_over = TERMINAL.contains(&name(event));
        let is_last = position + 1 == events.len();
        assert_eq!(event["exit_code"].is_number(), is_last, "{event}");
        assert!(is_over || !is_last, "{event}");
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
    // Pieces come as they come.
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
            "cycle_started",
            "assistant_delta",
            "tool_call_delta",
            "tool_arguments_delta",
            "cycle_llm_response",
            "tool_call_planned",
            "tool_call_started",
            "tool_result",
            "cycle_started",
            "reasoning_delta",
            "assistant_delta",
            "cycle_llm_response",
            "run_completed"
        ]
    );
    let (first, last) = (&events[0], events.last().unwrap());
    assert_eq!((&first["offline"], &first["model"]), (&json!(false), &json!("m")));
    assert_eq!(last["final_answer"], "Four things.");
    assert_eq!((&last["totals"]["requests"], &last["hint"]), (&json!(2), &Value::Null));
    let receipts = place.receipts();
    let names: Vec<_> = receipts.iter().map(|receipt| receipt["operationId"].clone()).collect();
    assert_eq!(last["receipts"], json!(names), "each request has its receipt");
    assert_eq!(receipts[0]["parentOperationId"], first["run_id"]);
    let result = events.iter().find(|event| name(event) == "tool_result").unwrap();
    let text: Value = serde_json::from_str(result["content"].as_str().unwrap()).unwrap();
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
    assert_eq!(resolved["approved"], false);
    assert_eq!(resolved["request_id"], asked["request_id"]);
    let result = events.iter().find(|event| name(event) == "tool_result").unwrap();
    assert_eq!(result["error_code"], "approval_denied");
}

#[test]
fn a_failure_is_the_last_event() {
    let server = ModelServer::playing([Reply::error(401, "invalid_api_key", "no")]);
    let ended = Place::empty().run_with(&server, &["--json", "--model", "m", "do it"]);
    let events = events(&ended);
    let last = events.last().unwrap();
    assert_eq!((name(last), &last["exit_code"]), ("run_failed", &json!(4)));
    assert_eq!(last["failure"]["code"], "AUTHENTICATION_FAILED");
    assert!(last["hint"].as_str().unwrap().contains("OPENAI_API_KEY"), "{last}");
    assert_eq!(last["totals"]["requests"], 1);
}

#[test]
fn a_run_that_asks_twice_is_two_runs_of_one_session() {
    let server = ModelServer::playing([Reply::text(""), Reply::text("There.")]);
    let ended = Place::empty().run_with(&server, &["--json", "--model", "m", "do it"]);
    let events = events(&ended);
    let ends: Vec<_> = events.iter().map(name).filter(|name| TERMINAL.contains(name)).collect();
    assert_eq!(ends, ["run_failed", "run_completed"]);
    assert_eq!(events[0]["session_id"], events.last().unwrap()["session_id"]);
    assert_eq!(events.last().unwrap()["totals"]["requests"], 2, "totals are over all runs");
}

#[test]
fn a_wrong_configuration_is_a_single_event() {
    let place = Place::empty();
    place.configure("modle = 'x'");
    for arguments in [&["--json", "do it"][..], &["--json", "--folder", "nowhere", "do it"]] {
        let ended = place.run(arguments);
        let events = events(&ended);
        assert_eq!((names(&events), ended.code), (vec!["run_failed"], Some(3)));
        assert_eq!(events[0]["error_code"], "configuration");
    }
}

#[test]
fn a_cancelled_run_ends_with_its_receipt_and_one_last_event() {
    let server = ModelServer::playing([Reply::stall_after("It begins")]);
    let place = Place::empty();
    let agent = place.agent(&["run", "--json", "--model", "m", "do it"]).with_server(&server);
    let running = agent.start();
    running.stdout.until("\"assistant_delta\"");
    running.signal(Signal::INT);
    let ended = running.ended();
    let events = events(&ended);
    assert_eq!(ended.code, Some(130));
    let last = events.last().unwrap();
    assert_eq!(name(last), "run_cancelled");
    assert_eq!(last["totals"]["requests"], 1);
    assert_eq!(last["receipts"], json!([place.receipts()[0]["operationId"]]));
    assert_eq!(last["cancel"]["unknown"], json!(["model call"]));
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

//! Decides whether a run ends where it was told to, and says so.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::{
    model_server::{ModelServer, Reply},
    place::Place,
};

#[test]
fn cycles_that_are_used_up_end_the_run_with_a_code_of_their_own() {
    let look = || Reply::remark_and_call("Looking.", "list_files", json!({}));
    let server = ModelServer::playing([look(), look()]);
    let place = Place::notes();
    let ended = place.run_with(&server, &["--max-cycles", "2", "--model", "m", "do it"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(8), ""), "{ended:?}");
    assert!(ended.stderr.contains("cycle 2 of 2\n"), "{ended:?}");
    assert!(ended.stderr.contains("agent: the limit of cycles (2) is reached"), "{ended:?}");
    assert!(ended.stderr.ends_with("       --max-cycles allows more\n"), "{ended:?}");
    assert_eq!(place.receipts().len(), 2);
}

#[test]
fn time_that_is_used_up_ends_the_run_with_a_code_of_its_own() {
    let (place, server) = (Place::empty(), ModelServer::playing([Reply::Silence]));
    let began = Instant::now();
    let ended = place.run_with(&server, &["--timeout", "1s", "--model", "m", "do it"]);
    assert!((1..10).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(9), ""), "{ended:?}");
    assert!(ended.stderr.ends_with("       --timeout allows more\n"), "{ended:?}");
    assert_eq!(place.receipts()[0]["end"], "cancelled", "it may have been billed");
}

#[test]
fn a_command_is_ended_with_the_time_of_its_run() {
    let sleep = Reply::call("run_command", json!({ "command": "sleep 987; touch late" }));
    let (place, server) = (Place::empty(), ModelServer::playing([sleep]));
    let agent = place.agent(&["run", "--timeout", "2s", "--model", "m", "do it"]);
    let mut terminal = agent.with_server(&server).at_terminal();
    terminal.until("[y]es, [N]o");
    terminal.type_line("y");
    let typed = Instant::now();
    let left = terminal.left();
    assert_eq!(left.code, Some(9), "{left:?}");
    assert!(typed.elapsed() < Duration::from_secs(8), "{:?}", typed.elapsed());
}

#[test]
fn a_question_lapses_with_the_time_of_its_run() {
    let write = Reply::call("write_file", json!({ "path": "a.txt", "content": "a" }));
    let (place, server) = (Place::empty(), ModelServer::playing([write]));
    let agent = place.agent(&["run", "--timeout", "1s", "--model", "m", "do it"]);
    let terminal = agent.with_server(&server).at_terminal();
    let left = terminal.left();
    assert_eq!(left.code, Some(9), "{left:?}");
    // What becomes of the call may be told before it: both follow from the same moment.
    let (_, after) = left.screen.split_once("[a]ll writes of this run > ").unwrap_or_default();
    assert!(after.contains("\n(this is not asked any more)\n"), "{left:?}");
    assert_eq!(place.file("a.txt"), None);
}

#[test]
fn a_wrong_limit_is_an_error_of_the_command_line() {
    for (arguments, told) in [
        (["--max-cycles", "0"], "a whole number of cycles, at least 1"),
        (["--max-cycles", "many"], "a whole number of cycles, at least 1"),
        (["--max-cycles", "99999999999"], "at most 4294967295"),
        (["--max-cycles", "-1"], "a whole number of cycles, at least 1"),
        (["--timeout", "-5s"], "write it like 90s, 10m, 2h or 1h30m"),
        (["--timeout", "10"], "write it like 90s, 10m, 2h or 1h30m"),
        (["--timeout", "0s"], "a run needs some time"),
        (["--timeout", "48h"], "the longest is 24h"),
    ] {
        let ended = Place::empty().run(&[arguments[0], arguments[1], "do it"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains(told), "{ended:?}");
    }
}

#[test]
fn a_budget_of_tokens_lets_nothing_be_sent_that_could_go_over() {
    let (place, server) = (Place::empty(), ModelServer::playing([]));
    let ended = place.run_with(&server, &["--budget-tokens", "12", "--model", "m", "do it"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(9), ""), "{ended:?}");
    assert!(ended.stderr.ends_with("       --budget-tokens allows more\n"), "{ended:?}");
    assert_eq!((server.requests().len(), place.receipts().len()), (0, 0));
}

#[test]
fn a_budget_that_is_enough_is_not_noticed() {
    let (place, server) = (Place::empty(), ModelServer::playing([Reply::text("Done.")]));
    let ended = place.run_with(&server, &["--budget-tokens", "1000000", "--model", "m", "do it"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
}

#[test]
fn a_budget_in_dollars_needs_a_model_with_a_price() {
    let (place, server) = (Place::empty(), ModelServer::playing([]));
    let ended = place.run_with(&server, &["--budget-usd", "0.50", "--model", "m", "do it"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), ""), "{ended:?}");
    assert!(ended.stderr.contains("budget_unpriced_model"), "{ended:?}");
    assert!(ended.stderr.contains("--budget-tokens"), "{ended:?}");
}

#[test]
fn a_budget_that_is_no_amount_is_a_wrong_command_line() {
    for (flag, amount, hint) in [
        ("--budget-usd", "much", "write dollars like 2, 0.50"),
        ("--budget-usd", "-1", "write dollars like"),
        ("--budget-tokens", "0", "a whole number of tokens, at least 1"),
    ] {
        let ended = Place::empty().run(&[flag, amount, "do it"]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(hint), "{ended:?}");
    }
}

#[test]
fn what_is_left_of_chosen_limits_is_told_at_the_end() {
    let (place, server) = (Place::empty(), ModelServer::playing([Reply::text("Done.")]));
    let limits = ["--budget-tokens", "1000000", "--max-cycles", "5", "--timeout", "10m"];
    let rest = ["--model", "m", "do it"];
    let ended = place.run_with(&server, &[&limits[..], &rest[..]].concat());
    assert!(ended.stderr.contains("left    4 cycles; 999"), "{ended:?}");
    assert!(ended.stderr.contains(" tokens; "), "{ended:?}");
    let server = ModelServer::playing([Reply::text("Done.")]);
    let ended = place.run_with(&server, &[&["--json"], &limits[..], &rest[..]].concat());
    let last: serde_json::Value =
        serde_json::from_str(ended.stdout.lines().last().expect("a line")).expect("JSON");
    let left = &last["left"];
    assert_eq!((&left["cycles"], &left["cost_nano_usd"]), (&4.into(), &serde_json::Value::Null));
    let (tokens, time) = (left["tokens"].as_u64(), left["time_ms"].as_u64());
    assert!(tokens.is_some_and(|it| (990_000..1_000_000).contains(&it)), "{left}");
    assert!(time.is_some_and(|it| (500_000..=600_000).contains(&it)), "{left}");
}

#[test]
fn what_nobody_limited_is_not_told_and_what_nobody_can_count_is_unpriced() {
    let (place, server) = (Place::empty(), ModelServer::playing([Reply::text("Done.")]));
    let ended = place.run_with(&server, &["--model", "m", "do it"]);
    assert!(!ended.stderr.contains("left  "), "{ended:?}");
    let server = ModelServer::playing([]);
    let ended = place.run_with(&server, &["--budget-usd", "0.50", "--model", "m", "do it"]);
    assert!(ended.stderr.contains("left    cost unpriced\n"), "{ended:?}");
}

//! Decides whether `agent receipts` tells what runs cost, and calls an unknown unknown.

use serde_json::{Value, json};

use crate::{
    model_server::{ModelServer, Reply},
    place::Place,
};

const UNKNOWN: &str = "unavailable";

fn json_lines(place: &Place, arguments: &[&str]) -> Vec<Value> {
    let ended = place.agent(&[&["receipts", "--json"], arguments].concat()).ended();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn nothing_is_listed_before_the_first_run() {
    let place = Place::empty();
    let ended = place.agent(&["receipts"]).ended();
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.stdout, "no receipts here yet; agent run leaves them\n");
    assert_eq!(json_lines(&place, &[]), Vec::<Value>::new());
}

#[test]
fn the_offline_model_is_unavailable_and_never_zero() {
    let place = Place::notes();
    place.run(&["list the files"]);
    let ended = place.agent(&["receipts"]).ended();
    let lines: Vec<Vec<&str>> =
        ended.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    for line in &lines[2..4] {
        assert_eq!(line[3], "completed", "{ended:?}");
        assert_eq!(line[6..], ["1", "ada", "offline", UNKNOWN, UNKNOWN, UNKNOWN]);
    }
    assert_eq!(lines[5].join(" "), "Totals per UTC day, user and model");
    assert_eq!(lines[7][1..], ["ada", "offline", "2", "2", UNKNOWN, UNKNOWN, UNKNOWN]);

    let lines = json_lines(&place, &[]);
    let (receipt, totals) = (&lines[0]["receipt"], &lines[2]["totals"]);
    assert_eq!(receipt["metering"], json!({ "type": "unavailable" }));
    assert_eq!(receipt["costNanoUsd"], Value::Null);
    let unknown = json!({ "atLeast": 0, "complete": false });
    for sum in ["inputTokens", "outputTokens", "costNanoUsd"] {
        assert_eq!(totals[sum], unknown, "{sum}");
    }
}

#[test]
fn tokens_that_a_provider_reported_are_listed_and_summed() {
    let server = ModelServer::playing([Reply::text("one"), Reply::text("two")]);
    let place = Place::empty();
    for _ in 0..2 {
        let ended = place.run_with(&server, &["--model", "m", "say something"]);
        assert!(ended.stderr.contains("; tokens in 10, out 5"), "{ended:?}");
    }
    let ended = place.agent(&["receipts"]).ended();
    assert!(ended.stdout.contains("m at 127.0.0.1:"), "{ended:?}");
    let totals: Vec<&str> = ended.stdout.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(totals[5..], ["2", "2", "20", "10", UNKNOWN], "{ended:?}");
}

#[test]
fn a_day_and_a_limit_narrow_what_is_listed() {
    let place = Place::notes();
    for _ in 0..3 {
        place.run(&["list the files"]);
    }
    let kinds = |arguments: &[&str]| -> Vec<String> {
        let lines = json_lines(&place, arguments).into_iter();
        lines.map(|line| line["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&["--limit", "0"]), ["totals"]);
    assert_eq!(kinds(&["--limit", "2"]), ["receipt", "receipt", "totals"]);
    assert_eq!(kinds(&["--day", "1999-12-31"]), Vec::<String>::new());
    let totals = json_lines(&place, &["--limit", "0"]);
    assert_eq!(totals[0]["totals"]["turns"], 6, "totals are over all turns");
    let day = totals[0]["totals"]["utcDay"].as_str().unwrap();
    assert_eq!(kinds(&["--day", day]).len(), 7);
    let plain = place.agent(&["receipts", "--limit", "0"]).ended().stdout;
    assert!(plain.starts_with("Totals per UTC day, user and model\n"), "{plain}");
    let wrong = place.agent(&["receipts", "--day", "yesterday"]).ended();
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("YYYY-MM-DD"), "{wrong:?}");
}

#[test]
fn a_damaged_line_is_told_and_the_rest_is_listed() {
    let place = Place::notes();
    place.run(&["list the files"]);
    let file = place.path("state/agent/receipts/receipts.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}{{ torn\n")).unwrap();
    let ended = place.agent(&["receipts"]).ended();
    assert_eq!(ended.code, Some(0));
    assert!(ended.stdout.contains("completed"), "{ended:?}");
    assert!(ended.stderr.contains("of receipts.jsonl was skipped"), "{ended:?}");
}

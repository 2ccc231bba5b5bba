//! Decides whether the key stays where it belongs: in one header of a request, and nowhere else.

use serde_json::json;

use crate::{
    model_server::{ModelServer, Reply},
    place::{Ended, Place},
};

const KEY: &str = "sk-canary-5f3a";

fn run(place: &Place, replies: impl IntoIterator<Item = Reply>, arguments: &[&str]) -> Ended {
    let server = ModelServer::playing(replies);
    let arguments = [&["run", "--model", "m"], arguments].concat();
    let agent = place.agent(&arguments).with_server(&server).env("OPENAI_API_KEY", KEY);
    let ended = agent.env("RUST_LOG", "trace").env("RUST_BACKTRACE", "full").ended();
    let requests = server.requests();
    let header = format!("authorization: Bearer {KEY}\r\n").to_lowercase();
    assert!(requests[0].head.to_lowercase().contains(&header), "{}", requests[0].head);
    for request in requests {
        assert!(!request.body.to_string().contains(KEY), "{}", request.body);
    }
    ended
}

#[test]
fn the_key_is_in_no_output_and_in_no_file() {
    let echo = format!("your key {KEY} is wrong");
    for (replies, arguments) in [
        (vec![Reply::text("Fine.")], &["do it"][..]),
        (vec![Reply::text("Fine.")], &["--json", "do it"]),
        (vec![Reply::error(401, "invalid_api_key", &echo)], &["do it"]),
        (vec![Reply::error(401, &format!("code-{KEY}"), &echo)], &["--json", "do it"]),
        (vec![Reply::error(400, KEY, &echo)], &["do it"]),
        (vec![Reply::cut_after("It begins")], &["do it"]),
        (vec![Reply::Status(302, "location: http://evil/\r\n", echo.clone())], &["do it"]),
        (vec![Reply::Status(200, "", format!("{{ {KEY}"))], &["do it"]),
    ] {
        let place = Place::empty();
        let ended = run(&place, replies, arguments);
        let receipts = place.agent(&["receipts"]).ended();
        let lines = place.agent(&["receipts", "--json"]).ended();
        let outputs = [ended.stdout, ended.stderr, receipts.stdout, lines.stdout, place.kept()];
        for output in outputs {
            assert!(!output.contains("canary"), "{output}");
        }
    }
}

#[test]
fn a_command_does_not_find_the_key_in_its_environment() {
    let command = json!({ "command": "env > seen.txt" });
    let server = ModelServer::playing([Reply::call("run_command", command), Reply::text("Fine.")]);
    let place = Place::empty();
    let agent = place.agent(&["run", "--model", "m", "do it"]).with_server(&server);
    let mut terminal = agent.env("OPENAI_API_KEY", KEY).at_terminal();
    terminal.until("[y]es, [N]o");
    terminal.type_line("y");
    assert_eq!(terminal.left().code, Some(0));
    let seen = place.file("seen.txt").unwrap();
    assert!(seen.contains("PATH=") && !seen.contains("canary"), "{seen}");
}

#[test]
fn what_the_command_keeps_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::notes();
    place.run(&["list the files"]);
    for name in ["state/agent/receipts", "state/agent/receipts/receipts.jsonl"] {
        let mode = std::fs::metadata(place.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
    }
}

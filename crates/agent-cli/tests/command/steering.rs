//! Decides whether a line that is typed while the agent works reaches it, and a question of the
//! agent is answered in place.

use serde_json::{Value, json};

use crate::{
    model_server::{ModelServer, Reply},
    place::Place,
    terminal::{Left, Terminal},
};

const CHOICES: &str = "[y]es, [N]o or why not";

fn at_terminal(place: &Place, server: &ModelServer) -> Terminal {
    place.agent(&["run", "--model", "m", "do it"]).with_server(server).at_terminal()
}

/// The texts of the user in a request.
fn said(server: &ModelServer, request: usize) -> Vec<String> {
    let messages = server.requests()[request].body["messages"].clone();
    let of_user = messages.as_array().unwrap().iter().filter(|message| message["role"] == "user");
    of_user.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

fn write(path: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": "x" }))
}

fn command(command: &str) -> (&'static str, Value) {
    ("run_command", json!({ "command": command }))
}

#[test]
fn a_line_that_is_typed_while_a_tool_runs_comes_before_the_next_step() {
    let place = Place::empty();
    let first = command("until test -e go; do sleep 0.01; done");
    let calls = Reply::calls(&[first, write("second.txt")]);
    let server = ModelServer::playing([calls, Reply::text("As you like.")]);
    let mut terminal = at_terminal(&place, &server);
    terminal.until(CHOICES);
    terminal.type_line("y");
    terminal.until("approved");
    terminal.type_line("leave the second file alone");
    terminal.until("steering noted; the model is told at its next step");
    place.put("go", "");
    let left = terminal.left();
    assert_eq!(left.code, Some(0), "{left:?}");
    assert_eq!(place.file("second.txt"), None, "what had not begun does not begin");
    assert_eq!(said(&server, 1), ["do it", "leave the second file alone"]);
    let told = "steering applied in cycle 1: leave the second file alone";
    assert!(left.screen.contains(told), "{left:?}");
    assert!(left.screen.contains("skipped:") && left.screen.contains("write_file second.txt"));
}

#[test]
fn a_line_that_is_typed_while_the_answer_comes_gets_another_cycle() {
    let place = Place::empty();
    let slow = Reply::pausing_after("It begins", " and ends.");
    let server = ModelServer::playing([slow, Reply::text("In short: yes.")]);
    let mut terminal = at_terminal(&place, &server);
    terminal.until("It begins");
    terminal.type_line("be brief");
    terminal.until("steering noted");
    server.go_on();
    let left = terminal.left();
    assert_eq!(left.code, Some(0), "{left:?}");
    assert_eq!(said(&server, 1), ["do it", "be brief"]);
    assert!(left.screen.contains("steering applied in cycle 2: be brief"), "{left:?}");
    assert_eq!(left.screen.matches("In short: yes.\n").count(), 1, "{left:?}");
}

#[test]
fn a_line_that_comes_too_late_is_given_back() {
    let place = Place::empty();
    let server = ModelServer::playing([Reply::pausing_after("It begins", " and ends.")]);
    let agent = place.agent(&["run", "--max-cycles", "1", "--model", "m", "do it"]);
    let mut terminal = agent.with_server(&server).at_terminal();
    terminal.until("It begins");
    terminal.type_line("one more thing\u{1b}[2J");
    terminal.until("steering noted");
    server.go_on();
    let left: Left = terminal.left();
    let told = "steering not applied, the run had ended: one more thing\u{fffd}[2J";
    assert!(left.screen.contains(told), "{left:?}");
}

#[test]
fn several_questions_are_asked_one_after_the_other() {
    let place = Place::empty();
    let calls = [write("a.txt"), write("b.txt"), write("c.txt")];
    let server = ModelServer::playing([Reply::calls(&calls), Reply::text("Done.")]);
    let mut terminal = at_terminal(&place, &server);
    for (count, answer) in ["y", "n", "a"].into_iter().enumerate() {
        terminal.until_times(CHOICES, count + 1);
        terminal.type_line(answer);
    }
    assert_eq!(terminal.left().code, Some(0));
    let files = ["a.txt", "b.txt", "c.txt"].map(|name| place.file(name).is_some());
    assert_eq!(files, [true, false, true]);
}

#[test]
fn a_question_of_the_agent_is_answered_in_place() {
    let place = Place::empty();
    let question = json!({ "question": "Which colour?\u{1b}[2J", "choices": ["red", "blue"] });
    let server =
        ModelServer::playing([Reply::call("ask_user", question), Reply::text("Blue it is.")]);
    let mut terminal = at_terminal(&place, &server);
    terminal.until("Which colour?\u{fffd}[2J\n  - red\n  - blue\n> ");
    terminal.type_line("blue");
    let left = terminal.left();
    assert_eq!(left.code, Some(0), "{left:?}");
    assert_eq!(said(&server, 1), ["do it", "blue"]);
    assert!(left.screen.contains("Blue it is.\n"), "{left:?}");
    assert!(left.screen.contains("cycle 1 of 249"), "limits are shared: {left:?}");
}

#[test]
fn a_question_of_the_agent_that_is_not_answered_has_a_code_of_its_own() {
    for answer in ["", "\u{4}"] {
        let place = Place::empty();
        let question = json!({ "question": "Which colour?" });
        let server = ModelServer::playing([Reply::call("ask_user", question)]);
        let mut terminal = at_terminal(&place, &server);
        terminal.until("Which colour?\n> ");
        match answer {
            "" => terminal.type_line(""),
            _ => terminal.type_end_of_input(),
        }
        let left = terminal.left();
        assert_eq!(left.code, Some(7), "{left:?}");
        assert!(left.screen.contains("agent: waits for an answer to: Which colour?"), "{left:?}");
    }
}

#[test]
fn a_job_can_be_stopped_in_the_place_of_an_answer() {
    let place = Place::empty();
    let question = json!({ "question": "Which colour?" });
    let server = ModelServer::playing([Reply::call("ask_user", question)]);
    let terminal = at_terminal(&place, &server);
    terminal.until("Which colour?\n> ");
    terminal.signal(rustix::process::Signal::INT);
    let left = terminal.left();
    assert_eq!(left.code, Some(130), "{left:?}");
    assert!(left.screen.ends_with("agent: cancelled\x1b[0m\n"), "{left:?}");
}

#[test]
fn without_a_terminal_nothing_is_read() {
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    std::io::Write::write_all(&mut writer, b"steer me\n").unwrap();
    let server = ModelServer::playing([Reply::text("Done.")]);
    let place = Place::empty();
    let agent = place.agent(&["run", "--model", "m", "do it"]).with_server(&server);
    let ended = agent.stdin(reader.try_clone().unwrap()).ended();
    assert_eq!((ended.code, said(&server, 0)), (Some(0), vec!["do it".to_owned()]));
    drop(writer);
    let mut left_over = String::new();
    std::io::Read::read_to_string(&mut reader, &mut left_over).unwrap();
    assert_eq!(left_over, "steer me\n");
}

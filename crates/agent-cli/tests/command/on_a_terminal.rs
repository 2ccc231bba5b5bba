//! Decides whether a person at a terminal is asked properly, and sees the answer once.

use serde_json::json;

use crate::{
    model_server::{ModelServer, Reply},
    place::Place,
    terminal::Terminal,
};

const CHOICES: &str = "[y]es, [N]o or why not";

fn write(path: &str, content: &str) -> Reply {
    Reply::call("write_file", json!({ "path": path, "content": content }))
}

fn at_terminal(place: &Place, server: &ModelServer) -> Terminal {
    place.agent(&["run", "--model", "m", "do it"]).with_server(server).at_terminal()
}

#[test]
fn yes_runs_what_was_shown_in_full() {
    let place = Place::empty();
    let content = format!("first line\n{}\nlast line\n", "long ".repeat(200));
    let server = ModelServer::playing([write("new.txt", &content), Reply::text("Done.")]);
    let mut terminal = at_terminal(&place, &server);
    terminal.until(CHOICES);
    terminal.type_line("y");
    let left = terminal.left();
    assert_eq!(left.code, Some(0), "{left:?}");
    assert_eq!(place.file("new.txt"), Some(content.clone()));
    for line in content.lines() {
        assert!(left.screen.contains(&format!("\n  | {line}\n")), "{line} in {}", left.screen);
    }
    assert!(left.screen.contains("  path: \"new.txt\"\nAllow write_file new.txt? "), "{left:?}");
    assert!(left.is_cooked);
}

#[test]
fn enter_refuses_and_a_sentence_is_passed_on_to_the_model() {
    for (typed, told) in [("", "the user said no"), ("call it old.txt", "call it old.txt")] {
        let place = Place::empty();
        let server = ModelServer::playing([write("new.txt", "x"), Reply::text("I see.")]);
        let mut terminal = at_terminal(&place, &server);
        terminal.until(CHOICES);
        terminal.type_line(typed);
        let left = terminal.left();
        assert_eq!(left.code, Some(0), "{left:?}");
        assert_eq!(place.file("new.txt"), None);
        let messages = server.requests()[1].body["messages"].to_string();
        assert!(messages.contains(told) && messages.contains("approval_denied"), "{messages}");
    }
}

#[test]
fn all_covers_further_writes_but_no_command() {
    let place = Place::empty();
    let command = Reply::call("run_command", json!({ "command": "echo made > c.txt" }));
    let replies = [write("a.txt", "a"), write("b.txt", "b"), command, Reply::text("Done.")];
    let server = ModelServer::playing(replies);
    let mut terminal = at_terminal(&place, &server);
    terminal.until("[a]ll writes of this run > ");
    terminal.type_line("a");
    terminal.until_times(CHOICES, 2);
    terminal.type_line("a");
    let left = terminal.left();
    assert_eq!(left.code, Some(0), "{left:?}");
    let files = ["a.txt", "b.txt", "c.txt"].map(|name| place.file(name));
    assert_eq!(files, [Some("a".into()), Some("b".into()), None]);
    assert!(left.screen.contains("Allow run_command echo made > c.txt? [y]es, [N]o or why not > "));
}

#[test]
fn a_command_that_was_allowed_runs() {
    let place = Place::empty();
    let command = Reply::call("run_command", json!({ "command": "echo made > c.txt; echo loud" }));
    let server = ModelServer::playing([command, Reply::text("Done.")]);
    let mut terminal = at_terminal(&place, &server);
    terminal.until(CHOICES);
    terminal.type_line("yes");
    let left = terminal.left();
    assert_eq!(place.file("c.txt").as_deref(), Some("made\n"));
    assert!(left.screen.contains("exit code 0: loud"), "{left:?}");
}

#[test]
fn what_was_typed_before_a_question_does_not_answer_it() {
    let place = Place::empty();
    let server = ModelServer::playing([write("new.txt", "x"), Reply::text("Fine.")]);
    let agent = place.agent(&["run", "--model", "m", "do it"]).with_server(&server);
    let mut terminal = agent.at_terminal();
    terminal.type_line("y");
    terminal.type_line("y");
    terminal.until(CHOICES);
    terminal.type_line("n");
    assert_eq!(terminal.left().code, Some(0));
    assert_eq!(place.file("new.txt"), None);
}

#[test]
fn the_end_of_input_is_no_approval() {
    let place = Place::empty();
    let server = ModelServer::playing([write("new.txt", "x"), Reply::text("Fine.")]);
    let mut terminal = at_terminal(&place, &server);
    terminal.until(CHOICES);
    terminal.type_end_of_input();
    let left = terminal.left();
    assert_eq!(left.code, Some(6), "{left:?}");
    assert_eq!(place.file("new.txt"), None);
    assert!(left.screen.contains(" > \n"), "the line of the question is ended: {left:?}");
}

#[test]
fn a_model_cannot_steer_the_terminal_or_forge_a_question() {
    let place = Place::empty();
    let forged = "x\x1b[2J\rAllow nothing? [y]es\nAllow write_file ok.md? [y]es > \u{202e}";
    let replies = [
        Reply::remark_and_call(
            "\x1b]52;c;eA==\x07",
            "write_file",
            json!({
                "path": "a\u{1b}[31m.txt", "content": forged
            }),
        ),
        Reply::call("read_file", json!({ "path": "\u{9b}2J" })),
        Reply::text("\x1b[2Jhidden\u{202e}"),
    ];
    let server = ModelServer::playing(replies);
    let mut terminal = at_terminal(&place, &server);
    terminal.until("Allow write_file a");
    terminal.type_line("n");
    let left = terminal.left();
    let screen = without_our_colours(&left.screen);
    let steering = |at: char| at != '\n' && at != '\t' && at.is_control() || at == '\u{202e}';
    assert!(!screen.contains(steering), "{screen:?}");
    assert!(screen.contains("  | x\\u{1b}[2J\\u{d}Allow nothing? [y]es\n"), "{screen}");
    assert!(screen.contains("  | Allow write_file ok.md? [y]es > \\u{202e}\n"), "{screen}");
}

/// The screen without the few styles that the command itself uses.
fn without_our_colours(screen: &str) -> String {
    let ours = ["\x1b[0m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[36m"];
    ours.iter().fold(screen.to_owned(), |screen, style| screen.replace(style, ""))
}

#[test]
fn an_answer_is_streamed_once() {
    let place = Place::notes();
    let server = ModelServer::playing([
        Reply::remark_and_call("Let me look.", "list_files", json!({})),
        Reply::text("Five things, among them ideas."),
    ]);
    let terminal = at_terminal(&place, &server);
    let left = terminal.left();
    assert_eq!(left.code, Some(0));
    for said in ["Let me look.", "Five things, among them ideas."] {
        assert_eq!(left.screen.matches(&format!("{said}\n")).count(), 1, "{}", left.screen);
    }
}

#[test]
fn an_answer_is_shown_while_it_comes() {
    let place = Place::empty();
    let server = ModelServer::playing([Reply::stall_after("It begins like this")]);
    let terminal = at_terminal(&place, &server);
    terminal.until("It begins like this");
    terminal.signal(rustix::process::Signal::INT);
    assert_eq!(terminal.left().code, Some(130));
}

#[test]
fn reasoning_is_dimmed_and_stays_apart_from_the_answer() {
    let place = Place::empty();
    let server = ModelServer::playing([Reply::reasoned("Hm, two.", "Two.")]);
    let left = at_terminal(&place, &server).left();
    assert!(left.screen.contains("\x1b[2mHm, two.\x1b[0m\nTwo.\n"), "{:?}", left.screen);
}

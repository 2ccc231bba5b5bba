//! Decides whether a conversation can be held at a real terminal, 80 columns wide.

use rustix::process::Signal;
use serde_json::json;

use crate::{
    model_server::{ModelServer, Reply},
    place::Place,
    tmux::Tmux,
};

fn at_terminal(place: &Place, server: &ModelServer) -> Tmux {
    let agent = place.agent(&["chat", "--model", "m"]).with_server(server);
    let terminal = Tmux::running(place, agent, 80, 24);
    terminal.until("/help lists commands and keys\n>");
    terminal
}

/// The texts of the user in a request.
fn said(server: &ModelServer, request: usize) -> Vec<String> {
    let messages = server.requests()[request].body["messages"].clone();
    let of_user = messages.as_array().unwrap().iter().filter(|message| message["role"] == "user");
    of_user.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

fn leave(terminal: &Tmux) -> i32 {
    terminal.send("/exit");
    terminal.exit_code()
}

#[test]
fn each_message_is_answered_over_all_that_was_said() {
    let place = Place::empty();
    let server = ModelServer::playing([Reply::text("Hello, Ada."), Reply::text("As I said.")]);
    let terminal = at_terminal(&place, &server);
    terminal.send("I am Ada.");
    terminal.until_last(" s; tokens in 10, out 5; cost unavailable\n>");
    terminal.until("\nHello, Ada.\ntotals  1 request, ");
    terminal.send("Who am I?");
    terminal.until("\nAs I said.\ntotals");
    assert_eq!(said(&server, 1), ["I am Ada.", "Who am I?"]);
    assert!(server.requests()[1].body["messages"].to_string().contains("Hello, Ada."));
    terminal.send("/cost");
    terminal.until(
        "requests       2\ninput tokens   20\noutput tokens  10\ncost           unavailable",
    );
    assert_eq!(leave(&terminal), 0);
}

#[test]
fn a_message_may_have_several_lines_and_be_edited() {
    let place = Place::empty();
    let server = ModelServer::playing([Reply::text("One."), Reply::text("Two.")]);
    let terminal = at_terminal(&place, &server);
    terminal.type_text("first line\\");
    terminal.press(&["Enter"]);
    terminal.type_text("secnod");
    terminal.press(&["M-Enter"]);
    terminal.type_text("日本語");
    terminal.until("> first line\n  secnod\n  日本語");
    terminal.press(&["Up", "C-e", "C-w"]);
    terminal.type_text("second");
    terminal.press(&["Enter"]);
    terminal.until("One.");
    assert_eq!(said(&server, 0), ["first line\nsecond\n日本語"]);
    terminal.paste("pasted\nwith /exit\nin it");
    terminal.until("> pasted\n  with /exit\n  in it");
    terminal.press(&["Enter"]);
    terminal.until("Two.");
    assert_eq!(said(&server, 1)[1], "pasted\nwith /exit\nin it");
    terminal.press(&["Up"]);
    terminal.until_last("> pasted\n  with /exit\n  in it");
    terminal.press(&["C-c"]);
    terminal.until_last("cost unavailable\n>");
    assert_eq!(leave(&terminal), 0);
}

#[test]
fn what_is_being_typed_survives_a_question_and_answers_nothing() {
    let place = Place::empty();
    let write = Reply::call("write_file", json!({ "path": "new.txt", "content": "x" }));
    let server = ModelServer::playing([
        Reply::pausing_before(write),
        Reply::text("Written."),
        Reply::text("And said."),
    ]);
    let terminal = at_terminal(&place, &server);
    terminal.send("write it");
    server.until_requests(1);
    terminal.type_text("yes, and half a sent");
    terminal.until("steer > yes, and half a sent");
    server.go_on();
    terminal.until_last("[y]es, [N]o or why not, [a]ll writes of this run >");
    terminal.send("y");
    terminal.until("Written.");
    terminal.until_last("\n> yes, and half a sent");
    terminal.send("ence");
    terminal.until("And said.");
    assert_eq!(place.file("new.txt").as_deref(), Some("x"));
    assert_eq!(said(&server, 2), ["write it", "yes, and half a sentence"]);
    assert_eq!(leave(&terminal), 0);
}

#[test]
fn a_message_that_is_sent_while_it_works_steers() {
    let place = Place::empty();
    let server = ModelServer::playing([
        Reply::pausing_after("It begins", " and ends."),
        Reply::text("In short: yes."),
    ]);
    let terminal = at_terminal(&place, &server);
    terminal.send("tell me");
    terminal.until_last("It begins\nsteer >");
    terminal.send("/cost");
    terminal.until("this answer:");
    terminal.send("be brief");
    terminal.until("steering noted");
    server.go_on();
    terminal.until("steering applied in cycle 2: be brief");
    terminal.until("In short: yes.");
    assert_eq!(said(&server, 1), ["tell me", "be brief"]);
    assert_eq!(leave(&terminal), 0);
}

#[test]
fn one_ctrl_c_stops_the_answer_and_keeps_the_conversation() {
    let place = Place::empty();
    let server =
        ModelServer::playing([Reply::stall_after("It begins"), Reply::text("Still here.")]);
    let terminal = at_terminal(&place, &server);
    terminal.send("go");
    terminal.until("It begins");
    terminal.type_text("kept");
    terminal.press(&["C-c"]);
    terminal.until("agent: cancelled");
    terminal.until_last("\n> kept");
    terminal.send("");
    terminal.until("Still here.");
    assert_eq!(said(&server, 1), ["go", "kept"]);
    // What is stopped next must be the prompt, and not the rest of this answer.
    terminal.until("tokens in 10, out 5");
    terminal.press(&["C-c"]);
    terminal.until("agent: press Ctrl-C again to leave");
    terminal.press(&["C-c"]);
    assert_eq!(terminal.exit_code(), 0);
}

#[test]
fn what_the_model_never_heard_is_given_back_when_it_was_stopped() {
    let place = Place::empty();
    let server = ModelServer::playing([Reply::stall_after("It begins"), Reply::text("Yes.")]);
    let terminal = at_terminal(&place, &server);
    terminal.send("go");
    terminal.until("It begins");
    terminal.send("also this");
    terminal.until("steering noted");
    terminal.press(&["C-c"]);
    terminal.until_last("\n> also this");
    terminal.press(&["Enter"]);
    terminal.until("Yes.");
    assert_eq!(said(&server, 1), ["go", "also this"]);
    assert_eq!(leave(&terminal), 0);
}

#[test]
fn what_came_too_late_to_steer_is_the_next_message() {
    let place = Place::empty();
    let server = ModelServer::playing([
        Reply::pausing_after("It begins", " and ends."),
        Reply::text("Yes."),
    ]);
    let agent = place.agent(&["chat", "--model", "m", "--max-cycles", "1"]).with_server(&server);
    let terminal = Tmux::running(&place, agent, 80, 24);
    terminal.until("keys\n>");
    terminal.send("go");
    terminal.until("It begins");
    terminal.send("one more thing");
    terminal.until("steering noted");
    server.go_on();
    terminal.until("Yes.\ntotals");
    assert_eq!(said(&server, 1), ["go", "one more thing"]);
    assert_eq!(leave(&terminal), 0);
}

#[test]
fn a_budget_is_for_all_messages_together() {
    let place = Place::empty();
    let server = ModelServer::playing([Reply::text("One."), Reply::text("Two.")]);
    let agent = place.agent(&["chat", "--model", "m", "--budget-tokens", "300_000"]);
    let terminal = Tmux::running(&place, agent.with_server(&server), 80, 24);
    terminal.until("keys\n>");
    for (message, answer) in [("a", "One.\ntotals"), ("b", "Two.\ntotals")] {
        terminal.send(message);
        terminal.until(answer);
    }
    terminal.send("/cost");
    terminal.until("budget left    299970 tokens");
    assert_eq!(leave(&terminal), 0);
}

#[test]
fn a_conversation_can_be_put_into_the_background_with_what_is_being_typed() {
    let place = Place::empty();
    let server = ModelServer::playing([Reply::text("Hello.")]);
    let agent = place.agent(&["chat", "--model", "m"]).with_server(&server);
    let terminal = Tmux::in_a_shell(&place, agent);
    terminal.until("keys\n>");
    terminal.type_text("half");
    terminal.until_last("\n> half");
    terminal.press(&["C-z"]);
    terminal.until_last("sh>");
    terminal.send("fg");
    terminal.until_last("\n> half");
    terminal.send(" a message");
    terminal.until("Hello.\ntotals");
    assert_eq!(said(&server, 0), ["half a message"]);
    terminal.send("/exit");
    terminal.until_last("sh>");
}

#[test]
fn colours_are_left_out_where_they_are_not_wanted() {
    for wanted in [true, false] {
        let place = Place::notes();
        let agent = place.agent(&["chat"]);
        let agent = if wanted { agent } else { agent.env("NO_COLOR", "1") };
        let terminal = Tmux::running(&place, agent, 80, 24);
        terminal.until("keys\n>");
        terminal.send("list the files");
        terminal.until("totals");
        let coloured = terminal.coloured();
        assert_eq!(coloured.contains('\u{1b}'), wanted, "{coloured:?}");
        assert_eq!(leave(&terminal), 0);
    }
}

#[test]
fn leaving_stops_what_is_at_work_and_so_does_the_end_of_the_process() {
    for (signal, code) in [(None, 0), (Some(Signal::TERM), 130)] {
        let place = Place::empty();
        let server = ModelServer::playing([Reply::stall_after("It begins")]);
        let terminal = at_terminal(&place, &server);
        terminal.send("go");
        terminal.until("It begins");
        match signal {
            None => terminal.send("/exit"),
            Some(signal) => terminal.signal(signal),
        }
        terminal.until("agent: cancelled");
        assert_eq!(terminal.exit_code(), code);
        assert_eq!(place.receipts().len(), 1);
    }
}

#[test]
fn a_question_that_ends_a_run_is_answered_by_the_next_message() {
    let place = Place::empty();
    let question = json!({ "question": "Which colour?", "choices": ["red", "blue"] });
    let server =
        ModelServer::playing([Reply::call("ask_user", question), Reply::text("Blue it is.")]);
    let terminal = at_terminal(&place, &server);
    terminal.send("paint it");
    terminal.until("Which colour?\n  - red\n  - blue\ntotals");
    terminal.send("blue");
    terminal.until("Blue it is.");
    assert_eq!(said(&server, 1), ["paint it", "blue"]);
    assert_eq!(leave(&terminal), 0);
}

#[test]
fn a_conversation_is_taken_up_again_with_what_was_typed() {
    let place = Place::empty();
    let server = ModelServer::playing([Reply::text("Hello."), Reply::text("Again.")]);
    let terminal = at_terminal(&place, &server);
    terminal.send("first of all");
    terminal.until("Hello.\ntotals");
    assert_eq!(leave(&terminal), 0);
    drop(terminal);
    let agent = place.agent(&["chat", "--model", "m", "--resume"]).with_server(&server);
    let terminal = Tmux::running(&place, agent, 80, 24);
    terminal
        .until("the conversation goes on after 3 messages\n  you    first of all\n  agent  Hello.");
    terminal.press(&["Up"]);
    terminal.until_last("> /exit");
    terminal.press(&["Up"]);
    terminal.until_last("> first of all");
    terminal.send(", and more");
    terminal.until("Again.");
    assert_eq!(said(&server, 1), ["first of all", "first of all, and more"]);
    assert_eq!(leave(&terminal), 0);
}

#[test]
fn long_answers_and_long_messages_keep_apart_in_a_narrow_terminal() {
    let place = Place::empty();
    let answer = "Ein langer Satz mit 日本語 und mehr. ".repeat(12);
    let server = ModelServer::playing([Reply::pausing_after("Also: ", &answer)]);
    let agent = place.agent(&["chat", "--model", "m"]).with_server(&server);
    let terminal = Tmux::running(&place, agent, 40, 20);
    terminal.until("keys\n>");
    terminal.send("erzähle");
    terminal.until("Also:");
    terminal.type_text(&"langer Entwurf 日本 ".repeat(6));
    server.go_on();
    terminal.until("totals");
    let shown = terminal.scrolled().replace('\n', "");
    assert!(shown.contains(&format!("Also: {}", answer.trim_end())), "{}", terminal.scrolled());
    assert_eq!(shown.matches("langer Entwurf").count(), 6, "{}", terminal.scrolled());
    terminal.resize(60, 15);
    terminal.press(&["C-c"]);
    terminal.until_last("\n>");
    assert_eq!(leave(&terminal), 0);
}

#[test]
fn a_model_cannot_steer_the_terminal() {
    let place = Place::empty();
    let server = ModelServer::playing([Reply::text("\u{1b}[2J\u{1b}]0;x\u{7}hidden\u{202e}")]);
    let terminal = at_terminal(&place, &server);
    terminal.send("go");
    terminal.until("\u{fffd}[2J\u{fffd}]0;x\u{fffd}hidden\u{fffd}\ntotals");
    assert!(terminal.screen().contains("/help lists commands"), "{}", terminal.screen());
    assert_eq!(leave(&terminal), 0);
}

//! Decides whether a run can be stopped at any time, leaves its receipt, and leaves the terminal
//! clean.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::json;

use crate::{
    model_server::{ModelServer, Reply},
    output::LIMIT,
    place::{Agent, Place, signal_child},
    terminal::{Left, Terminal},
};

/// A person does not wait longer.
const SOON: Duration = Duration::from_secs(2);

fn task(place: &Place, server: &ModelServer) -> Agent {
    place.agent(&["run", "--model", "m", "do it"]).with_server(server)
}

/// Interrupts; the run has to end soon, with its receipt, and with the terminal as it was.
fn interrupt(place: &Place, terminal: Terminal, signal: Signal, end: &str) -> Left {
    let sent = terminal.signal(signal);
    let left = terminal.left();
    let took = sent.elapsed();
    assert!(took < SOON, "{took:?}");
    assert_eq!(left.code, Some(130), "{left:?}");
    assert!(left.is_cooked);
    assert!(left.screen.contains("\nagent: stopping; press Ctrl-C again"), "{left:?}");
    assert!(left.screen.ends_with("agent: cancelled\x1b[0m\n"), "{:?}", left.screen);
    assert_eq!(left.screen.matches("\x1b[").count() % 2, 0, "no style is left on: {left:?}");
    let receipts = place.receipts();
    assert_eq!(receipts.len(), 1, "{receipts:?}");
    assert_eq!(receipts[0]["end"], end, "{receipts:?}");
    left
}

#[test]
fn while_the_provider_says_nothing() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (place, server) = (Place::empty(), ModelServer::playing([Reply::Silence]));
        let terminal = task(&place, &server).at_terminal();
        server.until_requests(1);
        interrupt(&place, terminal, signal, "cancelled");
        let requests = place.receipts()[0]["requests"].clone();
        assert_eq!(requests.as_array().unwrap().len(), 1, "it may have been billed: {requests}");
    }
}

#[test]
fn while_the_answer_comes() {
    let (place, server) = (Place::empty(), ModelServer::playing([Reply::stall_after("It begins")]));
    let terminal = task(&place, &server).at_terminal();
    terminal.until("It begins");
    let left = interrupt(&place, terminal, Signal::INT, "cancelled");
    assert!(left.screen.contains("It begins\nagent: stopping"), "{left:?}");
    assert!(left.screen.contains("may have taken effect: model call"), "{left:?}");
}

#[test]
fn while_a_command_runs_which_is_gone_then() {
    let place = Place::empty();
    let command = "sleep 987 & echo $! > child; echo $$ > shell; wait";
    let call = Reply::call("run_command", json!({ "command": command }));
    let server = ModelServer::playing([call]);
    let mut terminal = task(&place, &server).at_terminal();
    terminal.until("[y]es, [N]o");
    terminal.type_line("y");
    let pids = ["shell", "child"].map(|name| wait_for(&place, name));
    let left = interrupt(&place, terminal, Signal::INT, "completed");
    assert!(left.screen.contains("may have taken effect: tool run_command (call-1)"), "{left:?}");
    for pid in pids {
        assert!(!is_alive(&pid), "process {pid} of the command is alive");
    }
}

/// The number that a command writes down.
fn wait_for(place: &Place, name: &str) -> String {
    let until = Instant::now() + LIMIT;
    loop {
        match place.file(name) {
            Some(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => assert!(Instant::now() < until, "the command did not start"),
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

#[test]
fn while_a_question_waits() {
    let place = Place::empty();
    let call = Reply::call("write_file", json!({ "path": "a.txt", "content": "a" }));
    let server = ModelServer::playing([call]);
    let terminal = task(&place, &server).at_terminal();
    terminal.until("[a]ll writes of this run > ");
    let left = interrupt(&place, terminal, Signal::INT, "completed");
    assert!(left.screen.contains(" > \nagent: stopping"), "{left:?}");
    assert_eq!(place.file("a.txt"), None);
}

#[test]
fn while_a_limit_is_waited_for() {
    let limited = Reply::Status(429, "retry-after: 50\r\n", "{}".to_owned());
    let (place, server) = (Place::empty(), ModelServer::playing([limited]));
    let terminal = task(&place, &server).at_terminal();
    server.until_requests(1);
    thread::sleep(Duration::from_millis(200));
    interrupt(&place, terminal, Signal::INT, "cancelled");
}

#[test]
fn while_the_list_of_models_is_asked_for() {
    let place = Place::empty();
    let silent = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/v1", silent.local_addr().unwrap());
    let running = place.agent(&["run", "do it"]).env("OPENAI_BASE_URL", url).start();
    let connection = silent.accept().unwrap();
    let sent = running.signal(Signal::INT);
    let ended = running.ended();
    assert!(sent.elapsed() < SOON);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(130), ""), "{ended:?}");
    assert!(ended.stderr.ends_with("agent: cancelled\n"), "{ended:?}");
    assert_eq!(place.receipts().len(), 0, "no turn was started");
    drop(connection);
}

#[test]
fn without_a_terminal_the_answer_stays_empty_and_progress_says_why() {
    let (place, server) = (Place::empty(), ModelServer::playing([Reply::stall_after("It begins")]));
    let running = task(&place, &server).start();
    server.until_requests(1);
    running.signal(Signal::TERM);
    let ended = running.ended();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(130), ""), "{ended:?}");
    assert!(ended.stderr.contains(": cancelled, 1 request"), "{ended:?}");
}

#[test]
fn a_second_signal_ends_the_process_at_once() {
    // A receipt that cannot be written keeps the run from ending: its file is locked by another.
    let (place, server) = (Place::empty(), ModelServer::playing([Reply::Silence]));
    let running = task(&place, &server).start();
    server.until_requests(1);
    let lock = lock_receipts(&place);
    running.signal(Signal::INT);
    running.stderr.until("agent: stopping");
    thread::sleep(Duration::from_millis(200));
    let sent = running.signal(Signal::INT);
    let ended = running.ended();
    assert!(sent.elapsed() < SOON, "{:?}", sent.elapsed());
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(!ended.stderr.contains("agent: cancelled"), "it was ended, not finished: {ended:?}");
    drop(lock);
}

/// Holds the lock that every writer of receipts takes.
fn lock_receipts(place: &Place) -> fs::File {
    let path = place.path("state/agent/receipts/receipts.jsonl");
    let file = fs::File::options().read(true).write(true).open(path).unwrap();
    file.lock().unwrap();
    file
}

#[test]
fn a_second_signal_ends_a_process_whose_output_nobody_takes() {
    let answer = "a long answer ".repeat(20_000);
    let (place, server) = (Place::empty(), ModelServer::playing([Reply::text(&answer)]));
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = task(&place, &server).into_command();
    let mut child = command.stdout(writer).stderr(std::process::Stdio::null()).spawn().unwrap();
    drop(command);
    server.until_requests(1);
    let until = Instant::now() + LIMIT;
    while place.kept().is_empty() && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(Duration::from_millis(500));
    signal_child(&child, Signal::INT);
    thread::sleep(Duration::from_millis(500));
    let sent = signal_child(&child, Signal::INT);
    let code = crate::output::end_of(&mut child).code();
    assert!(sent.elapsed() < SOON, "{:?}", sent.elapsed());
    assert_eq!(code, Some(130));
    drop(reader);
}

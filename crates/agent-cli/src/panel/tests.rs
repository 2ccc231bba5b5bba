//! What becomes of what is typed. The screen is held by the tests of `ink`.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;

fn panel() -> Panel {
    let complete = |begun: &str| (begun == "/he").then(|| "/help".to_owned());
    let panel = Panel::on(Box::new(io::sink()), None, complete);
    panel.state().is_open = true;
    panel
}

fn press(panel: &Panel, code: KeyCode, modifiers: KeyModifiers) {
    panel.take(Event::Key(KeyEvent::new(code, modifiers)));
}

fn control(panel: &Panel, at: char) {
    press(panel, KeyCode::Char(at), KeyModifiers::CONTROL);
}

fn enter(panel: &Panel) {
    press(panel, KeyCode::Enter, KeyModifiers::NONE);
}

fn write(panel: &Panel, text: &str) {
    panel.take(Event::Paste(text.to_owned()));
}

/// The prompt and what is typed behind it.
fn shown(panel: &Panel) -> String {
    panel.state().layout().rows.join("\n")
}

fn text(text: &str) -> Entered {
    Entered::Text(text.to_owned())
}

fn answer(text: &str) -> Entered {
    Entered::Answer(text.to_owned())
}

#[test]
fn what_is_typed_when_a_question_appears_is_set_aside_and_comes_back() {
    let panel = panel();
    panel.set_working(true);
    write(&panel, "half a sent");
    panel.ask("really? > ");
    assert_eq!(shown(&panel), "really? > ");
    write(&panel, "y");
    enter(&panel);
    assert_eq!(panel.entered(), [answer("y")]);
    assert_eq!(shown(&panel), "steer > half a sent");
    write(&panel, "ence");
    enter(&panel);
    assert_eq!(panel.entered(), [text("half a sentence")]);
}

#[test]
fn a_text_that_was_sent_before_a_question_does_not_answer_it() {
    let panel = panel();
    write(&panel, "y");
    enter(&panel);
    panel.ask("really? > ");
    assert_eq!(panel.entered(), [text("y")]);
}

#[test]
fn an_answer_that_is_begun_is_dropped_with_its_question() {
    let panel = panel();
    write(&panel, "kept");
    panel.ask("really? > ");
    write(&panel, "ye");
    panel.withdraw();
    assert_eq!((shown(&panel).as_str(), panel.entered()), ("> kept", Vec::new()));
}

#[test]
fn enter_sends_nothing_that_is_empty_but_answers_with_it() {
    let panel = panel();
    enter(&panel);
    write(&panel, "  \n ");
    enter(&panel);
    assert_eq!(panel.entered(), []);
    panel.ask("really? > ");
    enter(&panel);
    assert_eq!(panel.entered(), [answer("")]);
}

#[test]
fn a_backslash_before_enter_begins_another_line() {
    let panel = panel();
    write(&panel, "one\\");
    enter(&panel);
    write(&panel, "two");
    enter(&panel);
    assert_eq!(panel.entered(), [text("one\ntwo")]);
}

#[test]
fn ctrl_c_takes_back_what_is_typed_at_rest_and_leaves_it_at_work() {
    let panel = panel();
    write(&panel, "text");
    control(&panel, 'c');
    assert_eq!((shown(&panel).as_str(), panel.entered()), ("> ", Vec::new()));
    control(&panel, 'c');
    assert_eq!(panel.entered(), [Entered::Stop]);
    panel.set_working(true);
    write(&panel, "text");
    control(&panel, 'c');
    assert_eq!((shown(&panel).as_str(), panel.entered()), ("steer > text", vec![Entered::Stop]));
}

#[test]
fn ctrl_d_leaves_when_nothing_is_typed_and_is_no_approval() {
    let panel = panel();
    write(&panel, "ab");
    press(&panel, KeyCode::Home, KeyModifiers::NONE);
    control(&panel, 'd');
    assert_eq!((shown(&panel).as_str(), panel.entered()), ("> b", Vec::new()));
    control(&panel, 'd');
    control(&panel, 'd');
    assert_eq!(panel.entered(), [Entered::Leave]);
    panel.ask("really? > ");
    control(&panel, 'd');
    assert_eq!(panel.entered(), [answer("")]);
}

#[test]
fn what_is_given_back_stands_before_what_is_typed() {
    let panel = panel();
    panel.give_back("first");
    assert_eq!(shown(&panel), "> first");
    panel.give_back("zeroth");
    assert_eq!(shown(&panel), "> zeroth\n  first");
}

#[test]
fn tab_completes_a_command() {
    let panel = panel();
    write(&panel, "/he");
    press(&panel, KeyCode::Tab, KeyModifiers::NONE);
    assert_eq!(shown(&panel), "> /help");
}

#[test]
fn what_was_sent_is_found_again_also_by_another_panel() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/typed");
    let none = |_: &str| None;
    let first = Panel::on(Box::new(io::sink()), Some(file.clone()), none);
    for text in ["one\ntwo", " a secret", "three"] {
        write(&first, text);
        enter(&first);
    }
    drop(first);
    let second = Panel::on(Box::new(io::sink()), Some(file.clone()), none);
    let up = || press(&second, KeyCode::Up, KeyModifiers::NONE);
    up();
    assert_eq!(shown(&second), "> three");
    up();
    assert_eq!(shown(&second), "> one\n  two");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

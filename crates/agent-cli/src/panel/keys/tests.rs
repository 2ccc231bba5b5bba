//! Keys by what they mean.

use super::*;

fn key(code: KeyCode, modifiers: KeyModifiers) -> Meaning {
    meaning(Event::Key(KeyEvent::new(code, modifiers)))
}

fn control(at: char) -> Meaning {
    key(KeyCode::Char(at), KeyModifiers::CONTROL)
}

#[test]
fn enter_sends_and_three_keys_begin_another_line() {
    assert_eq!(key(KeyCode::Enter, KeyModifiers::NONE), Meaning::Enter);
    for meaning in [
        key(KeyCode::Enter, KeyModifiers::ALT),
        key(KeyCode::Enter, KeyModifiers::SHIFT),
        control('j'),
    ] {
        assert_eq!(meaning, insert("\n"));
    }
}

#[test]
fn keys_that_stop_and_leave_are_no_text() {
    for (at, meaning) in [('c', Meaning::Stop), ('d', Meaning::Leave), ('z', Meaning::Suspend)] {
        assert_eq!(control(at), meaning);
    }
    assert_eq!(control('x'), Meaning::Nothing);
    assert_eq!(key(KeyCode::Char('x'), KeyModifiers::ALT), Meaning::Nothing);
    assert_eq!(key(KeyCode::F(1), KeyModifiers::NONE), Meaning::Nothing);
}

#[test]
fn what_is_pasted_keeps_its_lines() {
    assert_eq!(meaning(Event::Paste("a\r\nb\rc\nd".to_owned())), insert("a\nb\nc\nd"));
}

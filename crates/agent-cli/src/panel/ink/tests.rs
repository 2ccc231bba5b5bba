//! What a terminal shows after any mixture of text and input, by a terminal that is software.

use proptest::prelude::*;

use super::*;
use crate::panel::layout::layout;

const COLUMNS: usize = 20;

/// A terminal with input at its bottom.
struct Desk {
    terminal: vt100::Parser,
    ink: Ink,
    typed: Option<&'static str>,
}

impl Desk {
    fn new() -> Self {
        let size = |count| std::num::NonZero::new(count).unwrap();
        let terminal = vt100::Parser::new(size(10), size(20), 100);
        Self { terminal, ink: Ink::default(), typed: None }
    }

    fn layout(&self) -> Option<Layout> {
        self.typed.map(|typed| layout("> ", typed, typed.len(), COLUMNS))
    }

    fn show(&mut self, text: &str) {
        let bytes = self.ink.text(text, self.layout().as_ref(), COLUMNS);
        self.terminal.process(bytes.as_bytes());
    }

    fn set_typed(&mut self, typed: Option<&'static str>) {
        self.typed = typed;
        let bytes = self.ink.input(self.layout().as_ref(), COLUMNS);
        self.terminal.process(bytes.as_bytes());
    }

    fn screen(&self) -> String {
        self.terminal.screen().contents().trim_end().to_owned()
    }
}

#[test]
fn text_goes_above_what_is_typed() {
    let mut desk = Desk::new();
    desk.set_typed(Some("half a sen"));
    desk.show("one\n");
    desk.show("two\n");
    assert_eq!(desk.screen(), "one\ntwo\n> half a sen");
    assert_eq!(desk.terminal.screen().cursor_position(), (2, 12));
    desk.set_typed(None);
    assert_eq!(desk.screen(), "one\ntwo");
}

#[test]
fn a_line_goes_on_where_it_ended() {
    let mut desk = Desk::new();
    desk.set_typed(Some("日本"));
    for piece in ["It be", "gins ", "here", ".\n", "Then 日本語"] {
        desk.show(piece);
    }
    assert_eq!(desk.screen(), "It begins here.\nThen 日本語\n> 日本");
    desk.set_typed(None);
    desk.show(" ends");
    assert_eq!(desk.screen(), "It begins here.\nThen 日本語 ends");
}

#[test]
fn several_rows_of_input_are_erased_together() {
    let mut desk = Desk::new();
    desk.set_typed(Some("a line that takes more\nthan one row"));
    desk.show("said\n");
    assert_eq!(desk.screen(), "said\n> a line that takes\n more\n  than one row");
    desk.set_typed(Some(""));
    assert_eq!(desk.screen(), "said\n>");
}

#[test]
fn a_row_that_is_full_is_not_written_over() {
    let mut desk = Desk::new();
    desk.set_typed(Some("x"));
    desk.show("01234567890123456789");
    assert_eq!(desk.screen(), "01234567890123456789\n> x");
    desk.show("more");
    assert_eq!(desk.screen().replace('\n', ""), "01234567890123456789more> x");
}

fn typed() -> impl Strategy<Value = Option<&'static str>> {
    let several = "one\ntwo\nthree";
    prop::option::of(prop::sample::select(vec!["", "short", "longer than one row of it", several]))
}

proptest! {
    #[test]
    fn what_is_typed_changes_nothing_above_it(
        steps in prop::collection::vec((typed(), "[a-z 日\n]{0,30}"), 1..12),
    ) {
        let (mut desk, mut plain) = (Desk::new(), Desk::new());
        for (typed, text) in steps {
            desk.set_typed(typed);
            desk.show(&text);
            plain.show(&text);
        }
        desk.set_typed(None);
        let rows = |desk: &Desk| desk.screen().replace('\n', "");
        prop_assert!(rows(&plain).ends_with(&rows(&desk)) || rows(&desk).ends_with(&rows(&plain)));
    }
}

//! Decides whether colours appear where they help, and nowhere else.

use crate::place::{Agent, Place};

fn task(place: &Place) -> Agent {
    place.agent(&["run", "list the files"])
}

#[test]
fn without_a_terminal_no_escape_byte_is_written() {
    let place = Place::notes();
    let ended = task(&place).ended();
    assert!(!ended.stdout.contains('\x1b') && !ended.stderr.contains('\x1b'), "{ended:?}");
    let ended = place.agent(&["run", "--folder", "nowhere", "x"]).ended();
    assert!(!ended.stderr.contains('\x1b'), "{ended:?}");
}

#[test]
fn at_a_terminal_there_are_colours_unless_somebody_wants_none() {
    let place = Place::notes();
    let colourful = |agent: Agent| agent.at_terminal().left().screen.contains('\x1b');
    assert!(colourful(task(&place)));
    assert!(!colourful(task(&place).env("NO_COLOR", "1")));
    assert!(!colourful(task(&place).env("TERM", "dumb")));
}

#[test]
fn colours_can_be_forced_on_progress_but_not_on_the_answer() {
    let place = Place::notes();
    let ended = task(&place).env("CLICOLOR_FORCE", "1").ended();
    assert!(ended.stderr.contains('\x1b') && !ended.stdout.contains('\x1b'), "{ended:?}");
}

//! Notes that keep the form, and one broken note for each part of it.

use super::*;
use crate::tidy::tests::file;

const GOOD: &str = "# 1\n\n## Context\na\n## Decision\nb\n## Alternatives\nc\n## Consequences\nd\n";

fn rules(path: &str, text: &str) -> Vec<&'static str> {
    check(&file(path, text)).into_iter().map(|problem| problem.rule).collect()
}

#[test]
fn a_note_has_a_number_four_headings_and_sixty_lines() {
    assert_eq!(rules("docs/adr/0001-a.md", GOOD), Vec::<&str>::new());
    assert_eq!(rules("docs/adr/1-a.md", GOOD), ["decision-note"]);
    assert_eq!(rules("docs/adr/0001-.md", GOOD), ["decision-note"]);
    assert_eq!(rules("docs/adr/README.md", GOOD), ["decision-note"]);
    let long = format!("{GOOD}{}", "x\n".repeat(51));
    assert_eq!(rules("docs/adr/0001-a.md", &long), ["decision-note"]);
    for heading in HEADINGS {
        let without = GOOD.replace(heading, "## Other");
        assert_eq!(rules("docs/adr/0001-a.md", &without), ["decision-note"], "{heading}");
    }
    let swapped = GOOD.replace("## Context", "## X").replace("## Decision", "## Context");
    assert_eq!(rules("docs/adr/0001-a.md", &swapped), ["decision-note"]);
}

#[test]
fn only_the_folder_of_notes_and_the_agents_file_are_held_to_it() {
    assert_eq!(rules("docs/architecture.md", &"x\n".repeat(100)), Vec::<&str>::new());
    assert_eq!(rules("AGENTS.md", &"x\n".repeat(60)), Vec::<&str>::new());
    assert_eq!(rules("AGENTS.md", &"x\n".repeat(61)), ["agents-file"]);
}

#[test]
fn two_notes_never_share_a_number() {
    let one = [file("docs/adr/0001-a.md", GOOD), file("docs/adr/0002-b.md", GOOD)];
    assert_eq!(check_numbers(&one), []);
    let two = [file("docs/adr/0001-a.md", GOOD), file("docs/adr/0001-b.md", GOOD)];
    assert_eq!(check_numbers(&two).len(), 1);
}

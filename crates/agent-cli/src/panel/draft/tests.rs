//! Keys are written as words, the cursor as `|`.

use super::*;

/// Types `keys` into a draft, with two entries remembered.
fn typed(start: &str, edits: &[Edit]) -> String {
    let mut past = Past::kept_in(None);
    past.add("first entry");
    past.add("second\nentry");
    let mut killed = String::new();
    let (before, behind) = start.split_once('|').unwrap_or((start, ""));
    let mut draft = Draft::new(&format!("{before}{behind}"));
    draft.line.set_pos(before.len());
    for edit in edits {
        draft.edit(edit.clone(), &past, &mut killed);
    }
    let (before, behind) = draft.text().split_at(draft.cursor());
    format!("{before}|{behind}")
}

#[track_caller]
fn check(start: &str, edits: &[Edit], end: &str) {
    assert_eq!(typed(start, edits), end, "{edits:?}");
}

#[test]
fn characters_are_those_that_people_see() {
    check("ae\u{301}|", &[Edit::Backspace], "a|");
    check("a👩‍🚀|b", &[Edit::Left], "a|👩‍🚀b");
    check("|日本", &[Edit::Right, Edit::Delete], "日|");
    check("ab|", &[Edit::Swap], "ba|");
}

#[test]
fn words_and_lines_are_moved_over_and_cut() {
    check("one two|", &[Edit::WordLeft], "one |two");
    check("one| two", &[Edit::WordRight], "one two|");
    check("one two|", &[Edit::KillWord, Edit::LineStart, Edit::Yank], "two|one ");
    check("one |two\nmore", &[Edit::KillToEnd], "one |\nmore");
    check("a\none |two", &[Edit::KillToStart], "a\n|two");
    check("|one two", &[Edit::KillNextWord], "| two");
}

#[test]
fn up_and_down_move_between_lines_first() {
    check("one\ntw|o", &[Edit::Up], "on|e\ntwo");
    check("on|e\nt", &[Edit::Down], "one\nt|");
    check("日本|\nab", &[Edit::Down], "日本\nab|");
}

#[test]
fn what_was_typed_before_is_found_and_nothing_is_lost() {
    check("half|", &[Edit::Up], "second\nentry|");
    check("half|", &[Edit::Up, Edit::Up, Edit::Up], "first entry|");
    check("half|", &[Edit::Up, Edit::Down, Edit::Down], "half|");
    check("first|", &[Edit::Find], "first entry|");
    check("entry|", &[Edit::Find, Edit::Find], "first entry|");
    check("nowhere|", &[Edit::Find], "nowhere|");
}

#[test]
fn a_backslash_at_the_end_asks_for_another_line() {
    for (text, wants, left) in
        [("one\\", true, "one"), ("one\\\\", false, "one\\\\"), ("one", false, "one")]
    {
        let mut draft = Draft::new(text);
        assert_eq!((draft.wants_another_line(), draft.text()), (wants, left));
    }
}

//! Rows never reach the edge, and the cursor stands where the next character goes.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, cursor: usize, columns: usize, rows: &[&str], place: (usize, usize)) {
    let laid = layout("> ", text, cursor, columns);
    assert_eq!((laid.rows, laid.cursor), (rows.iter().map(|&row| row.into()).collect(), place));
}

#[test]
fn text_is_wrapped_one_column_before_the_edge() {
    check("", 0, 10, &["> "], (0, 2));
    check("abc", 1, 10, &["> abc"], (0, 3));
    check("abcdefg", 7, 10, &["> abcdefg"], (0, 9));
    check("abcdefgh", 8, 10, &["> abcdefg", "h"], (1, 1));
    check("abcdefgh", 7, 10, &["> abcdefg", "h"], (1, 0));
}

#[test]
fn further_lines_are_indented() {
    check("a\nb", 3, 10, &["> a", "  b"], (1, 3));
    check("a\n", 2, 10, &["> a", "  "], (1, 2));
    check("a\nb", 1, 10, &["> a", "  b"], (0, 3));
}

#[test]
fn wide_characters_take_two_columns_and_marks_none() {
    check("日本語", 9, 10, &["> 日本語"], (0, 8));
    check("日本語文", 12, 10, &["> 日本語", "文"], (1, 2));
    check("e\u{301}x", 3, 10, &["> e\u{301}x"], (0, 3));
}

#[test]
fn what_would_steer_the_terminal_is_replaced() {
    check("a\u{1b}[2J", 5, 12, &["> a\u{fffd}[2J"], (0, 7));
    check("a\tb", 3, 12, &["> a    b"], (0, 8));
}

#[test]
fn of_more_rows_than_fit_those_around_the_cursor_are_shown() {
    let tall = |cursor| layout("", "a\nb\nc\nd", cursor, 10).within(2);
    assert_eq!(tall(7), Layout { rows: vec!["  c".into(), "  d".into()], cursor: (1, 3) });
    assert_eq!(tall(0), Layout { rows: vec!["a".into(), "  b".into()], cursor: (0, 0) });
    assert_eq!(tall(3), Layout { rows: vec!["a".into(), "  b".into()], cursor: (1, 3) });
}

#[test]
fn a_line_that_the_terminal_wraps_ends_in_a_known_column() {
    for (line, behind) in [
        ("", 0),
        ("abc", 3),
        ("0123456789", 0),
        ("0123456789ab", 2),
        ("\x1b[2mabc\x1b[0m", 3),
        ("012345678日", 2),
        ("a\tb", 9),
    ] {
        assert_eq!(column_behind(line, 10), behind, "{line:?}");
    }
}

proptest! {
    #[test]
    fn no_row_reaches_the_edge(text in "[ -~\n日é\u{301}🦀]{0,80}", columns in 8usize..40) {
        for cursor in text.char_indices().map(|(at, _)| at).chain([text.len()]) {
            let laid = layout("ask > ", &text, cursor, columns);
            prop_assert!(laid.rows.iter().all(|row| row.width() < columns));
            prop_assert!(laid.cursor.0 < laid.rows.len().max(laid.cursor.0 + 1));
            prop_assert!(laid.cursor.1 < columns);
        }
    }
}

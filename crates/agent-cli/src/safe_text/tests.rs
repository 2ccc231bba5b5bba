//! Decides whether hostile text is made harmless.

use super::{safe_line, safe_text};

#[test]
fn what_steers_a_terminal_is_replaced() {
    for hostile in [
        "\x1b]52;c;ZXZpbA==\x07",
        "\x1b]8;;http://evil\x1b\\link",
        "\x1b[2J",
        "\x1bPq\x1b\\",
        "\u{9b}2J",
        "safe\rrm -rf",
        "a\u{202e}txt.exe",
        "a\u{2066}b\u{2069}",
        "x\u{7f}y",
        "\0",
    ] {
        let safe = safe_text(hostile);
        assert!(safe.contains('\u{fffd}'), "{hostile:?}");
        assert!(safe.chars().all(|at| at == '\n' || at == '\t' || !at.is_control()), "{safe:?}");
    }
    assert_eq!(safe_text("tab\tline\nünïcödé 🦀"), "tab\tline\nünïcödé 🦀");
    assert_eq!(safe_text("a\r\nb"), "a\nb");
}

#[test]
fn a_line_is_one_line_cut_at_a_character() {
    assert_eq!(safe_line("a\n  b\tc", 10), "a b c");
    assert_eq!(safe_line("äöü", 2), "äö…");
    assert_eq!(safe_line("äö", 2), "äö");
}

//! Decides whether hostile text is made harmless, and harmless text is left alone.

use super::{SafeStream, safe_columns, safe_json, safe_line, safe_text, spelt_out};

const HOSTILE: [&str; 14] = [
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]8;;http://evil\x1b\\link",
    "\x1b[2J",
    "\x1bPq\x1b\\",
    "\u{9b}2J",
    "safe\rrm -rf",
    "ends in a return\r",
    "a\u{202e}txt.exe",
    "a\u{2066}b\u{2069}",
    "x\u{7f}y",
    "\0",
    "a\u{200d}b",
    "\u{200c}",
    "tag\u{e0041}",
];

fn is_steering(at: char) -> bool {
    at != '\n' && at != '\t' && at.is_control()
}

#[test]
fn what_steers_a_terminal_is_replaced() {
    for hostile in HOSTILE {
        let safe = safe_text(hostile);
        assert!(safe.contains('\u{fffd}'), "{hostile:?}");
        assert!(!safe.contains(is_steering), "{safe:?}");
    }
}

#[test]
fn harmless_text_stays_as_it_is() {
    for text in ["tab\tline\nünïcödé 🦀", "👨\u{200d}👩\u{200d}👧", "نمی\u{200c}خواهم", "你好", ""]
    {
        assert_eq!(safe_text(text), text);
    }
    assert_eq!(safe_text("a\r\nb"), "a\nb");
}

#[test]
fn a_question_spells_out_what_would_be_lost() {
    for hostile in HOSTILE {
        let spelt = spelt_out(hostile);
        assert!(spelt.contains("\\u{") && !spelt.contains(is_steering), "{spelt:?}");
    }
    assert_eq!(spelt_out("a\n\tb\r"), "a\n\tb\\u{d}");
}

#[test]
fn json_says_the_same_without_what_steers_a_terminal() {
    let harmless = ["\u{e0041}", "a\u{fe0f}\tb\n\"\\", "你好 🦀"];
    for text in HOSTILE.into_iter().chain(harmless) {
        let json = serde_json::to_string(&[(text, 1)]).unwrap();
        let safe = safe_json(&json);
        assert_eq!(safe_text(&safe), safe, "{text:?}");
        assert_eq!(serde_json::from_str::<[(String, u8); 1]>(&safe).unwrap()[0].0, text);
    }
    assert_eq!(safe_json("\"ü\u{9b}\u{e0041}\""), r#""ü\u009b\udb40\udc41""#);
}

#[test]
fn pieces_come_out_like_the_whole() {
    for text in HOSTILE.into_iter().chain(["a\r\nb\r\n", "👨\u{200d}👩", "x\r\r\ny"]) {
        let mut stream = SafeStream::default();
        let mut pieces: String =
            text.chars().map(|at| stream.push(at.encode_utf8(&mut [0; 4]))).collect();
        pieces.push_str(stream.end());
        assert_eq!(pieces, safe_text(text), "{text:?}");
    }
}

#[test]
fn a_line_is_one_line_cut_at_a_character() {
    assert_eq!(safe_line("a\n  b\tc", 10), "a b c");
    assert_eq!(safe_line("äöü", 2), "äö…");
    assert_eq!(safe_line("äö", 2), "äö");
}

#[test]
fn a_line_is_cut_by_the_columns_that_it_takes() {
    for (text, columns, cut) in [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("a\u{1b}b", 9, "a\u{fffd}b"),
    ] {
        assert_eq!(safe_columns(text, columns), cut, "{text} in {columns}");
    }
}

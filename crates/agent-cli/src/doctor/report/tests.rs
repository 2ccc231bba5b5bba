//! Whether lines fit the width of a terminal.

use unicode_width::UnicodeWidthStr;

use super::wrapped;

#[test]
fn lines_fit_and_nothing_is_lost() {
    for text in ["", "a", "one two three four", "0123456789abcdef", "漢字漢字漢字 漢字", "a  b"]
    {
        for room in [6, 8, 20] {
            let lines = wrapped(text, room);
            assert!(lines.iter().all(|line| line.width() <= room), "{lines:?}");
            let bare = |text: &str| text.replace(' ', "");
            assert_eq!(bare(&lines.concat()), bare(text));
        }
    }
}

//! Whether lines fit the width of a terminal.

use unicode_width::UnicodeWidthStr;

use super::{Tally, wrapped};

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

#[test]
fn what_no_server_counted_is_no_number() {
    let check = |answers: &[(Option<u64>, Option<u64>)], expected: &str| {
        let mut tally = Tally::default();
        answers.iter().for_each(|(input, output)| tally.add(*input, *output));
        assert_eq!(tally.text(), expected, "{answers:?}");
    };
    check(&[], "tokens unknown: the server counted none");
    check(&[(None, None)], "tokens unknown: the server counted none");
    check(&[(Some(0), Some(0))], "0 tokens counted");
    check(&[(Some(9), Some(2)), (Some(5), Some(1))], "17 tokens counted");
    check(&[(Some(9), Some(2)), (None, None)], "at least 11 tokens");
    check(&[(Some(9), None)], "at least 9 tokens");
}

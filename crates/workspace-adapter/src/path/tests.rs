//! Checks which texts are paths.

use proptest::prelude::*;
use runtime_ports::PortFailureKind;

use super::{MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_BYTES, WorkspacePath, shown};

fn names(path: &str) -> Option<Vec<String>> {
    WorkspacePath::parse(path).ok().map(|path| path.names)
}

#[test]
fn plain_paths_are_taken_apart() {
    let check = |path: &str, expected: &[&str]| {
        assert_eq!(names(path).as_deref(), Some(&expected.map_owned()[..]), "{path}");
    };
    check("", &[]);
    check(".", &[]);
    check("./", &[]);
    check("a", &["a"]);
    check("a/b.txt", &["a", "b.txt"]);
    check("./a//b/./c/", &["a", "b", "c"]);
    check("..a/b../.c", &["..a", "b..", ".c"]);
    check("file~ x/#y/ä€😀", &["file~ x", "#y", "ä€😀"]);
    check("ab:c/d", &["ab:c", "d"]);
    check("~$letter.docx", &["~$letter.docx"]);
    check("50% off", &["50% off"]);
    check("AC／DC.mp3", &["AC／DC.mp3"]);
}

trait MapOwned {
    fn map_owned(&self) -> Vec<String>;
}

impl MapOwned for [&str] {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(|name| (*name).to_owned()).collect()
    }
}

#[test]
fn bounds_are_exact() {
    let name = |bytes| "n".repeat(bytes);
    assert!(names(&name(MAX_NAME_BYTES)).is_some());
    assert!(names(&name(MAX_NAME_BYTES + 1)).is_none());
    assert!(names(&vec!["d"; MAX_DEPTH].join("/")).is_some());
    assert!(names(&vec!["d"; MAX_DEPTH + 1].join("/")).is_none());
    assert!(names(&"./".repeat(MAX_PATH_BYTES / 2)).is_some());
    assert!(names(&format!("{}a", "./".repeat(MAX_PATH_BYTES / 2))).is_none());
}

#[test]
fn what_does_not_show_is_replaced() {
    assert_eq!(shown("a\nb\u{202e}c\u{1b}[2Jü"), "a\u{fffd}b\u{fffd}c\u{fffd}[2Jü");
}

proptest! {
    /// Whatever is accepted joins to a folder without leaving it, in the plain reading of the text
    /// and after decoding percent signs and turning backslashes around.
    #[test]
    fn what_is_accepted_stays_inside(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "..", ".", "/", "\\", "a", "~", "%2e", "%2E", "%2f", "%252e", "\0", "\n", ":",
                "file:", "C:", " ", "\u{2025}", "\u{ff0e}", "\u{ff0f}", "...", "b.txt", "\u{202e}",
            ]),
            0..8,
        ),
    ) {
        let path = parts.concat();
        match WorkspacePath::parse(&path) {
            Err(failure) => prop_assert_eq!(failure.kind, PortFailureKind::Forbidden),
            Ok(parsed) => {
                let decoded = path.to_lowercase().replace("%2e", ".").replace("%2f", "/");
                for reading in [path.clone(), decoded, path.replace('\\', "/")] {
                    prop_assert!(!reading.starts_with('/'));
                    prop_assert!(reading.split('/').all(|part| part.trim() != ".."));
                }
                prop_assert!(parsed.names().iter().all(|name| !name.contains('/')));
            }
        }
    }

    #[test]
    fn no_text_panics(path in any::<String>()) {
        let _ = WorkspacePath::parse(&path);
    }
}

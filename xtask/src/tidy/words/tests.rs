//! Each word where it is refused, and look-alikes that are not.

use super::*;
use crate::tidy::tests::{file, found};

fn places(problems: Vec<Problem>) -> Vec<String> {
    problems.into_iter().map(|problem| problem.place).collect()
}

#[test]
fn unfinished_work_is_refused_in_code_manifests_and_ci() {
    for word in LEFT_OPEN {
        let text = format!("fn a() {{}}\n// {word}(later)\n");
        for path in ["src/a.rs", "Cargo.toml", ".ci/run"] {
            let expected = [format!("{path}:2")];
            assert_eq!(places(check_left_open(&file(path, &text))), expected, "{word}");
        }
        assert_eq!(check_left_open(&file("docs/a.md", &text)), []);
    }
}

#[test]
fn longer_words_are_not_unfinished_work() {
    let text = concat!("let TO", "DOS = my_todo; // mktemp XX", "XXXX\nlet todo = 1;\n");
    assert_eq!(check_left_open(&file("src/a.rs", text)), []);
}

#[test]
fn paths_of_one_machine_are_refused_everywhere() {
    for folder in MACHINE_FOLDERS {
        for line in [format!("{folder}a"), format!("cd '{folder}a'"), format!("a={folder}a")] {
            let found = places(check_machine_paths(&file("docs/a.md", &line), ""));
            assert_eq!(found, ["docs/a.md:1"], "{line}");
        }
        let inside = format!("src{folder}a and {{root}}{folder}a and https://example.org{folder}");
        assert_eq!(check_machine_paths(&file("docs/a.md", &inside), ""), [], "{inside}");
    }
}

#[test]
fn the_home_of_who_asks_is_refused_unless_it_is_a_top_folder() {
    let check = |home| places(check_machine_paths(&file("a.sh", "ls /srv/ann/x /tmp/y"), home));
    assert_eq!(check("/srv/ann"), ["a.sh:1"]);
    assert_eq!(check("/srv/ann/"), ["a.sh:1"]);
    assert_eq!(check("/tmp"), Vec::<String>::new());
    assert_eq!(check("/"), Vec::<String>::new());
    assert_eq!(check(""), Vec::<String>::new());
}

#[test]
fn lock_files_are_not_ours() {
    let text = concat!("/ho", "me/ann\n");
    assert_eq!(check_machine_paths(&file("Cargo.lock", text), ""), []);
}

#[test]
fn an_ignored_test_needs_a_reason() {
    let check = |attribute: &str| {
        let text = format!("mod tests {{\n    #[test]\n    {attribute}\n    fn a() {{}}\n}}\n");
        found(check_ignored_tests, "src/a.rs", &text)
    };
    assert_eq!(check("#[ignore]"), ["src/a.rs:3"]);
    assert_eq!(check("#[ignore = \" \"]"), ["src/a.rs:3"]);
    assert_eq!(check("#[ignore = \"needs a real server\"]"), Vec::<String>::new());
}

//! What the examples of the vendor's public documentation come to, line by line of a file that was
//! read over. Each fixture begins with a comment that names its page.

use std::{fs, path::PathBuf};

use super::check;

#[test]
fn every_documented_answer_has_the_outcome_that_was_read_over() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/documented");
    let expected = fs::read_to_string(folder.join("expected.txt")).expect("the list");
    for line in expected.lines() {
        let (name, outcome) = line.split_once('\t').expect("a name, a tab and an outcome");
        let bytes = fs::read(folder.join(name)).expect("the fixture");
        check(name, &bytes, outcome);
    }
    let files = fs::read_dir(&folder).expect("the fixtures").count();
    assert_eq!(files, expected.lines().count() + 1, "a fixture is not in the list");
}

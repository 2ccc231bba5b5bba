//! What the answers of the vendor's documentation come to, line by line of a file that was read
//! over.

use std::{collections::BTreeSet, fs, path::PathBuf};

use super::check;

#[test]
fn every_fixture_has_the_outcome_that_was_read_over() {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let expected = fs::read_to_string(fixtures.join("expected.txt")).expect("the list");
    let mut listed = BTreeSet::from(["README.md".to_owned(), "expected.txt".to_owned()]);
    for line in expected.lines() {
        let (name, outcome) = line.split_once('\t').expect("a name, a tab and an outcome");
        let bytes = fs::read(fixtures.join(name)).expect("the fixture");
        check(name, &bytes, outcome);
        listed.insert(name.to_owned());
    }
    let files = fs::read_dir(&fixtures).expect("the fixtures").map(|file| file.expect("a file"));
    let files: BTreeSet<String> =
        files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(files, listed, "files (left) and the list (right)");
}

//! What the answers that real servers sent come to, line by line of a file that was read over.

use std::{fs, path::PathBuf};

use super::check;

#[test]
fn every_capture_has_the_outcome_that_was_read_over() {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let expected = fs::read_to_string(fixtures.join("captures-expected.txt")).expect("the list");
    for line in expected.lines() {
        let (name, outcome) = line.split_once('\t').expect("a name, a tab and an outcome");
        let bytes = fs::read(fixtures.join("captures").join(name)).expect("the capture");
        check(name, &bytes, outcome);
    }
    let folders = fs::read_dir(fixtures.join("captures")).expect("the captures");
    let folders = folders.map(|folder| folder.expect("a folder").path());
    let files = folders.map(|folder| fs::read_dir(folder).expect("a folder").count());
    assert_eq!(files.sum::<usize>(), expected.lines().count(), "a capture is not in the list");
}

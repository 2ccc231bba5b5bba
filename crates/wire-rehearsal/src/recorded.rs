//! Decides that every recorded answer has an outcome that someone read over, and no outcome lacks
//! its answer.
//!
//! Knows files and nothing of any API: what a recording comes to is the caller's to find out.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Plays each recording of `folder` that `list` names: its lines have a path within the folder, a
/// tab, and an outcome, which `check` is given with the bytes.
///
/// # Panics
/// When `check` does; when a file of the folder, other than the list and a `README.md`, is not in
/// the list; and when a file cannot be read.
pub fn check_all(folder: &Path, list: &Path, check: impl Fn(&str, &[u8], &str)) {
    let expected = fs::read_to_string(list).expect("the list");
    let mut listed = BTreeSet::new();
    for line in expected.lines() {
        let (name, outcome) = line.split_once('\t').expect("a name, a tab and an outcome");
        let path = folder.join(name);
        check(name, &fs::read(&path).expect("the recording"), outcome);
        assert!(listed.insert(path), "{name} is there twice");
    }
    let mut files = BTreeSet::new();
    collect(folder, &mut files);
    files.retain(|file| file != list && file.file_name().is_some_and(|name| name != "README.md"));
    assert_eq!(files, listed, "files (left) and the list (right)");
}

fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.insert(path);
        }
    }
}

//! The crates that are listed exist, and their sources can be walked.

use std::path::Path;

use super::*;

/// A tree from files, given as pairs of path and text.
pub(super) fn tree(files: &[(&str, &str)]) -> anyhow::Result<modules::Tree> {
    let read = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned())
    };
    modules::load("x", Path::new("src/lib.rs"), &read)
}

#[test]
fn every_listed_crate_can_be_walked() {
    let workspace = Workspace::locate().expect("tests run in the workspace");
    let present = present(&workspace);
    assert!(present.starts_with(&CRATES[..3]), "{present:?}");
    for name in present {
        let text = listing(&workspace, name).expect("the crate is walked");
        assert!(text.starts_with("# Public items of runtime_"), "{name}");
    }
}

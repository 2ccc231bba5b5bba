//! Decides whether one path is recognised inside another, however it is written.

use std::{fs, os::unix::fs::symlink};

use super::{is_within, make};

#[test]
fn a_path_is_found_inside_another_through_links_and_before_it_exists() {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    fs::create_dir_all(at("home/work")).unwrap();
    symlink(at("home"), at("link")).unwrap();
    for (inner, outer, expected) in [
        ("home", "home", true),
        ("home/work", "home", true),
        ("home/missing/agent", "home", true),
        ("link/missing", "home", true),
        ("home/work", "link", true),
        ("home", "home/work", false),
        ("homely", "home", false),
        ("missing/a", "missing", true),
    ] {
        assert_eq!(is_within(&at(inner), &at(outer)), expected, "{inner} in {outer}");
    }
}

#[test]
fn a_made_folder_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("a/b");
    make(&folder).unwrap();
    make(&folder).unwrap();
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
}

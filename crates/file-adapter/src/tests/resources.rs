//! Decides whether instructions come from the user's own files, whole or not at all.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use runtime_ports::{PortFailureKind, ResourceSession, ResourceSnapshot};
use rustix::fs::{CWD, Mode, mkfifoat};

use super::sample::{self, empty_folder, make_folder, operation};
use crate::FileResources;

async fn load(folder: &Path) -> ResourceSnapshot {
    FileResources::new(folder).load(&operation()).await.unwrap()
}

fn snapshot(instructions: &[&str], skills: &[(&str, &str)]) -> ResourceSnapshot {
    let skills = skills.iter().map(|(name, text)| ((*name).into(), (*text).into()));
    ResourceSnapshot::new(
        instructions.iter().map(|text| (*text).into()).collect(),
        skills.collect(),
    )
}

#[tokio::test]
async fn what_is_missing_is_left_out() {
    let folder = empty_folder();
    let empty = ResourceSnapshot::new(Vec::new(), BTreeMap::new());
    assert_eq!(load(&folder.path().join("missing")).await, empty);
    assert_eq!(load(folder.path()).await, empty);
    make_folder(&folder.path().join("skills"));
    assert_eq!(load(folder.path()).await, empty);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "loading makes nothing");
}

#[tokio::test]
async fn texts_are_read_anew_and_the_digest_follows_them() {
    let folder = empty_folder();
    let skills = folder.path().join("skills");
    make_folder(&skills);
    sample::write(&folder.path().join("instructions.md"), "be brief\n");
    sample::write(&skills.join("review.md"), "read twice");
    for ignored in ["notes.txt", ".review.md", ".md", "review.md~"] {
        sample::write(&skills.join(ignored), "ignored");
    }
    let first = load(folder.path()).await;
    assert_eq!(first, snapshot(&["be brief\n"], &[("review", "read twice")]));
    assert_eq!(load(folder.path()).await.digest, first.digest);
    sample::write(&skills.join("review.md"), "read thrice");
    let second = load(folder.path()).await;
    assert_eq!(second, snapshot(&["be brief\n"], &[("review", "read thrice")]));
    assert_ne!(second.digest, first.digest);
}

#[tokio::test]
async fn what_cannot_be_trusted_is_refused_by_name() {
    let check = async |spoil: &dyn Fn(&Path), code: &str, kind, names: &str| {
        let folder = empty_folder();
        make_folder(&folder.path().join("skills"));
        spoil(folder.path());
        let failure = FileResources::new(folder.path()).load(&operation()).await.unwrap_err();
        assert_eq!((&*failure.code, failure.kind), (code, kind), "{failure}");
        assert!(failure.message.contains(names), "{failure}");
    };
    let (instructions, skill) = ("instructions.md", "skills/a.md");
    let write = |name: &'static str, bytes: &'static [u8]| {
        move |folder: &Path| sample::write(&folder.join(name), bytes)
    };
    let expose = |name: &'static str| {
        move |folder: &Path| {
            let path = folder.join(name);
            if !path.is_dir() {
                sample::write(&path, "text");
            }
            fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
        }
    };
    let link = |name: &'static str| {
        move |folder: &Path| {
            sample::write(&folder.join("target"), "text");
            symlink(folder.join("target"), folder.join(name)).unwrap();
        }
    };
    let pipe = |folder: &Path| mkfifoat(CWD, folder.join(instructions), Mode::RUSR).unwrap();
    let directory = |folder: &Path| make_folder(&folder.join(skill));
    let long = |folder: &Path| sample::write(&folder.join(skill), "x".repeat((1 << 20) + 1));
    use PortFailureKind as Kind;
    check(&write(instructions, b"\xff"), "FILE_NOT_TEXT", Kind::Invalid, instructions).await;
    check(&write(skill, b"ok\xc3"), "FILE_NOT_TEXT", Kind::Invalid, skill).await;
    check(&long, "FILE_TOO_LONG", Kind::Invalid, skill).await;
    check(&expose(instructions), "FILE_EXPOSED", Kind::Forbidden, instructions).await;
    check(&expose(skill), "FILE_EXPOSED", Kind::Forbidden, skill).await;
    check(&expose("skills"), "FILE_EXPOSED", Kind::Forbidden, "skills").await;
    check(&link(instructions), "FILE_OPEN", Kind::Unavailable, instructions).await;
    check(&link(skill), "FILE_OPEN", Kind::Unavailable, skill).await;
    check(&pipe, "FILE_SPECIAL", Kind::Forbidden, instructions).await;
    check(&directory, "FILE_SPECIAL", Kind::Forbidden, skill).await;
}

#[tokio::test]
async fn a_text_of_the_longest_length_is_read() {
    let folder = empty_folder();
    let longest = "x".repeat(1 << 20);
    sample::write(&folder.path().join("instructions.md"), &longest);
    assert_eq!(load(folder.path()).await.instructions, [longest]);
}

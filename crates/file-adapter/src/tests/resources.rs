//! Decides whether instructions come from the user's own files, whole or not at all.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use runtime_ports::{PortFailureKind, ResourceSession, ResourceSnapshot};
use rustix::fs::{CWD, Mode, mkfifoat};

use super::sample::operation;
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
    let folder = tempfile::tempdir().unwrap();
    let empty = ResourceSnapshot::new(Vec::new(), BTreeMap::new());
    assert_eq!(load(&folder.path().join("missing")).await, empty);
    assert_eq!(load(folder.path()).await, empty);
    fs::create_dir(folder.path().join("skills")).unwrap();
    assert_eq!(load(folder.path()).await, empty);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "loading makes nothing");
}

#[tokio::test]
async fn texts_are_read_anew_and_the_digest_follows_them() {
    let folder = tempfile::tempdir().unwrap();
    let skills = folder.path().join("skills");
    fs::create_dir(&skills).unwrap();
    fs::write(folder.path().join("instructions.md"), "be brief\n").unwrap();
    fs::write(skills.join("review.md"), "read twice").unwrap();
    for ignored in ["notes.txt", ".review.md", ".md", "review.md~"] {
        fs::write(skills.join(ignored), "ignored").unwrap();
    }
    let first = load(folder.path()).await;
    assert_eq!(first, snapshot(&["be brief\n"], &[("review", "read twice")]));
    assert_eq!(load(folder.path()).await.digest, first.digest);
    fs::write(skills.join("review.md"), "read thrice").unwrap();
    let second = load(folder.path()).await;
    assert_eq!(second, snapshot(&["be brief\n"], &[("review", "read thrice")]));
    assert_ne!(second.digest, first.digest);
}

#[tokio::test]
async fn what_cannot_be_trusted_is_refused_by_name() {
    let check = async |spoil: &dyn Fn(&Path), code: &str, kind, names: &str| {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("skills")).unwrap();
        spoil(folder.path());
        let failure = FileResources::new(folder.path()).load(&operation()).await.unwrap_err();
        assert_eq!((&*failure.code, failure.kind), (code, kind), "{failure}");
        assert!(failure.message.contains(names), "{failure}");
    };
    let (instructions, skill) = ("instructions.md", "skills/a.md");
    let write = |name: &'static str, bytes: &'static [u8]| {
        move |folder: &Path| fs::write(folder.join(name), bytes).unwrap()
    };
    let expose = |name: &'static str| {
        move |folder: &Path| {
            let path = folder.join(name);
            if !path.is_dir() {
                fs::write(&path, "text").unwrap();
            }
            fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
        }
    };
    let link = |name: &'static str| {
        move |folder: &Path| {
            fs::write(folder.join("target"), "text").unwrap();
            symlink(folder.join("target"), folder.join(name)).unwrap();
        }
    };
    let pipe = |folder: &Path| mkfifoat(CWD, folder.join(instructions), Mode::RUSR).unwrap();
    let directory = |folder: &Path| fs::create_dir(folder.join(skill)).unwrap();
    let long = |folder: &Path| fs::write(folder.join(skill), "x".repeat((1 << 20) + 1)).unwrap();
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
    let folder = tempfile::tempdir().unwrap();
    let longest = "x".repeat(1 << 20);
    fs::write(folder.path().join("instructions.md"), &longest).unwrap();
    assert_eq!(load(folder.path()).await.instructions, [longest]);
}

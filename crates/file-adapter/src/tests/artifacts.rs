//! Decides whether artifacts are whole under their names, and nowhere else.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    path::Path,
    time::{Duration, SystemTime},
};

use runtime_ports::{ArtifactStore, CommitDisposition, Digest, PortFailureKind};

use super::sample::{self, empty_folder, make_folder, operation};
use crate::FileArtifactStore;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn what_was_put_is_read_by_digest_and_range() {
    let folder = empty_folder();
    let path = folder.path().join("made/later");
    let store = FileArtifactStore::new(&path);
    let digest = store.put(&operation(), b"0123456789").await.unwrap();
    assert_eq!(digest, Digest::of(b"0123456789"));
    assert_eq!(store.put(&operation(), b"0123456789").await.unwrap(), digest);
    assert_eq!(names(&path), [digest.to_string()]);
    for (start, end, expected) in [
        (0, 10, "0123456789"),
        (0, u64::MAX, "0123456789"),
        (3, 5, "34"),
        (8, 99, "89"),
        (10, 12, ""),
        (11, u64::MAX, ""),
        (u64::MAX, u64::MAX, ""),
        (5, 5, ""),
        (7, 2, ""),
    ] {
        let read = store.read(&operation(), &digest, start..end).await.unwrap();
        assert_eq!(String::from_utf8(read).unwrap(), expected, "{start}..{end}");
    }
    let empty = store.put(&operation(), b"").await.unwrap();
    assert_eq!(store.read(&operation(), &empty, 0..9).await.unwrap(), b"");
}

#[tokio::test]
async fn an_unknown_digest_is_not_found() {
    let folder = empty_folder();
    for path in [folder.path().to_owned(), folder.path().join("missing")] {
        let store = FileArtifactStore::new(&path);
        let failure = store.read(&operation(), &Digest::of(b"other"), 0..9).await.unwrap_err();
        assert_eq!((failure.kind, &*failure.code), (PortFailureKind::NotFound, "UNKNOWN_ARTIFACT"));
    }
    assert!(!folder.path().join("missing").exists(), "reading makes nothing");
}

#[tokio::test]
async fn a_put_heals_what_was_damaged() {
    let folder = empty_folder();
    let store = FileArtifactStore::new(folder.path());
    let bytes = vec![7; 200_000];
    let digest = store.put(&operation(), &bytes).await.unwrap();
    let file = folder.path().join(digest.to_string());
    let flipped = [&bytes[..150_000], &[8], &bytes[150_001..]].concat();
    for damaged in [flipped.as_slice(), &bytes[..150_000], b""] {
        sample::write(&file, damaged);
        store.put(&operation(), &bytes).await.unwrap();
        assert_eq!(fs::read(&file).unwrap(), bytes);
    }
    assert_eq!(names(folder.path()), [digest.to_string()]);
}

#[tokio::test]
async fn a_link_under_the_name_is_replaced_and_not_followed() {
    let folder = empty_folder();
    let (inside, outside) = (folder.path().join("store"), folder.path().join("outside"));
    make_folder(&inside);
    sample::write(&outside, "precious");
    let store = FileArtifactStore::new(&inside);
    let digest = Digest::of(b"bytes");
    symlink(&outside, inside.join(digest.to_string())).unwrap();
    let failure = store.read(&operation(), &digest, 0..9).await.unwrap_err();
    assert_eq!(failure.code, "FILE_OPEN");
    store.put(&operation(), b"bytes").await.unwrap();
    assert_eq!(store.read(&operation(), &digest, 0..9).await.unwrap(), b"bytes");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "precious");
}

#[tokio::test]
async fn parts_of_the_dead_are_swept_after_a_day() {
    let folder = empty_folder();
    for (name, age_hours) in [(".old.part", 25), (".young.part", 23), ("old.txt", 99)] {
        let path = folder.path().join(name);
        sample::write(&path, "part");
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age_hours * 3_600)).unwrap();
    }
    let digest = FileArtifactStore::new(folder.path()).put(&operation(), b"bytes").await.unwrap();
    let mut expected = [".young.part".to_owned(), "old.txt".into(), digest.to_string()];
    expected.sort();
    assert_eq!(names(folder.path()), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_may_put_the_same_at_once() {
    let folder = empty_folder();
    let store = FileArtifactStore::new(folder.path());
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let store = store.clone();
        tasks.spawn(async move { store.put(&operation(), &[5; 100_000]).await.unwrap() });
    }
    let digests = tasks.join_all().await;
    assert_eq!(names(folder.path()), [digests[0].to_string()]);
    assert_eq!(fs::read(folder.path().join(digests[0].to_string())).unwrap(), [5; 100_000]);
}

#[tokio::test]
async fn a_put_that_cannot_be_written_leaves_nothing() {
    let folder = empty_folder();
    let digest = Digest::of(b"bytes");
    make_folder(&folder.path().join(digest.to_string()));
    let store = FileArtifactStore::new(folder.path());
    let failure = store.put(&operation(), b"bytes").await.unwrap_err();
    assert_eq!((&*failure.code, failure.commit), ("FILE_WRITE", CommitDisposition::NotCommitted));
    assert_eq!(names(folder.path()), [digest.to_string()]);
}

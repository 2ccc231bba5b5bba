//! Decides whether files are for their owner alone, and whether links and strangers are kept out.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
};

use runtime_ports::{PortFailureKind, ReceiptStore};
use rustix::{
    fs::{CWD, Mode, mkfifoat},
    process::geteuid,
};

use super::{
    children::{Child, Role},
    sample::{
        self, bytes, empty_folder, id, line, make_folder, open, opened, operation, put_bytes, store,
    },
};
use crate::FileReceiptStore;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Everything below `folder`.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() { [vec![path.clone()], below(&path)].concat() } else { vec![path] }
        })
        .collect()
}

fn refusal(folder: &Path) -> (String, PortFailureKind) {
    let failure = FileReceiptStore::open(folder).unwrap_err();
    (failure.code, failure.kind)
}

#[test]
fn all_that_is_made_is_for_the_owner_alone_whatever_the_umask() {
    let folder = empty_folder();
    let mut child = Child::start(Role::Unmasked, folder.path(), 0);
    assert_eq!(child.said().as_deref(), Some("ready"));
    let made = below(folder.path());
    for path in &made {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(path), expected, "{}", path.display());
    }
    let count = |is_kind: fn(&Path) -> bool| made.iter().filter(|path| is_kind(path)).count();
    assert_eq!((count(Path::is_dir), count(Path::is_file)), (4, 3), "{made:?}");
}

#[test]
fn a_link_in_place_of_a_file_is_refused_and_not_followed() {
    let folder = empty_folder();
    let (inside, outside) = (folder.path().join("store"), folder.path().join("outside"));
    make_folder(&inside);
    sample::write(&outside, "precious");
    for target in [&outside, &folder.path().join("missing")] {
        symlink(target, inside.join("receipts.jsonl")).unwrap();
        assert_eq!(refusal(&inside), ("FILE_OPEN".into(), PortFailureKind::Unavailable));
        fs::remove_file(inside.join("receipts.jsonl")).unwrap();
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "precious");
    assert!(!folder.path().join("missing").exists());

    let elsewhere = folder.path().join("elsewhere");
    make_folder(&elsewhere);
    symlink(&elsewhere, inside.join("owners")).unwrap();
    assert_eq!(refusal(&inside), ("FILE_OPEN".into(), PortFailureKind::Unavailable));
    assert_eq!(below(&elsewhere), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_lock_that_is_a_link_leaves_its_turns_alone() {
    let folder = empty_folder();
    put_bytes(folder.path(), line(open(1)));
    make_folder(&folder.path().join("owners"));
    let lock = folder.path().join(format!("owners/{}.lock", id(77)));
    symlink(folder.path().join("receipts.jsonl"), &lock).unwrap();
    let store = store(folder.path());
    assert_eq!(store.unsettled(&operation()).await.unwrap(), []);
    assert!(lock.is_symlink(), "it is not swept either");
    fs::remove_file(&lock).unwrap();
    assert_eq!(store.unsettled(&operation()).await.unwrap(), [opened(1)]);
}

#[test]
fn a_folder_may_be_reached_through_a_link() {
    let folder = empty_folder();
    let real = folder.path().join("real");
    make_folder(&real);
    symlink(&real, folder.path().join("link")).unwrap();
    drop(store(&folder.path().join("link")));
    assert!(real.join("receipts.jsonl").is_file());
}

#[test]
fn what_others_can_write_to_is_refused() {
    for exposed in [0o777, 0o702, 0o1777] {
        let folder = empty_folder();
        set_mode(folder.path(), exposed);
        let expected = ("FILE_EXPOSED".into(), PortFailureKind::Forbidden);
        assert_eq!(refusal(folder.path()), expected, "{exposed:o}");
        assert_eq!(below(folder.path()), Vec::<PathBuf>::new());
    }
    for exposed in [0o666, 0o602] {
        let folder = empty_folder();
        put_bytes(folder.path(), line(open(1)));
        set_mode(&folder.path().join("receipts.jsonl"), exposed);
        let expected = ("FILE_EXPOSED".into(), PortFailureKind::Forbidden);
        assert_eq!(refusal(folder.path()), expected, "{exposed:o}");
        assert_eq!(bytes(folder.path()), line(open(1)).into_bytes());
    }
}

#[test]
fn a_group_may_write_only_if_it_is_the_users_own() {
    if !geteuid().is_root() {
        println!("skipped: only root gives folders to other groups");
        return;
    }
    let folder = empty_folder();
    let receipts = folder.path().join("receipts.jsonl");
    put_bytes(folder.path(), "");
    let give = |path: &Path, group, mode| {
        chown(path, None, Some(group)).unwrap();
        set_mode(path, mode);
    };
    let exposed = ("FILE_EXPOSED".into(), PortFailureKind::Forbidden);
    give(folder.path(), 4_711, 0o770);
    assert_eq!(refusal(folder.path()), exposed);
    give(folder.path(), 4_711, 0o750);
    give(&receipts, 4_711, 0o660);
    assert_eq!(refusal(folder.path()), exposed);
    give(folder.path(), 0, 0o770);
    give(&receipts, 0, 0o660);
    drop(store(folder.path()));
    assert_eq!(mode(&receipts), 0o600);
}

#[test]
fn what_others_can_read_is_closed_to_them() {
    let folder = empty_folder();
    set_mode(folder.path(), 0o755);
    put_bytes(folder.path(), "");
    set_mode(&folder.path().join("receipts.jsonl"), 0o644);
    let _store = store(folder.path());
    assert_eq!(mode(&folder.path().join("receipts.jsonl")), 0o600);
    assert_eq!(mode(&folder.path().join("owners")), 0o700);
    assert_eq!(mode(folder.path()), 0o755, "a folder that was there is left as it is");
}

#[test]
fn what_belongs_to_another_user_is_refused() {
    if !geteuid().is_root() {
        println!("skipped: only root gives folders to other users");
        return;
    }
    let folder = empty_folder();
    let foreign = ("FILE_FOREIGN".into(), PortFailureKind::Forbidden);
    chown(folder.path(), Some(4_711), None).unwrap();
    assert_eq!(refusal(folder.path()), foreign);
    chown(folder.path(), Some(0), None).unwrap();
    put_bytes(folder.path(), "");
    chown(folder.path().join("receipts.jsonl"), Some(4_711), None).unwrap();
    assert_eq!(refusal(folder.path()), foreign);
}

#[test]
fn special_files_are_refused_without_waiting() {
    let folder = empty_folder();
    mkfifoat(CWD, folder.path().join("receipts.jsonl"), Mode::RUSR | Mode::WUSR).unwrap();
    assert_eq!(refusal(folder.path()), ("FILE_SPECIAL".into(), PortFailureKind::Forbidden));
    let folder = empty_folder();
    make_folder(&folder.path().join("receipts.jsonl"));
    assert_eq!(refusal(folder.path()), ("FILE_OPEN".into(), PortFailureKind::Unavailable));
    let file = folder.path().join("file");
    sample::write(&file, "");
    assert_eq!(refusal(&file), ("FILE_OPEN".into(), PortFailureKind::Unavailable));
    assert_eq!(refusal(&file.join("below")), ("FILE_OPEN".into(), PortFailureKind::Unavailable));
}

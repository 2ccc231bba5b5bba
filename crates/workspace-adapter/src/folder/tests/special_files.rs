//! Checks that what is no regular file, or far too big, is refused at once.

use std::os::unix::{fs::symlink, net::UnixListener};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use super::*;

const AT_ONCE: Duration = Duration::from_secs(5);

#[tokio::test]
async fn nothing_special_is_opened() {
    let neighbours = Neighbours::new();
    let mode = Mode::from_raw_mode(0o666);
    mknodat(CWD, neighbours.ws("fifo"), FileType::Fifo, mode, 0).unwrap();
    let _listener = UnixListener::bind(neighbours.ws("socket")).unwrap();
    let zero = makedev(1, 5);
    let device = mknodat(CWD, neighbours.ws("device"), FileType::CharacterDevice, mode, zero);
    let names = ["fifo", "socket", "device"];
    // Only root makes devices.
    for name in &names[..if device.is_ok() { 3 } else { 2 }] {
        let workspace = &neighbours.workspace;
        let all = tokio::time::timeout(AT_ONCE, calls(workspace, name)).await.expect(name);
        let [read, write, list, search, execute] = all.map(|(_, result)| result);
        assert_eq!(refused(read).1, "NOT_A_FILE", "{name}");
        assert_eq!(refused(write).1, "NOT_A_FILE", "{name}");
        assert_eq!(refused(list).1, "NOT_A_FOLDER", "{name}");
        assert_eq!(search.unwrap(), format!("[\"{name}: skipped (not a regular file)\"]"));
        assert_eq!(refused(execute).1, "NOT_A_FOLDER", "{name}");
    }
    let entries = neighbours.workspace.list(&operation(), "").await.unwrap();
    assert!(entries.iter().all(|entry| !entry.is_dir && entry.size.is_none()), "{entries:?}");
}

#[tokio::test]
async fn a_fifo_swapped_in_does_not_hang() {
    let neighbours = Neighbours::new();
    let name = std::ffi::OsStr::new("f");
    mknodat(CWD, neighbours.ws("f"), FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
    let root = std::sync::Arc::clone(&neighbours.workspace.root);
    // The look before the open is passed over, as if it had seen a regular file.
    let opened = tokio::task::spawn_blocking(move || {
        crate::file::read_opened(&root, &root.folder, name, 99).is_err()
    });
    assert!(tokio::time::timeout(AT_ONCE, opened).await.expect("hangs").unwrap());
}

#[tokio::test]
async fn a_device_behind_a_link_is_outside() {
    let neighbours = Neighbours::new();
    symlink("/dev/zero", neighbours.ws("zero")).unwrap();
    for (call, result) in calls(&neighbours.workspace, "zero").await {
        assert_eq!(refused(result).1, "PATH_REFUSED", "{call}");
    }
}

#[tokio::test]
async fn a_huge_file_is_not_read() {
    let neighbours = Neighbours::new();
    fs::File::create(neighbours.ws("sparse")).unwrap().set_len(1 << 40).unwrap();
    let operation = operation();
    let read = tokio::time::timeout(AT_ONCE, neighbours.workspace.read(&operation, "sparse"));
    let failure = read.await.unwrap().unwrap_err();
    assert_eq!(failure.code, "FILE_TOO_LARGE");
    assert!(failure.message.contains(&(1_u64 << 40).to_string()), "{failure}");
    let found = neighbours.workspace.search(&operation, "", "x", 9).await.unwrap();
    assert_eq!(found, ["sparse: skipped (too large)"]);
}

#[tokio::test]
async fn a_crowded_folder_is_not_listed() {
    let (_temp, workspace) = folder(&[("d/1", ""), ("d/2", ""), ("d/3", ""), ("e", "hit")]);
    let limits = FolderLimits { folder_entries: 2, ..FolderLimits::default() };
    let workspace = workspace.with_limits(limits);
    let failure = workspace.list(&operation(), "d").await.unwrap_err();
    assert_eq!(
        (failure.kind, failure.code.as_str()),
        (PortFailureKind::Invalid, "TOO_MANY_ENTRIES")
    );
    let found = workspace.search(&operation(), "", "hit", 9).await.unwrap();
    assert_eq!(found, ["d: skipped (too many entries)", "e:1:hit"]);
    assert!(workspace.describe(&operation()).await.unwrap().contains("1 files and 1 folders"));
    let limits = FolderLimits { folder_entries: 1, ..limits };
    let described = workspace.with_limits(limits).describe(&operation()).await.unwrap();
    assert!(described.contains("too many"), "{described}");
}

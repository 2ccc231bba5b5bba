//! Checks that swapping a folder for a link while calls run never leads out.

use std::{
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::*;
use crate::{
    blocking::Gate,
    entries, file,
    path::WorkspacePath,
    search::{self, SearchRequest},
};

const ROUNDS: usize = 20_000;
const AT_MOST: Duration = Duration::from_secs(20);

/// Calls `attempt` again and again while `x`, a folder with `f` in it, and `y`, a link to a folder
/// outside with `f` in it, change places all the time.
fn race(neighbours: &Neighbours, mut attempt: impl FnMut()) {
    fs::create_dir(neighbours.ws("x")).unwrap();
    fs::write(neighbours.ws("x/f"), "fine").unwrap();
    fs::rename(neighbours.outside("folder/secret"), neighbours.outside("folder/f")).unwrap();
    symlink(neighbours.outside("folder"), neighbours.ws("y")).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (x, y) = (neighbours.ws("x"), neighbours.ws("y"));
            while !over.load(Ordering::Relaxed) {
                renameat_with(CWD, &x, CWD, &y, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let begun = Instant::now();
        for _ in 0..ROUNDS {
            attempt();
            if begun.elapsed() > AT_MOST {
                break;
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    fs::rename(neighbours.outside("folder/f"), neighbours.outside("folder/secret")).unwrap();
    neighbours.assert_untouched();
}

#[test]
fn reading_never_escapes() {
    let neighbours = Neighbours::new();
    let root = &neighbours.workspace.root;
    let (file_path, folder_path) =
        (WorkspacePath::parse("x/f").unwrap(), WorkspacePath::parse("x").unwrap());
    let limits = FolderLimits::default();
    let (mut read, mut refused) = (0, 0);
    race(&neighbours, || {
        match file::read(root, &file_path, 99) {
            Ok(bytes) => {
                assert_eq!(bytes, b"fine");
                read += 1;
            }
            Err(_) => refused += 1,
        }
        let _ = entries::list(root, &folder_path, &limits);
        let request = SearchRequest { path: &folder_path, query: "secret", limit: 9 };
        let found = search::search(root, &request, &limits, &Gate::default()).unwrap_or_default();
        assert_eq!(found, Vec::<String>::new());
    });
    assert!(read > 0 && refused > 0, "no race: {read} read, {refused} refused");
}

#[test]
fn writing_never_escapes() {
    let neighbours = Neighbours::new();
    let root = &neighbours.workspace.root;
    let paths = ["x/f", "x/new", "x/deep/er/f"].map(|path| WorkspacePath::parse(path).unwrap());
    let (mut written, mut refused) = (0, 0);
    race(&neighbours, || {
        let path = &paths[(written + refused) % paths.len()];
        match file::write(root, path, b"fine", &Gate::default()) {
            Ok(()) => written += 1,
            Err(_) => refused += 1,
        }
    });
    assert!(written > 0 && refused > 0, "no race: {written} written, {refused} refused");
}

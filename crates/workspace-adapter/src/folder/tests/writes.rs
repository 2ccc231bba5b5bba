//! Checks that a write is whole or not at all, whoever else writes and whenever it ends.

use std::collections::BTreeSet;

use runtime_ports::CommitDisposition;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_writers_wins_whole() {
    let (temp, workspace) = folder(&[]);
    let contents: BTreeSet<Vec<u8>> = (b'a'..=b'p').map(|byte| vec![byte; 100_000]).collect();
    let writers: Vec<_> = contents
        .iter()
        .cloned()
        .map(|content| {
            let workspace = workspace.clone();
            tokio::spawn(async move { workspace.write(&operation(), "d/f", &content).await })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap().unwrap();
    }
    assert!(contents.contains(&workspace.read(&operation(), "d/f").await.unwrap()));
    assert_eq!(fs::read_dir(temp.path().join("d")).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_write_leaves_the_old_file_or_the_new_one() {
    let (temp, workspace) = folder(&[("f", "old")]);
    let new = vec![b'n'; 300_000];
    for microseconds in (0..3_000).step_by(60) {
        fs::write(temp.path().join("f"), "old").unwrap();
        let operation = operation();
        let cancel = operation.cancellation.clone();
        let write = workspace.write(&operation, "f", &new);
        let later = async {
            tokio::time::sleep(Duration::from_micros(microseconds)).await;
            cancel.cancel();
        };
        let (written, ()) = tokio::join!(write, later);
        let content = fs::read(temp.path().join("f")).unwrap();
        let disposition = written.as_ref().err().map(|failure| failure.commit);
        match disposition {
            None => assert_eq!(content, new),
            Some(CommitDisposition::NotCommitted) => assert_eq!(content, b"old"),
            Some(_) => assert!(content == new || content == b"old"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_write_leaves_nothing_unfinished() {
    let (temp, workspace) = folder(&[("f", "old")]);
    let new = vec![b'n'; 300_000];
    for microseconds in (0..3_000).step_by(60) {
        let operation = operation();
        let write = workspace.write(&operation, "f", &new);
        let _ = tokio::time::timeout(Duration::from_micros(microseconds), write).await;
        let content = fs::read(temp.path().join("f")).unwrap();
        assert!(content == new || content == b"old");
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn unfinished_files_are_not_shown() {
    let (_temp, workspace) = folder(&[(".agent-unfinished-1", "hit"), ("f", "hit")]);
    assert_eq!(workspace.list(&operation(), "").await.unwrap().len(), 1);
    assert_eq!(workspace.search(&operation(), "", "hit", 9).await.unwrap(), ["f:1:hit"]);
}

#[tokio::test]
async fn what_cannot_be_written_says_so() {
    let (_temp, workspace) = folder(&[("d/f", "")]);
    let check = async |path: &str, code: &str| {
        let failure = workspace.write(&operation(), path, b"x").await.unwrap_err();
        assert_eq!(failure.code, code, "{path}");
        assert_eq!(failure.commit, CommitDisposition::NotCommitted, "{path}");
    };
    check("", "IS_A_FOLDER").await;
    check("d", "IS_A_FOLDER").await;
    check("d/f/g", "NOT_FOUND").await;
}

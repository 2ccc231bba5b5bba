//! What reading and writing do with files and folders.
//!
//! Knows nothing about where they are.

use std::sync::Arc;

use runtime_ports::{CommitDisposition, PortFailureKind as Kind};
use tokio::task::JoinSet;

use crate::{
    Proof,
    claim::{claim, equal, failed, failure, operation, refused, success},
    workspace::{Layout, WorkspaceHarness},
};

pub(crate) async fn what_was_written_is_read(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(Layout::default()).await?;
    let long = vec![b'x'; 300_000];
    let contents: [(&str, &[u8]); 5] = [
        ("empty", b""),
        ("binary.bin", b"\0\xff\xfe\r\n\n\x1b[0m"),
        ("un\u{ef}code \u{1F980} name.txt", "\u{e4}\u{1F980}".as_bytes()),
        ("no-newline", b"text"),
        ("long", &long),
    ];
    for (path, content) in contents {
        staged.written(path, content).await?;
        let read = success(&format!("reading {path}"), staged.read(path).await)?;
        claim(read == content, || format!("{} bytes of {path} came back", read.len()))?;
    }
    Ok(())
}

pub(crate) async fn writing_replaces_the_whole_file(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(Layout::files(&[("notes.md", "a long text that was here")])).await?;
    staged.written("notes.md", b"short").await?;
    staged.written("notes.md", b"").await?;
    staged.written("notes.md", b"longer than everything that was there before").await
}

pub(crate) async fn writing_makes_missing_folders(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(Layout::default()).await?;
    staged.written("one/two/three.txt", b"deep").await?;
    staged.written("one/two/four.txt", b"beside").await
}

pub(crate) async fn a_missing_file_is_not_found(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(Layout::files(&[("a/b.txt", "text")])).await?;
    let not_committed = CommitDisposition::NotCommitted;
    for path in ["missing", "a/missing", "missing/b.txt"] {
        failure("reading", staged.read(path).await, Kind::NotFound, not_committed)?;
        failure("listing", staged.list(path).await, Kind::NotFound, not_committed)?;
        let searched = staged.search(path, "text").await;
        failure("searching", searched, Kind::NotFound, not_committed)?;
    }
    Ok(())
}

pub(crate) async fn a_folder_is_no_file(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(Layout::files(&[("a/b.txt", "text")])).await?;
    for path in ["a", "", "."] {
        failed(&format!("reading the folder {path:?}"), staged.read(path).await)?;
        failed(&format!("writing the folder {path:?}"), staged.write(path, b"x").await)?;
    }
    equal("the file in it", &staged.world.inside("a/b.txt").as_deref(), &Some(&b"text"[..]))
}

pub(crate) async fn a_file_is_no_folder(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(Layout::files(&[("a.txt", "text")])).await?;
    failed("listing a file", staged.list("a.txt").await)?;
    failed("writing below a file", staged.write("a.txt/b.txt", b"x").await)?;
    failed("reading below a file", staged.read("a.txt/b.txt").await)?;
    equal("the file", &staged.world.inside("a.txt").as_deref(), &Some(&b"text"[..]))
}

pub(crate) async fn protected_names_are_not_written(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(Layout::files(&[("a/b.txt", "text")])).await?;
    claim(!staged.protected.is_empty(), || "no name is protected".into())?;
    for name in &staged.protected {
        for path in [name.clone(), format!("a/{name}"), format!("{name}/x")] {
            let written = staged.write(&path, b"x").await;
            refused(&format!("writing {path}"), written, Kind::Forbidden)?;
            claim(staged.world.inside(&path).is_none(), || format!("{path} was made"))?;
        }
    }
    Ok(())
}

pub(crate) async fn writes_at_once_leave_one_whole(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(Layout::default()).await?;
    let mut writes = JoinSet::new();
    for letter in b'a'..=b'h' {
        let session = Arc::clone(&staged.session);
        let content = vec![letter; 64 * 1_024];
        writes.spawn(async move { session.write(&operation(), "shared.txt", &content).await });
    }
    for written in writes.join_all().await {
        success("one of eight writes", written)?;
    }
    let left = staged.world.inside("shared.txt").unwrap_or_default();
    let first = left.first().copied().unwrap_or_default();
    let whole = left.len() == 64 * 1_024 && left.iter().all(|byte| *byte == first);
    claim(whole, || format!("the file holds {} bytes of several writes", left.len()))
}

pub(crate) async fn a_workspace_describes_itself(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(Layout::files(&[("a.txt", "text")])).await?;
    let described = success("describing", staged.session.describe(&operation()).await)?;
    claim(!described.trim().is_empty(), || "the description is empty".into())
}

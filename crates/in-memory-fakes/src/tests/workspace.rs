//! Decides whether the workspace keeps its paths inside, its files whole and its commands scripted.

use std::time::Duration;

use runtime_ports::{
    CommandRequest, CommitDisposition, PortFailure, PortFailureKind, WorkspaceSession,
};

use super::{kind_of, operation, panic_of, verdict};
use crate::{CommandStep, FakeWorkspace, WorkspaceCall};

fn notes() -> FakeWorkspace {
    FakeWorkspace::new([])
        .with_file("b.md", "milk\nbread\n")
        .with_file("a/deep/c.md", "more milk\r\nno more")
        .with_file("a/picture", b"\x89PNG\0milk".to_vec())
        .with_file("a/latin", b"milk \xe9".to_vec())
        .with_file("target/out.txt", "milk")
        .with_file("a/target/out.txt", "milk")
        .with_file(".env", "MILK=milk")
        .with_file(".git/config", "milk")
        .with_ignored("target")
        .with_ignored("a/deep/ignored.md")
        .with_file("a/deep/ignored.md", "milk")
}

fn command(line: &str, cwd: Option<&str>) -> CommandRequest {
    CommandRequest { command: line.to_owned(), cwd: cwd.map(str::to_owned) }
}

#[tokio::test]
async fn paths_that_lead_out_are_forbidden_with_one_message() {
    let workspace = notes();
    let op = operation("op");
    let long = "x".repeat(4_097);
    let paths = [
        "..",
        "../b.md",
        "a/../../b.md",
        "a/..",
        "/b.md",
        "/etc/passwd",
        "..\\b.md",
        "a\\b",
        "%2e%2e/b.md",
        "a/.%2E/x",
        "b.md\0",
        "~/.ssh/id_rsa",
        "file:///etc/passwd",
        &long,
    ];
    let mut failures: Vec<PortFailure> = Vec::new();
    for path in paths {
        failures.push(workspace.read(&op, path).await.unwrap_err());
        failures.push(workspace.write(&op, path, b"x").await.unwrap_err());
        failures.push(workspace.list(&op, path).await.unwrap_err());
        failures.push(workspace.search(&op, path, "milk", 9).await.unwrap_err());
        failures.push(workspace.execute(&op, command("ls", Some(path))).await.unwrap_err());
    }
    assert_eq!(failures[0].kind, PortFailureKind::Forbidden);
    assert_eq!(failures[0].commit, CommitDisposition::NotCommitted);
    failures.dedup();
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert_eq!(workspace.files(), notes().files());
}

#[tokio::test]
async fn files_are_replaced_whole_and_missing_folders_made() {
    let workspace = notes();
    let op = operation("op");
    for (path, content) in [("b.md", "new"), ("x/y/z.txt", ""), ("./a//deep/./c.md", "c")] {
        workspace.write(&op, path, content.as_bytes()).await.unwrap();
        assert_eq!(workspace.read(&op, path).await.unwrap(), content.as_bytes());
    }
    assert_eq!(workspace.read(&op, "a/deep/c.md").await.unwrap(), b"c");
    let refused = [
        ("a", PortFailureKind::Invalid),
        ("", PortFailureKind::Invalid),
        ("b.md/below", PortFailureKind::Invalid),
        (".git/hooks/pre-commit", PortFailureKind::Forbidden),
        ("a/.ENV", PortFailureKind::Forbidden),
    ];
    for (path, kind) in refused {
        assert_eq!(kind_of(workspace.write(&op, path, b"x").await), kind, "{path}");
    }
    for (path, kind) in [
        ("missing", PortFailureKind::NotFound),
        ("a", PortFailureKind::Invalid),
        (".env", PortFailureKind::Forbidden),
    ] {
        assert_eq!(kind_of(workspace.read(&op, path).await), kind, "{path}");
    }
    let call = WorkspaceCall::Write("b.md".to_owned(), b"new".to_vec());
    assert_eq!(workspace.calls()[0], call);
}

#[tokio::test]
async fn lists_are_one_level_sorted_and_without_ignored_files() {
    let workspace = notes();
    let listed = async |path: &str| {
        let entries = workspace.list(&operation("op"), path).await?;
        let shown = entries.iter().map(|entry| match entry.size {
            Some(size) => format!("{} {size}", entry.path),
            None => format!("{}/", entry.path),
        });
        Ok::<_, PortFailure>(shown.collect::<Vec<_>>())
    };
    let root = [".env 9", ".git/", "a/", "b.md 11"];
    for path in ["", ".", "./"] {
        assert_eq!(listed(path).await.unwrap(), root);
    }
    assert_eq!(listed("a").await.unwrap(), ["a/deep/", "a/latin 6", "a/picture 9"]);
    assert_eq!(listed("a/deep").await.unwrap(), ["a/deep/c.md 18"]);
    assert_eq!(kind_of(listed("missing").await), PortFailureKind::NotFound);
    assert_eq!(kind_of(listed("b.md").await), PortFailureKind::Invalid);
}

#[tokio::test]
async fn searches_are_literal_and_name_what_they_skip() {
    let workspace = notes();
    let found = async |path: &str, query: &str, limit| {
        workspace.search(&operation("op"), path, query, limit).await
    };
    let everything = [
        ".env: skipped (protected)",
        ".git/config: skipped (protected)",
        "a/deep/c.md:1:more milk",
        "a/latin: skipped (binary)",
        "a/picture: skipped (binary)",
        "b.md:1:milk",
    ];
    assert_eq!(found("", "milk", 99).await.unwrap(), everything);
    assert_eq!(found("", "milk", 3).await.unwrap(), everything[..3]);
    assert_eq!(found("", "milk", 0).await.unwrap(), [""; 0]);
    assert_eq!(found("a/deep", "m.re", 9).await.unwrap(), [""; 0]);
    assert_eq!(found("b.md", "bread", 9).await.unwrap(), ["b.md:2:bread"]);
    assert_eq!(kind_of(found("missing", "milk", 9).await), PortFailureKind::NotFound);
}

#[tokio::test]
async fn commands_play_their_script_and_change_files() {
    let workspace = FakeWorkspace::new([
        CommandStep::exits(3, "three\n"),
        CommandStep::writes("out/made.txt", "made"),
    ])
    .with_file("a/b", "");
    let op = operation("op");
    let output = workspace.execute(&op, command("count", Some("a"))).await.unwrap();
    assert_eq!((output.exit_code, output.stdout.as_str()), (3, "three\n"));
    workspace.execute(&op, command("make", None)).await.unwrap();
    assert_eq!(workspace.read(&op, "out/made.txt").await.unwrap(), b"made");
    let missing = workspace.execute(&op, command("ls", Some("missing"))).await;
    assert_eq!(kind_of(missing), PortFailureKind::NotFound);
    workspace.assert_script_done();
    assert_eq!(verdict(workspace.execute(&op, command("more", None)).await).0, "SCRIPT_EXHAUSTED");
    let message = panic_of(|| drop(workspace));
    assert!(message.contains(r#"(no step left)"#), "{message}");
    assert!(message.contains(r#"command "more""#), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_is_interrupted_is_unknown() {
    let workspace = FakeWorkspace::new([CommandStep::stall()]);
    let brief = operation("op").within(Duration::from_secs(5));
    let failure = workspace.execute(&brief, command("sleep", None)).await.unwrap_err();
    assert_eq!(
        (failure.kind, failure.commit),
        (PortFailureKind::Timeout, CommitDisposition::Unknown)
    );
}

#[tokio::test]
async fn it_describes_itself() {
    let text = notes().describe(&operation("op")).await.unwrap();
    assert!(text.contains("9 files"), "{text}");
}

//! Checks the folder as a whole: what each call does in the ordinary case.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use runtime_ports::{
    CommandRequest, OperationContext, PortFailure, PortFailureKind, WorkspaceSession,
};
use runtime_types::{ExecutionId, OperationId};
use tempfile::TempDir;

use super::FolderWorkspace;
use crate::FolderLimits;

mod commands;
mod hard_links;
mod hostile_paths;
mod ignoring;
mod links;
mod protection;
mod races;
mod special_files;
mod writes;

fn operation() -> OperationContext {
    OperationContext::root(
        OperationId::new("operation").unwrap(),
        ExecutionId::new("execution").unwrap(),
        Duration::from_secs(30),
    )
}

/// A folder with these files, opened.
fn folder(files: &[(&str, &str)]) -> (TempDir, FolderWorkspace) {
    let temp = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let workspace = FolderWorkspace::open(temp.path()).unwrap();
    (temp, workspace)
}

/// What each call says about a path; the five in one order.
async fn calls(workspace: &FolderWorkspace, path: &str) -> [(&'static str, PortResult); 5] {
    let operation = operation();
    let request = CommandRequest { command: "pwd".into(), cwd: Some(path.into()) };
    let text = |value: &dyn std::fmt::Debug| format!("{value:?}");
    [
        ("read", workspace.read(&operation, path).await.map(|value| lossy(&value))),
        ("write", workspace.write(&operation, path, b"written").await.map(|()| String::new())),
        ("list", workspace.list(&operation, path).await.map(|value| text(&value))),
        ("search", workspace.search(&operation, path, "secret", 99).await.map(|v| text(&v))),
        ("execute", workspace.execute(&operation, request).await.map(|value| text(&value))),
    ]
}

type PortResult = Result<String, PortFailure>;

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder `ws` beside a folder `outside` that holds `secret` and `folder/secret`.
struct Neighbours {
    temp: TempDir,
    workspace: FolderWorkspace,
}

impl Neighbours {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("outside/folder")).unwrap();
        fs::create_dir(temp.path().join("ws")).unwrap();
        fs::write(temp.path().join("outside/secret"), "secret").unwrap();
        fs::write(temp.path().join("outside/folder/secret"), "secret").unwrap();
        let workspace = FolderWorkspace::open(temp.path().join("ws")).unwrap();
        Self { temp, workspace }
    }

    fn ws(&self, path: &str) -> PathBuf {
        self.temp.path().join("ws").join(path)
    }

    fn outside(&self, path: &str) -> PathBuf {
        self.temp.path().join("outside").join(path)
    }

    /// Every file and folder outside with its content, and nothing new beside.
    fn assert_untouched(&self) {
        let names = |path: &Path| -> Vec<String> {
            let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(names(self.temp.path()), ["outside", "ws"]);
        assert_eq!(names(&self.outside("")), ["folder", "secret"]);
        assert_eq!(names(&self.outside("folder")), ["secret"]);
        assert_eq!(fs::read(self.outside("secret")).unwrap(), b"secret");
        assert_eq!(fs::read(self.outside("folder/secret")).unwrap(), b"secret");
    }
}

fn refused<T: std::fmt::Debug>(result: Result<T, PortFailure>) -> (PortFailureKind, String) {
    let failure = result.unwrap_err();
    (failure.kind, failure.code)
}

#[test]
fn opening_says_what_is_wrong() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("file"), "").unwrap();
    let check = |path: &Path, kind, code: &str| {
        assert_eq!(refused(FolderWorkspace::open(path)), (kind, code.to_owned()));
    };
    check(&temp.path().join("none"), PortFailureKind::NotFound, "WORKSPACE_NOT_FOUND");
    check(&temp.path().join("file"), PortFailureKind::Invalid, "WORKSPACE_NOT_A_FOLDER");
    check(&temp.path().join("file/x"), PortFailureKind::Invalid, "WORKSPACE_NOT_A_FOLDER");
    check(Path::new(""), PortFailureKind::NotFound, "WORKSPACE_NOT_FOUND");
}

#[tokio::test]
async fn what_is_written_is_read() {
    let (temp, workspace) = folder(&[]);
    workspace.write(&operation(), "a/b/c.txt", b"one").await.unwrap();
    workspace.write(&operation(), "./a//b/c.txt", b"two").await.unwrap();
    assert_eq!(workspace.read(&operation(), "a/b/c.txt").await.unwrap(), b"two");
    assert_eq!(fs::read_dir(temp.path().join("a/b")).unwrap().count(), 1, "nothing else is left");
}

#[tokio::test]
async fn folders_are_listed_one_level_sorted() {
    let (_temp, workspace) =
        folder(&[("b.txt", "12"), ("a/x", ""), ("a-b", ""), (".git/config", ""), ("c.log", "")]);
    workspace.write(&operation(), ".gitignore", b"*.log\n").await.unwrap();
    let entries = workspace.list(&operation(), "").await.unwrap();
    let shown: Vec<_> =
        entries.iter().map(|entry| (entry.path.as_str(), entry.is_dir, entry.size)).collect();
    let expected = [
        (".gitignore", false, Some(6)),
        ("a", true, None),
        ("a-b", false, Some(0)),
        ("b.txt", false, Some(2)),
    ];
    assert_eq!(shown, expected);
    assert_eq!(workspace.list(&operation(), "a").await.unwrap()[0].path, "a/x");
    let code = refused(workspace.list(&operation(), "b.txt").await).1;
    assert_eq!(code, "NOT_A_FOLDER");
}

#[tokio::test]
async fn lines_are_found_and_skipped_files_named() {
    let (_temp, workspace) = folder(&[
        ("a/x.txt", "no\nmilk\r\n"),
        ("a-b.txt", "milk milk\nx\nmilk"),
        ("bin", "milk\0"),
        (".env", "milk"),
    ]);
    let lines = workspace.search(&operation(), "", "milk", 10).await.unwrap();
    let expected = [
        ".env: skipped (protected)",
        "a-b.txt:1:milk milk",
        "a-b.txt:3:milk",
        "a/x.txt:2:milk",
        "bin: skipped (binary file)",
    ];
    assert_eq!(lines, expected);
    assert_eq!(workspace.search(&operation(), "a", "milk", 10).await.unwrap(), expected[3..4]);
    assert_eq!(workspace.search(&operation(), "", "milk", 2).await.unwrap(), expected[..2]);
}

#[tokio::test]
async fn sizes_are_bounded_and_said() {
    let (_temp, workspace) = folder(&[("big", "0123456789")]);
    let limits = FolderLimits { file_bytes: 9, write_bytes: 3, ..FolderLimits::default() };
    let workspace = workspace.with_limits(limits);
    let failure = workspace.read(&operation(), "big").await.unwrap_err();
    assert!(failure.message.contains("10 bytes"), "{failure}");
    assert_eq!(failure.code, "FILE_TOO_LARGE");
    let failure = workspace.write(&operation(), "big", b"four").await.unwrap_err();
    assert!(failure.message.contains("4 bytes"), "{failure}");
}

#[tokio::test]
async fn commands_run_in_the_folder() {
    let (temp, workspace) = folder(&[("sub/x", "")]);
    let run = async |command: &str, cwd: Option<&str>| {
        let request = CommandRequest { command: command.into(), cwd: cwd.map(Into::into) };
        workspace.execute(&operation(), request).await
    };
    let output = run("pwd; echo err >&2; exit 3", Some("sub")).await.unwrap();
    let expected = temp.path().canonicalize().unwrap().join("sub");
    assert_eq!(output.stdout.trim_end(), expected.to_str().unwrap());
    assert_eq!((output.exit_code, output.stderr.as_str(), output.truncated), (3, "err\n", false));
    assert_eq!(run("kill -TERM $$", None).await.unwrap().exit_code, 143);
    assert_eq!(refused(run("pwd", Some("..")).await).1, "PATH_REFUSED");
    assert_eq!(refused(run("pwd", Some("none")).await).0, PortFailureKind::NotFound);
    assert_eq!(refused(run(" ", None).await).1, "BAD_COMMAND");
}

//! Checks that protected names hold wherever and however they are reached.

use std::os::unix::fs::symlink;

use super::*;

#[tokio::test]
async fn control_files_and_secrets_by_every_way() {
    let below = [".git/hooks/pre-commit", ".git/config", ".vscode/settings.json", ".ssh/id_rsa"];
    let files = [
        ".git",
        ".env",
        ".env.local",
        ".envrc",
        ".npmrc",
        ".gitmodules",
        ".mcp.json",
        "AGENTS.md",
        ".agent/settings.toml",
        ".GIT/config",
        ".Env",
        "agents.MD",
        ".vscode",
    ];
    for name in below.into_iter().chain(files) {
        let (temp, workspace) = folder(&[("deep/x", "")]);
        for path in [name.to_owned(), format!("deep/{name}"), format!("./deep//{name}")] {
            let code = refused(workspace.write(&operation(), &path, b"evil").await).1;
            assert_eq!(code, "PROTECTED_NAME", "make {path}");
        }
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1, "{name}");
        let path = temp.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "old").unwrap();
        let code = refused(workspace.write(&operation(), name, b"evil").await).1;
        assert_eq!(code, "PROTECTED_NAME", "change {name}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
}

#[tokio::test]
async fn reading_depends_on_the_name() {
    let (_temp, workspace) = folder(&[
        (".git/config", "secret"),
        (".env", "secret"),
        (".npmrc", "secret"),
        ("AGENTS.md", "fine"),
        (".vscode/settings.json", "fine"),
    ]);
    for path in [".git/config", ".env", ".npmrc", ".git/none", ".env.none"] {
        let code = refused(workspace.read(&operation(), path).await).1;
        assert_eq!(code, "PROTECTED_NAME", "{path}");
    }
    for path in ["AGENTS.md", ".vscode/settings.json"] {
        assert_eq!(workspace.read(&operation(), path).await.unwrap(), b"fine", "{path}");
    }
    assert_eq!(refused(workspace.list(&operation(), ".git").await).1, "PROTECTED_NAME");
    let found = workspace.search(&operation(), "", "secret", 9).await.unwrap();
    assert_eq!(found, [".env: skipped (protected)", ".npmrc: skipped (protected)"]);
}

#[tokio::test]
async fn links_and_renames_do_not_unprotect() {
    let repository = [
        (".git/HEAD", "x"),
        (".git/config", "secret"),
        (".git/objects/x", ""),
        (".git/refs/x", ""),
    ];
    let (temp, workspace) = folder(&repository);
    symlink(".git", temp.path().join("link")).unwrap();
    symlink(".git/config", temp.path().join("config")).unwrap();
    for path in ["link/config", "config", "link"] {
        let read = refused(workspace.read(&operation(), path).await).1;
        assert_eq!(read, "PROTECTED_NAME", "{path}");
        let write = refused(workspace.write(&operation(), path, b"evil").await).1;
        assert_eq!(write, "PATH_REFUSED", "{path}");
    }
    fs::rename(temp.path().join(".git"), temp.path().join("renamed")).unwrap();
    for (call, result) in calls(&workspace, "renamed/config").await {
        assert_eq!(refused(result).1, "PROTECTED_NAME", "{call}");
    }
    let found = workspace.search(&operation(), "renamed", "secret", 9).await;
    assert_eq!(refused(found).1, "PROTECTED_NAME");
    let found = workspace.search(&operation(), "", "secret", 9).await.unwrap();
    let expected =
        ["config: skipped (link)", "link: skipped (link)", "renamed: skipped (protected)"];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn links_to_secrets_are_secrets() {
    let (temp, workspace) = folder(&[(".env", "secret"), (".ssh/id", "secret"), ("d/x", "")]);
    symlink(".env", temp.path().join("plain")).unwrap();
    symlink("../.ssh", temp.path().join("d/keys")).unwrap();
    symlink("d/keys/id", temp.path().join("key")).unwrap();
    symlink(".env.none", temp.path().join("none")).unwrap();
    for path in ["plain", "d/keys/id", "d/keys/none", "key", "none"] {
        let code = refused(workspace.read(&operation(), path).await).1;
        assert_eq!(code, "PROTECTED_NAME", "{path}");
    }
}

#[tokio::test]
async fn the_hosts_own_folder_is_kept_out_by_identity() {
    let (temp, workspace) = folder(&[("state/receipts", "secret"), ("x", "")]);
    let workspace = workspace.keeping_out(temp.path().join("state")).unwrap();
    symlink("state", temp.path().join("link")).unwrap();
    let check = async |path: &str, write: &str| {
        let read = refused(workspace.read(&operation(), path).await).1;
        let written = refused(workspace.write(&operation(), path, b"evil").await).1;
        assert_eq!((read.as_str(), written.as_str()), ("PROTECTED_NAME", write), "{path}");
    };
    check("state/receipts", "PROTECTED_NAME").await;
    check("link/receipts", "PATH_REFUSED").await;
    fs::rename(temp.path().join("state"), temp.path().join("x2")).unwrap();
    check("x2/receipts", "PROTECTED_NAME").await;
    let found = workspace.search(&operation(), "", "secret", 9).await.unwrap();
    assert_eq!(found, ["link: skipped (link)", "x2: skipped (protected)"]);
    let whole = workspace.keeping_out(temp.path());
    assert_eq!(refused(whole).0, PortFailureKind::Conflict);
}

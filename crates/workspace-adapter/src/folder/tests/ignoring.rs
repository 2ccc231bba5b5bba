//! Checks that listing and searching leave out what git would ignore.

use super::*;

#[tokio::test]
async fn rules_hold_from_the_root_down() {
    let (_temp, workspace) = folder(&[
        (
            ".gitignore",
            "\u{feff}# comment\n*.log\n!keep.log\n/only-root\ntarget/\ndocs/*.tmp\nz/*.tmp\n[\n",
        ),
        ("a.log", "hit"),
        ("keep.log", "hit"),
        ("only-root", "hit"),
        ("target/x", "hit"),
        ("docs/a.tmp", "hit"),
        ("docs/deep/a.tmp", "hit"),
        ("z/a.tmp", "hit"),
        ("sub/only-root", "hit"),
        ("sub/a.log", "hit"),
        ("sub/target", "hit"),
        ("sub/.gitignore", "!a.log\nkeep.log\n/local\n"),
        ("sub/keep.log", "hit"),
        ("sub/local", "hit"),
        ("sub/deep/local", "hit"),
        ("sub/deep/a.log", "hit"),
    ]);
    let found = workspace.search(&operation(), "", "hit", 99).await.unwrap();
    let expected = [
        "docs/deep/a.tmp:1:hit",
        "keep.log:1:hit",
        "sub/a.log:1:hit",
        "sub/deep/a.log:1:hit",
        "sub/deep/local:1:hit",
        "sub/only-root:1:hit",
        "sub/target:1:hit",
    ];
    assert_eq!(found, expected);
    let list = async |path: &str| -> Vec<String> {
        let entries = workspace.list(&operation(), path).await.unwrap();
        entries.into_iter().map(|entry| entry.path).collect()
    };
    assert_eq!(list("").await, [".gitignore", "docs", "keep.log", "sub", "z"]);
    assert_eq!(list("docs").await, ["docs/deep"]);
    assert_eq!(
        list("sub").await,
        ["sub/.gitignore", "sub/a.log", "sub/deep", "sub/only-root", "sub/target"]
    );
    assert_eq!(list("sub/deep").await, ["sub/deep/a.log", "sub/deep/local"]);
    assert_eq!(list("target").await, ["target/x"], "named itself, it is shown");
    assert_eq!(workspace.read(&operation(), "target/x").await.unwrap(), b"hit");
}

#[tokio::test]
async fn rules_behind_a_link_are_no_rules() {
    let neighbours = Neighbours::new();
    fs::write(neighbours.outside("folder/secret"), "*\n").unwrap();
    let rules = neighbours.outside("folder/secret");
    std::os::unix::fs::symlink(rules, neighbours.ws(".gitignore")).unwrap();
    fs::write(neighbours.ws("a"), "").unwrap();
    let entries = neighbours.workspace.list(&operation(), "").await.unwrap();
    assert_eq!(entries.len(), 2, "{entries:?}");
}

#[tokio::test]
async fn long_lines_and_odd_bytes_are_shown_safely() {
    let (temp, workspace) = folder(&[("long", &format!("{}é hit", "x".repeat(499)))]);
    fs::write(temp.path().join("latin"), b"caf\xe9 hit\nno\nhit\n").unwrap();
    fs::write(temp.path().join("name\nnewline"), "hit").unwrap();
    let found = workspace.search(&operation(), "", "hit", 99).await.unwrap();
    let expected = [
        "latin:1:caf\u{fffd} hit".to_owned(),
        "latin:3:hit".to_owned(),
        format!("long:1:{}…", "x".repeat(499)),
        "name\u{fffd}newline:1:hit".to_owned(),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn queries_are_literal_and_one_line() {
    let (_temp, workspace) = folder(&[("a", "a.c\nabc\n(x\n\u{1F600}\n")]);
    let check = async |query: &str, expected: &[&str]| {
        assert_eq!(
            workspace.search(&operation(), "", query, 9).await.unwrap(),
            expected,
            "{query}"
        );
    };
    check("a.c", &["a:1:a.c"]).await;
    check("(x", &["a:3:(x"]).await;
    check("\u{1F600}", &["a:4:\u{1F600}"]).await;
    check("B", &[]).await;
    for query in ["", "a\nb", "\0"] {
        assert_eq!(refused(workspace.search(&operation(), "", query, 9).await).1, "BAD_QUERY");
    }
    assert_eq!(workspace.search(&operation(), "", "a", 0).await.unwrap().len(), 0);
    assert_eq!(
        refused(workspace.search(&operation(), "none", "a", 9).await).0,
        PortFailureKind::NotFound
    );
}

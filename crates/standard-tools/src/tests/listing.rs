//! Checks `list_files`.

use super::*;

fn workspace() -> FakeWorkspace {
    FakeWorkspace::default()
        .with_file("a.txt", "12345")
        .with_file("d/e/deep.txt", "1")
        .with_file("d/f.txt", "")
        .with_file("ignored/x", "123")
        .with_ignored("ignored")
}

#[tokio::test]
async fn a_folder_shows_one_level() {
    let top = json!({
        "path": "",
        "kind": "folder",
        "entries": [
            { "path": "a.txt", "kind": "file", "bytes": 5 },
            { "path": "d", "kind": "folder" },
        ],
        "truncated": false,
    });
    for path in [json!({}), json!({ "path": "" }), json!({ "path": "./" })] {
        assert_eq!(result(&workspace(), "list_files", path).await, top);
    }
    let below = result(&workspace(), "list_files", json!({ "path": "./d//" })).await;
    assert_eq!(below["path"], "d");
    assert_eq!(below["entries"][1], json!({ "path": "d/f.txt", "kind": "file", "bytes": 0 }));
}

#[tokio::test]
async fn everything_below_comes_depth_first() {
    let all = result(&workspace(), "list_files", json!({ "recursive": true })).await;
    let paths: Vec<_> =
        all["entries"].as_array().unwrap().iter().map(|entry| &entry["path"]).collect();
    assert_eq!(paths, ["a.txt", "d", "d/e", "d/e/deep.txt", "d/f.txt"]);
}

#[tokio::test]
async fn a_file_lists_itself() {
    let check = async |path: &str, shown: &str, bytes: u64| {
        let listed = result(&workspace(), "list_files", json!({ "path": path })).await;
        let entry = json!({ "path": shown, "kind": "file", "bytes": bytes });
        let expected =
            json!({ "path": shown, "kind": "file", "entries": [entry], "truncated": false });
        assert_eq!(listed, expected);
    };
    check("a.txt", "a.txt", 5).await;
    check("./d/e/deep.txt", "d/e/deep.txt", 1).await;
    check("ignored/x", "ignored/x", 3).await;
}

#[tokio::test]
async fn too_many_entries_are_cut_and_said() {
    let mut workspace = FakeWorkspace::default();
    for number in 0..3_000 {
        workspace = workspace.with_file(&format!("d/file-{number:04}.txt"), "");
    }
    for arguments in [json!({ "path": "d" }), json!({ "recursive": true })] {
        let listed = result(&workspace, "list_files", arguments).await;
        assert_eq!(listed["truncated"], true);
        let count = listed["entries"].as_array().unwrap().len();
        assert!((500..=2_000).contains(&count), "{count}");
    }
}

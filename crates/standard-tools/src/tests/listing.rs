//! Checks `list_files`.

use in_memory_fakes::FaultPlan;
use runtime_ports::PortFailureKind;

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

/// Folders `d/00` to the last, each with a file; the given ones cannot be entered.
async fn list_with_closed(folders: usize, closed: std::ops::Range<usize>) -> Value {
    let mut faults = FaultPlan::new();
    for at in closed {
        let refused = PortFailure::rejected(PortFailureKind::Forbidden, "CLOSED", "it is closed");
        // The first call lists `d`, the next one the first folder in it.
        faults = faults.before("workspace.list", at as u64 + 2, refused);
    }
    let mut workspace = FakeWorkspace::default();
    for at in 0..folders {
        workspace = workspace.with_file(&format!("d/{at:02}/f"), "1");
    }
    let workspace = workspace.with_faults(&faults);
    result(&workspace, "list_files", json!({ "path": "d", "recursive": true })).await
}

fn texts(values: &Value) -> Vec<&str> {
    values.as_array().unwrap().iter().map(|value| value.as_str().unwrap()).collect()
}

#[tokio::test]
async fn what_was_passed_over_is_said() {
    let listed = list_with_closed(4, 1..3).await;
    let paths: Vec<_> =
        listed["entries"].as_array().unwrap().iter().map(|entry| &entry["path"]).collect();
    assert_eq!(paths, ["d/00", "d/00/f", "d/01", "d/02", "d/03", "d/03/f"]);
    assert_eq!(texts(&listed["skipped"]), ["d/01: it is closed", "d/02: it is closed"]);
    assert_eq!((&listed["skipped_count"], &listed["truncated"]), (&json!(2), &json!(true)));

    let whole = list_with_closed(4, 0..0).await;
    assert_eq!((&whole["skipped"], &whole["truncated"]), (&Value::Null, &json!(false)));
}

#[tokio::test]
async fn twenty_that_were_passed_over_are_named_and_all_are_counted() {
    for (closed, named) in [(20, 20), (21, 20), (50, 20)] {
        let listed = list_with_closed(50, 0..closed).await;
        assert_eq!(texts(&listed["skipped"]).len(), named, "{closed} closed");
        assert_eq!(listed["skipped_count"], closed, "{closed} closed");
    }
}

#[tokio::test]
async fn a_folder_that_is_out_of_order_is_not_passed_over() {
    let down = PortFailure::rejected(PortFailureKind::Unavailable, "DOWN", "storage is down");
    let faults = FaultPlan::new().before("workspace.list", 2, down.clone());
    let workspace = FakeWorkspace::default().with_file("d/f", "").with_faults(&faults);
    let listed = call(&workspace, "list_files", json!({ "recursive": true })).await;
    assert_eq!(listed, Err(down));
}

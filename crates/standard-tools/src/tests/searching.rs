//! Checks `search_files`.

use super::*;

#[tokio::test]
async fn hits_and_skipped_files_come_apart() {
    let workspace = FakeWorkspace::default()
        .with_file("a.txt", "milk\nno\nmilk: skipped (again)\n")
        .with_file("bin", b"milk\0")
        .with_file("d/b.txt", "milk")
        .with_file(".env", "milk");
    let found = result(&workspace, "search_files", json!({ "query": "milk" })).await;
    let expected = json!({
        "matches": ["a.txt:1:milk", "a.txt:3:milk: skipped (again)", "d/b.txt:1:milk"],
        "skipped": [".env: skipped (protected)", "bin: skipped (binary)"],
        "skipped_count": 2,
        "truncated": false,
    });
    assert_eq!(found, expected);
    let below = json!({ "query": "milk", "path": "d" });
    let below = result(&workspace, "search_files", below).await;
    assert_eq!(below["matches"], json!(["d/b.txt:1:milk"]));
}

#[tokio::test]
async fn the_limit_counts_matches_only() {
    let workspace = FakeWorkspace::default().with_file("0", b"\0").with_file("a", "x\nx\nx\n");
    let check = async |limit: u64, count: usize, truncated: bool| {
        let arguments = json!({ "query": "x", "limit": limit });
        let found = result(&workspace, "search_files", arguments).await;
        assert_eq!(found["matches"].as_array().unwrap().len(), count, "{limit}");
        assert_eq!(found["truncated"], truncated, "{limit}");
        assert_eq!(found["skipped_count"], 1);
    };
    check(1, 1, true).await;
    check(2, 2, true).await;
    check(3, 3, false).await;
    check(1_000, 3, false).await;
}

#[tokio::test]
async fn many_long_hits_fit() {
    let line = format!("x{}\n", "\"".repeat(400));
    let workspace = FakeWorkspace::default().with_file("a", line.repeat(900));
    let found = result(&workspace, "search_files", json!({ "query": "x", "limit": 1_000 })).await;
    assert_eq!(found["truncated"], true);
    assert!(found["matches"].as_array().unwrap().len() > 10);
}

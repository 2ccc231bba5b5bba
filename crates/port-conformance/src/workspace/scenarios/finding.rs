//! What lists and searches show, and in which order.
//!
//! Knows nothing about how they walk.

use runtime_ports::WorkspaceEntry;

use crate::{
    Proof,
    claim::{claim, equal, operation, success},
    workspace::{Layout, WorkspaceHarness},
};

fn file(path: &str, size: u64) -> WorkspaceEntry {
    WorkspaceEntry { path: path.into(), is_dir: false, size: Some(size) }
}

fn folder(path: &str) -> WorkspaceEntry {
    WorkspaceEntry { path: path.into(), is_dir: true, size: None }
}

fn tree() -> Layout {
    Layout::files(&[
        ("zebra.txt", "stripes\n"),
        ("apple/seed.txt", "one\nseed of an apple\n"),
        ("apple/core/rot.txt", "worm\nseed\n"),
        ("apple.txt", "green\nred seed\nseed again\n"),
        ("Berry.txt", ""),
    ])
}

pub(crate) async fn a_list_is_one_level_in_order(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(tree()).await?;
    let root = success("listing the root", staged.list("").await)?;
    let expected =
        vec![file("Berry.txt", 0), folder("apple"), file("apple.txt", 26), file("zebra.txt", 8)];
    equal("the root", &root, &expected)?;
    let apple = success("listing a folder", staged.list("apple").await)?;
    equal("the folder", &apple, &vec![folder("apple/core"), file("apple/seed.txt", 21)])
}

pub(crate) async fn the_root_has_two_names(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(tree()).await?;
    let empty = success("listing the empty path", staged.list("").await)?;
    claim(!empty.is_empty(), || "the root is empty".into())?;
    equal("the list of the dot", &success("listing the dot", staged.list(".").await)?, &empty)?;
    let empty = success("searching the empty path", staged.search("", "seed").await)?;
    let dot = success("searching the dot", staged.search(".", "seed").await)?;
    claim(!empty.is_empty(), || "nothing was found".into())?;
    equal("the search of the dot", &dot, &empty)
}

fn with_ignored() -> Layout {
    Layout::files(&[
        ("kept.txt", "needle\n"),
        ("skipped.log", "needle\n"),
        ("deep/kept.txt", "needle\n"),
        ("deep/skipped.log", "needle\n"),
        ("build/made.txt", "needle\n"),
    ])
    .ignoring("skipped.log")
    .ignoring("build")
}

pub(crate) async fn a_list_leaves_out_what_is_ignored(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(with_ignored()).await?;
    for (path, kept) in [("", vec!["deep", "kept.txt"]), ("deep", vec!["deep/kept.txt"])] {
        let listed = success("listing", staged.list(path).await)?;
        let paths: Vec<_> = listed.iter().map(|entry| entry.path.as_str()).collect();
        let seen: Vec<_> = paths.into_iter().filter(|path| !path.starts_with(".gitig")).collect();
        equal("the entries", &seen, &kept)?;
    }
    Ok(())
}

pub(crate) async fn a_search_is_literal(harness: &dyn WorkspaceHarness) -> Proof {
    let text = "a.b(c)*\nabbc\n  A.B(C)*\nx a.b(c)* y\na.b\n";
    let staged = harness.stage(Layout::files(&[("code.txt", text)])).await?;
    let lines = success("a search", staged.search("", "a.b(c)*").await)?;
    equal("the hits", &lines, &vec!["code.txt:1:a.b(c)*".into(), "code.txt:4:x a.b(c)* y".into()])?;
    let none = success("a search for nothing", staged.search("", "[a-z]+").await)?;
    equal("the hits", &none, &Vec::new())
}

pub(crate) async fn a_search_is_recursive_in_order(harness: &dyn WorkspaceHarness) -> Proof {
    let layout = Layout::files(&[
        ("zebra.txt", "seed\n"),
        ("b/d/rot.txt", "worm\nseed\n"),
        ("b/c.txt", "one seed\nnone\ntwo seeds\n"),
        ("a.txt", "none\nseed\n"),
    ]);
    let staged = harness.stage(layout).await?;
    let lines = success("a search", staged.search("", "seed").await)?;
    let expected = [
        "a.txt:2:seed",
        "b/c.txt:1:one seed",
        "b/c.txt:3:two seeds",
        "b/d/rot.txt:2:seed",
        "zebra.txt:1:seed",
    ];
    equal("the hits", &lines, &expected.map(String::from).to_vec())
}

pub(crate) async fn a_search_stays_below_its_path(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(tree()).await?;
    let lines = success("a search of a folder", staged.search("apple", "seed").await)?;
    let expected = ["apple/core/rot.txt:2:seed", "apple/seed.txt:2:seed of an apple"];
    equal("the hits of the folder", &lines, &expected.map(String::from).to_vec())?;
    let lines = success("a search of a file", staged.search("apple.txt", "again").await)?;
    equal("the hits of the file", &lines, &vec!["apple.txt:3:seed again".into()])
}

pub(crate) async fn a_search_honours_its_limit(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(tree()).await?;
    let all = success("a search", staged.search("", "seed").await)?;
    equal("the number of hits", &all.len(), &4)?;
    for limit in 0..=5_usize {
        let some = staged.session.search(&operation(), "", "seed", limit).await;
        let some = success("a limited search", some)?;
        equal("the first hits", &some[..], &all[..limit.min(4)])?;
    }
    Ok(())
}

pub(crate) async fn a_search_names_what_it_skipped(harness: &dyn WorkspaceHarness) -> Proof {
    let mut layout = Layout::files(&[("text.txt", "needle\n")]);
    layout.files.push(("picture.bin".into(), b"\0\x01\xffneedle\0\n".to_vec()));
    let staged = harness.stage(layout).await?;
    let lines = success("a search", staged.search("", "needle").await)?;
    let [skipped, hit] = &lines[..] else {
        return claim(false, || format!("the lines are {lines:?}, expected two"));
    };
    equal("the hit", hit.as_str(), "text.txt:1:needle")?;
    let named = skipped.starts_with("picture.bin: skipped (") && skipped.ends_with(')');
    claim(named, || format!("a skipped file is told as {skipped:?}"))
}

pub(crate) async fn a_search_leaves_out_what_is_ignored(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = harness.stage(with_ignored()).await?;
    let lines = success("a search", staged.search("", "needle").await)?;
    equal("the hits", &lines, &vec!["deep/kept.txt:1:needle".into(), "kept.txt:1:needle".into()])
}

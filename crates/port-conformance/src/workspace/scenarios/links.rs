//! That no link leads out of the workspace.
//!
//! Knows nothing about how links are resolved. Whether links that stay inside are followed is the
//! implementation's choice.

use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind as Kind};

use super::escaping::{SECRET, same_answers};
use crate::{
    Broken, Proof,
    claim::{PATIENCE, claim, equal, failed, failure, success, within},
    workspace::{Layout, LinkTarget, StagedWorkspace, WorkspaceHarness},
};

/// Links to files outside, in every shape.
const TO_FILES: &[&str] = &["file", "up/file", "chain-0", "folder/secret", "up-folder/secret"];

/// Links to folders outside, in every shape.
const TO_FOLDERS: &[&str] = &["folder", "up-folder", "folder/deep", "chain-folder"];

/// Paths at which something would be made outside.
const TO_NOTHING: &[&str] =
    &["dangling", "folder/new", "folder/new/deeper/file", "up-folder/new", "chain-folder/new"];

fn layout() -> Layout {
    let text = |text: &str| LinkTarget::Text(text.into());
    let outside = |path: &str| LinkTarget::Outside(path.into());
    let beside = [("outside/secret", SECRET), ("outside/deep/secret", SECRET)];
    let mut layout = Layout::files(&[("a.txt", "inside"), ("up/b.txt", "inside")])
        .beside(&beside)
        .link("file", outside("outside/secret"))
        .link("up/file", text("../../outside/secret"))
        .link("folder", outside("outside"))
        .link("up-folder", text("../outside"))
        .link("dangling", outside("outside/missing"))
        .link("chain-folder", text("up-folder"))
        .link("loop-1", text("loop-2"))
        .link("loop-2", text("loop-1"))
        .link("loop-self", text("loop-self/deeper"));
    for number in 0..39 {
        layout = layout.link(format!("chain-{number}"), text(&format!("chain-{}", number + 1)));
    }
    layout.link("chain-39", outside("outside/secret"))
}

async fn staged(harness: &dyn WorkspaceHarness) -> Result<StagedWorkspace, Broken> {
    Ok(harness.stage(layout()).await?)
}

fn is_forbidden<T: std::fmt::Debug>(path: &str, result: Result<T, PortFailure>) -> Proof {
    let what = format!("the call through {path}");
    failure(&what, result, Kind::Forbidden, CommitDisposition::NotCommitted).map(drop)
}

fn outside_is_untouched(staged: &StagedWorkspace) -> Proof {
    for path in ["outside/secret", "outside/deep/secret"] {
        let content = staged.world.outside(path);
        equal(path, &content.as_deref(), &Some(SECRET.as_bytes()))?;
    }
    for path in ["outside/missing", "outside/new", "outside/new/deeper/file"] {
        claim(staged.world.outside(path).is_none(), || format!("{path} was made"))?;
    }
    Ok(())
}

pub(crate) async fn reading_follows_no_link_out(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = staged(harness).await?;
    for path in TO_FILES {
        is_forbidden(path, staged.read(path).await)?;
    }
    Ok(())
}

pub(crate) async fn writing_follows_no_link_out(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = staged(harness).await?;
    for path in TO_FILES.iter().chain(TO_NOTHING) {
        is_forbidden(path, staged.write(path, b"overwritten").await)?;
    }
    outside_is_untouched(&staged)
}

pub(crate) async fn listing_follows_no_link_out(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = staged(harness).await?;
    for path in TO_FOLDERS {
        is_forbidden(path, staged.list(path).await)?;
    }
    Ok(())
}

pub(crate) async fn searching_follows_no_link_out(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = staged(harness).await?;
    for path in TO_FOLDERS.iter().chain(TO_FILES) {
        is_forbidden(path, staged.search(path, "secret").await)?;
    }
    let lines = success("a search of the root", staged.search("", SECRET).await)?;
    claim(!lines.iter().any(|line| line.contains(SECRET)), || format!("it found {lines:?}"))
}

pub(crate) async fn a_refused_link_tells_nothing(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = staged(harness).await?;
    same_answers(&staged, "file", "dangling").await?;
    same_answers(&staged, "folder/secret", "folder/missing").await
}

pub(crate) async fn a_loop_of_links_ends(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = staged(harness).await?;
    for path in ["loop-1", "loop-1/x", "loop-self", "loop-self/x"] {
        let trying = async {
            failed("reading a loop", staged.read(path).await)?;
            failed("writing a loop", staged.write(path, b"x").await)?;
            failed("listing a loop", staged.list(path).await)
        };
        within("a loop of links", PATIENCE, trying).await??;
    }
    let searching = staged.search("", "inside");
    let lines = success("a search", within("a search past loops", PATIENCE, searching).await?)?;
    let hits: Vec<_> =
        lines.iter().map(String::as_str).filter(|line| line.ends_with(":inside")).collect();
    equal("the hits beside the loops", &hits, &vec!["a.txt:1:inside", "up/b.txt:1:inside"])
}

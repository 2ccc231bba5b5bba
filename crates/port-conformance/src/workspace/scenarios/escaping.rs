//! That no text leads out of the workspace.
//!
//! Knows nothing about links.

use runtime_ports::{CommandRequest, CommitDisposition, PortFailure, PortFailureKind as Kind};

use crate::{
    Broken, Proof,
    claim::{claim, equal, failed, failure, operation},
    workspace::{CommandDoing, HOSTILE_PATHS, Layout, StagedWorkspace, WorkspaceHarness},
};

pub(super) const SECRET: &str = "secret-beside-the-workspace";

fn layout() -> Layout {
    let beside = [("outside/secret", SECRET), ("ws-evil/x", SECRET)];
    Layout::files(&[("a.txt", "inside"), ("a/b/c.txt", "inside")]).beside(&beside)
}

async fn staged(harness: &dyn WorkspaceHarness) -> Result<StagedWorkspace, Broken> {
    Ok(harness.stage(layout()).await?)
}

/// The table, and what depends on where the root is: absolute paths, also to what lies inside, and
/// to a sibling whose name begins like the root's.
fn hostile_paths(staged: &StagedWorkspace) -> Vec<String> {
    let mut paths: Vec<_> = HOSTILE_PATHS.iter().map(|path| (*path).to_owned()).collect();
    paths.push("a".repeat(4_097));
    paths.push("a/".repeat(2_100));
    if let Some(root) = &staged.root {
        paths.extend([format!("{root}/a.txt"), format!("{root}-evil/x"), root.clone()]);
    }
    paths
}

fn is_forbidden<T: std::fmt::Debug>(path: &str, result: Result<T, PortFailure>) -> Proof {
    let shown: String = path.chars().take(60).collect();
    let what = format!("the call with {shown:?}");
    failure(&what, result, Kind::Forbidden, CommitDisposition::NotCommitted).map(drop)
}

pub(crate) async fn reading_never_leads_out(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = staged(harness).await?;
    for path in hostile_paths(&staged) {
        is_forbidden(&path, staged.read(&path).await)?;
    }
    Ok(())
}

pub(crate) async fn writing_never_leads_out(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = staged(harness).await?;
    for path in hostile_paths(&staged) {
        is_forbidden(&path, staged.write(&path, b"overwritten").await)?;
    }
    for path in ["outside/secret", "ws-evil/x"] {
        let content = staged.world.outside(path);
        equal(path, &content.as_deref(), &Some(SECRET.as_bytes()))?;
    }
    Ok(())
}

pub(crate) async fn listing_never_leads_out(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = staged(harness).await?;
    for path in hostile_paths(&staged) {
        is_forbidden(&path, staged.list(&path).await)?;
    }
    Ok(())
}

pub(crate) async fn searching_never_leads_out(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = staged(harness).await?;
    for path in hostile_paths(&staged) {
        is_forbidden(&path, staged.search(&path, "secret").await)?;
    }
    Ok(())
}

pub(crate) async fn commands_never_start_outside(harness: &dyn WorkspaceHarness) -> Proof {
    let doing = CommandDoing::Makes { name: "made-outside".into(), content: "out".into() };
    let staged = harness.stage(layout().command(Some(".."), doing.clone())).await?;
    for path in hostile_paths(&staged) {
        let request = CommandRequest { command: doing.line(), cwd: Some(path.clone()) };
        is_forbidden(&path, staged.session.execute(&operation(), request).await)?;
    }
    for path in ["made-outside", "outside/made-outside"] {
        claim(staged.world.outside(path).is_none(), || format!("{path} was made outside"))?;
    }
    Ok(())
}

/// Both answers, which must be one.
pub(super) async fn same_answers(staged: &StagedWorkspace, present: &str, absent: &str) -> Proof {
    let ways = [
        (staged.read(present).await.map(drop), staged.read(absent).await.map(drop)),
        (staged.write(present, b"x").await, staged.write(absent, b"x").await),
        (staged.list(present).await.map(drop), staged.list(absent).await.map(drop)),
        (staged.search(present, "s").await.map(drop), staged.search(absent, "s").await.map(drop)),
    ];
    for (present, absent) in ways {
        let (present, absent) =
            (failed("a call outside", present)?, failed("a call outside", absent)?);
        equal("the answer where something is", &present, &absent)?;
    }
    Ok(())
}

pub(crate) async fn a_refusal_tells_nothing(harness: &dyn WorkspaceHarness) -> Proof {
    let staged = staged(harness).await?;
    same_answers(&staged, "../outside/secret", "../outside/missing").await?;
    same_answers(&staged, "../outside", "../missing").await?;
    same_answers(&staged, "/etc/passwd", "/etc/no-such-file").await
}

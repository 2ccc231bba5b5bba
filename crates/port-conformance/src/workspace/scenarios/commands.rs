//! What a command gives, and that nothing of it is left.
//!
//! Knows nothing about processes beyond the files that they make.

use std::time::Duration;

use runtime_ports::{CommandOutput, CommitDisposition, PortFailureKind as Kind};
use tokio::time::{Instant, sleep};

use crate::{
    Broken, Proof,
    claim::{
        BRIEFLY, PATIENCE, SOON, claim, equal, failed, failure, operation, operation_within,
        success, within,
    },
    workspace::{CommandDoing, Layout, StagedWorkspace, WorkspaceHarness},
};

/// Longer than a child waits before it makes its file.
const AFTER_THE_CHILD: Duration = Duration::from_millis(600);

/// A workspace in which this command was run to its end.
async fn ran(
    harness: &dyn WorkspaceHarness,
    cwd: Option<&str>,
    doing: CommandDoing,
) -> Result<(StagedWorkspace, CommandOutput), Broken> {
    let layout = Layout::files(&[("sub/a.txt", "text")]).command(cwd, doing);
    let staged = harness.stage(layout.clone()).await?;
    let operation = operation();
    let running = staged.run(&operation, &layout.commands[0]);
    let output = within("the command", 2 * PATIENCE, running).await?;
    Ok((staged, success("the command", output)?))
}

pub(crate) async fn a_command_gives_output_and_code(harness: &dyn WorkspaceHarness) -> Proof {
    for exit_code in [0, 3, 200] {
        let (stdout, stderr) = ("to the user".to_owned(), "to the log".to_owned());
        let doing = CommandDoing::Prints { stdout, stderr, exit_code };
        let (_, output) = ran(harness, None, doing).await?;
        let expected = CommandOutput {
            exit_code: exit_code.into(),
            stdout: "to the user".into(),
            stderr: "to the log".into(),
            truncated: false,
        };
        equal("the output", &output, &expected)?;
    }
    Ok(())
}

pub(crate) async fn a_signal_is_told_in_the_code(harness: &dyn WorkspaceHarness) -> Proof {
    for signal in [9_u8, 15] {
        let (_, output) = ran(harness, None, CommandDoing::DiesOf(signal)).await?;
        equal("the exit code", &output.exit_code, &(128 + i32::from(signal)))?;
    }
    Ok(())
}

pub(crate) async fn a_command_runs_in_its_folder(harness: &dyn WorkspaceHarness) -> Proof {
    let places = [(None, "made.txt"), (Some("."), "made.txt"), (Some("sub"), "sub/made.txt")];
    for (cwd, path) in places {
        let doing = CommandDoing::Makes { name: "made.txt".into(), content: "here".into() };
        let (staged, output) = ran(harness, cwd, doing).await?;
        equal("the exit code", &output.exit_code, &0)?;
        equal(path, &staged.world.inside(path).as_deref(), &Some(&b"here"[..]))?;
    }
    Ok(())
}

pub(crate) async fn a_command_without_folder_does_not_run(harness: &dyn WorkspaceHarness) -> Proof {
    let doing = CommandDoing::Makes { name: "made.txt".into(), content: "here".into() };
    let layout = Layout::files(&[("a.txt", "text")]).command(Some("missing"), doing);
    let staged = harness.stage(layout.clone()).await?;
    let refused = failed("a command nowhere", staged.run(&operation(), &layout.commands[0]).await)?;
    equal("its disposition", &refused.commit, &CommitDisposition::NotCommitted)?;
    claim(staged.world.inside("made.txt").is_none(), || "it ran in the root".into())
}

pub(crate) async fn long_output_keeps_head_and_tail(harness: &dyn WorkspaceHarness) -> Proof {
    let bytes = 3 * 1_024 * 1_024;
    let (_, output) = ran(harness, None, CommandDoing::Floods { bytes }).await?;
    let stdout = &output.stdout;
    claim(stdout.starts_with("head\n"), || "the head is missing".into())?;
    claim(stdout.ends_with("tail\n"), || "the tail is missing".into())?;
    let whole = stdout.len() == bytes;
    claim(whole != output.truncated, || {
        format!("{} of {bytes} bytes, truncated: {}", stdout.len(), output.truncated)
    })
}

/// The child of a command that ended does nothing any more.
async fn child_is_gone(staged: &StagedWorkspace) -> Proof {
    sleep(AFTER_THE_CHILD).await;
    claim(staged.world.inside("late.txt").is_none(), || "a child of the command lived on".into())
}

pub(crate) async fn a_command_leaves_nothing_running(harness: &dyn WorkspaceHarness) -> Proof {
    let doing = CommandDoing::LeavesAChild { name: "late.txt".into() };
    let layout = Layout::default().command(None, doing);
    let staged = harness.stage(layout.clone()).await?;
    let operation = operation();
    let running = staged.run(&operation, &layout.commands[0]);
    success("the command", within("the command", PATIENCE, running).await?)?;
    // A command whose child was waited for has made its file by now; that is allowed.
    let made = staged.world.inside("late.txt");
    sleep(AFTER_THE_CHILD).await;
    equal("the file of the child", &staged.world.inside("late.txt"), &made)
}

pub(crate) async fn cancelling_a_command_ends_it(harness: &dyn WorkspaceHarness) -> Proof {
    let doing = CommandDoing::SleepsBesideAChild { name: "late.txt".into() };
    let layout = Layout::default().command(None, doing);
    let staged = harness.stage(layout.clone()).await?;
    let operation = operation();
    let running = async {
        let ended = staged.run(&operation, &layout.commands[0]).await;
        (ended, Instant::now())
    };
    let cancelling = async {
        sleep(BRIEFLY / 4).await;
        operation.cancellation.cancel();
        Instant::now()
    };
    let both = async { tokio::join!(running, cancelling) };
    let ((result, ended), cancelled) = within("a cancelled command", PATIENCE, both).await?;
    failure("a cancelled command", result, Kind::Canceled, CommitDisposition::Unknown)?;
    let late = ended.saturating_duration_since(cancelled);
    claim(late <= SOON, || format!("the command ended {late:?} after its cancellation"))?;
    child_is_gone(&staged).await
}

pub(crate) async fn a_deadline_ends_a_command(harness: &dyn WorkspaceHarness) -> Proof {
    let layout = Layout::default().command(None, CommandDoing::Sleeps);
    let staged = harness.stage(layout.clone()).await?;
    let operation = operation_within(BRIEFLY);
    let running = staged.run(&operation, &layout.commands[0]);
    let ended = within("a command past its deadline", BRIEFLY + SOON, running).await?;
    let unknown = CommitDisposition::Unknown;
    failure("a command past its deadline", ended, Kind::Timeout, unknown).map(drop)
}

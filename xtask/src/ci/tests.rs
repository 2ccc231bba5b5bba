//! The first failure stops, is named, and shows in the table.

use super::*;

fn passes(_: &Workspace) -> anyhow::Result<()> {
    Ok(())
}

fn fails(_: &Workspace) -> anyhow::Result<()> {
    bail!("3 problems")
}

#[test]
fn the_first_failure_stops_the_rest() {
    let steps = [
        Step { name: "one", run: passes },
        Step { name: "two", run: fails },
        Step { name: "three", run: fails },
    ];
    let workspace = Workspace::locate().expect("tests run in the workspace");
    let (ends, failure) = run_all(&steps.iter().collect::<Vec<_>>(), &workspace);
    assert!(matches!(ends[..], [End::Passed(_), End::Failed(_), End::NotRun]), "{ends:?}");
    let failure = failure.expect("a failure");
    assert_eq!(format!("{failure:#}"), "the step `two` failed: 3 problems");
}

#[test]
fn every_step_that_passes_lets_the_next_one_run() {
    let steps = [Step { name: "one", run: passes }, Step { name: "two", run: passes }];
    let workspace = Workspace::locate().expect("tests run in the workspace");
    let (ends, failure) = run_all(&steps.iter().collect::<Vec<_>>(), &workspace);
    assert!(ends.iter().all(|end| matches!(end, End::Passed(_))) && failure.is_none());
}

#[test]
fn the_table_tells_every_end() {
    let second = Duration::from_millis(1250);
    let ends = [End::Passed(second), End::Failed(second), End::NotRun];
    let expected = "fmt     passed     1.2 s\nclippy  FAILED     1.2 s\ntests   not run";
    assert_eq!(summary(&["fmt", "clippy", "tests"], &ends), expected);
}

#[test]
fn a_cargo_command_that_fails_is_named() {
    let mut command = Command::new(env!("CARGO"));
    command.arg("no-such-command").stderr(Stdio::null());
    let error = finish(&mut command, &["no-such-command"]).expect_err("cargo refuses it");
    assert!(error.to_string().starts_with("`cargo no-such-command` ended with"), "{error}");
}

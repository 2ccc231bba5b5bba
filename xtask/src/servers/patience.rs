//! Decides how long a command may take, and that none outlives its time.

use std::{
    fs::File,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs a command to its end; whether it ended well.
///
/// # Errors
/// It cannot be run, or takes longer than `most`.
pub(super) fn finish(command: &mut Command, most: Duration) -> anyhow::Result<bool> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().with_context(|| format!("cannot run {name}"))?;
    let until = Instant::now() + most;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if Instant::now() >= until {
            child.kill()?;
            child.wait()?;
            bail!("{name} takes longer than {} s", most.as_secs());
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// The same with its output in a file, whose end is shown when it does not end well.
pub(super) fn finish_quietly(
    command: &mut Command,
    most: Duration,
    log: &Path,
) -> anyhow::Result<()> {
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let errors = file.try_clone()?;
    let command = command.stdin(Stdio::null()).stdout(file).stderr(errors);
    let ended = finish(command, most);
    if !matches!(ended, Ok(true)) {
        show_end(log);
    }
    match ended? {
        true => Ok(()),
        false => bail!("{} failed", command.get_program().to_string_lossy()),
    }
}

/// Prints the last lines of a log.
pub(super) fn show_end(log: &Path) {
    const LINES: usize = 40;
    let text = std::fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = text.unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    eprintln!("-- the end of {}", log.display());
    lines[lines.len().saturating_sub(LINES)..].iter().for_each(|line| eprintln!("   {line}"));
}

//! Decides how the outcome of a check is told: as a line, and in the report for the page.

use std::{
    fs,
    future::Future,
    process::ExitCode,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde::Serialize;

/// Longest time of one check.
const PATIENCE: Duration = Duration::from_secs(180);

/// How a check that did not fail ended.
#[derive(Debug)]
pub(crate) enum Held {
    /// All that was asked.
    Yes,
    /// The same, with a figure.
    With(String),
    /// The server cannot be asked for this; says why.
    DoesNotApply(String),
}

/// What a check gives: how it held, or what was broken.
pub(crate) type Outcome = Result<Held, String>;

/// What a line is about.
#[derive(Debug, Clone)]
pub(crate) struct About {
    pub(crate) server: &'static str,
    pub(crate) version: &'static str,
    pub(crate) api: String,
}

#[derive(Debug, Serialize)]
struct Line {
    server: String,
    version: String,
    api: String,
    check: String,
    result: String,
    millis: u64,
    failed: bool,
}

/// All lines so far.
#[derive(Default)]
pub(crate) struct Results(Mutex<Vec<Line>>);

impl Results {
    /// Runs a check and takes its outcome down.
    pub(crate) async fn take(
        &self,
        about: &About,
        check: &str,
        work: impl Future<Output = Outcome>,
    ) {
        let began = Instant::now();
        let outcome = tokio::time::timeout(PATIENCE, work).await;
        let outcome = outcome.unwrap_or_else(|_| Err(format!("not over after {PATIENCE:?}")));
        let failed = outcome.is_err();
        let result = match outcome {
            Ok(Held::Yes) => "held".to_owned(),
            Ok(Held::With(figure)) => format!("held: {figure}"),
            Ok(Held::DoesNotApply(why)) => format!("does not apply: {why}"),
            Err(what) => format!("FAILED: {what}"),
        };
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let About { server, version, api } = about;
        println!("{server:10} {api:10} {check:28} {millis:6} ms  {result}");
        let line = Line {
            server: (*server).to_owned(),
            version: (*version).to_owned(),
            api: api.clone(),
            check: check.to_owned(),
            result,
            millis,
            failed,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    /// Writes the report, and says whether all held.
    pub(crate) fn end(&self) -> ExitCode {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            println!("no server was named; `cargo xtask servers` starts them");
            return ExitCode::SUCCESS;
        }
        if let Ok(path) = std::env::var("SERVERS_REPORT") {
            fs::write(path, serde_json::to_string_pretty(&*lines).expect("lines are json"))
                .expect("a report that can be written");
        }
        let failed = lines.iter().filter(|line| line.failed).count();
        println!("{} checks, {failed} failed", lines.len());
        if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

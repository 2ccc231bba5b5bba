//! Decides whether the adapters work with servers that others wrote.
//!
//! `cargo xtask servers` installs and starts the servers and tells their addresses in the
//! environment; without any address there is nothing to do, and that is said. Each check gives one
//! line; the run fails when one of them does.

mod aimock;
mod calling;
mod command;
mod control;
mod conversations;
mod forced;
mod llmock;
mod real;
mod referee;
mod relay;
mod results;
mod speech;
mod suite;

use std::{process::ExitCode, sync::Arc};

use results::Results;
use speech::Speech;
use tokio::task::JoinSet;

/// The address of a server; `None` when it does not run.
fn address(name: &str) -> Option<String> {
    std::env::var(format!("SERVERS_{name}")).ok()
}

/// What is scripted: one server of each kind for an API, since a server judges all that it saw.
async fn scripted(speech: Speech, results: Arc<Results>) {
    if let Some(base) = address(&format!("LLMOCK_{}", speech.name().to_uppercase())) {
        llmock::check(&base, speech, &results).await;
        referee::check(&base, speech, &results).await;
    }
    if let Some(base) = address("AIMOCK") {
        aimock::check(&base, speech, &results).await;
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let results = Arc::new(Results::default());
    let mut checks = JoinSet::new();
    for speech in Speech::ALL {
        checks.spawn(scripted(speech, Arc::clone(&results)));
    }
    if let Some(base) = address("LLMOCK_NARROW") {
        let results = Arc::clone(&results);
        checks.spawn(async move { referee::check_narrow(&base, &results).await });
    }
    checks.join_all().await;
    real::check(&results).await;
    results.end()
}

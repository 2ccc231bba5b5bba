//! Decides what Ctrl-C does: the first asks the run to stop, the second ends the process.
//!
//! Knows the signal; refuses to know what is running.

use runtime_ports::Intelligence;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{exit::Exit, show::Show};
use std::sync::Arc;

/// Watches for Ctrl-C and for termination until the run has ended.
pub(crate) fn watch(
    intelligence: Arc<dyn Intelligence>,
    run: Uuid,
    cancellation: CancellationToken,
    show: Arc<dyn Show>,
) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        if !interrupted().await {
            return;
        }
        show.note("agent: stopping; press Ctrl-C again to end at once");
        cancellation.cancel();
        // The turn settles its own receipt; a failure to cancel shows in the run's own end.
        let _ = intelligence.cancel(run).await;
        if interrupted().await {
            std::process::exit(i32::from(Exit::Cancelled.code()));
        }
    })
}

/// Waits for SIGINT or SIGTERM; false when signals cannot be watched.
async fn interrupted() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return false };
    tokio::select! {
        interrupt = tokio::signal::ctrl_c() => interrupt.is_ok(),
        _ = terminate.recv() => true,
    }
}

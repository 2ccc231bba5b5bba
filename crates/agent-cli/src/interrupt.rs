//! Decides what Ctrl-C does: the first asks the run to stop, the second ends the process.
//!
//! Knows the signals; refuses to know what is running. Termination and a terminal that went away
//! do the same.

use std::{sync::Arc, time::Duration};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::{exit::Exit, screen::Screen, show::Show};

/// How long the word that the run is being stopped may take.
const PATIENCE: Duration = Duration::from_millis(200);

/// Watches from now on until the process ends: the first signal cancels `cancellation`.
pub(crate) fn watch(cancellation: CancellationToken, show: Arc<dyn Show>, screen: Arc<Screen>) {
    // Listening begins here, once: a signal between two waits must not be missed.
    let Ok(mut signals) = Signals::listen() else { return };
    // ends with the process: a signal may come as long as that lives.
    tokio::spawn(async move {
        signals.next().await;
        let stopping = tokio::task::spawn_blocking({
            let screen = Arc::clone(&screen);
            move || {
                screen.keys_were_echoed();
                show.note("agent: stopping; press Ctrl-C again to end at once");
            }
        });
        // A screen that nobody reads takes nothing, and must hold up no signal.
        let _ = tokio::time::timeout(PATIENCE, stopping).await;
        cancellation.cancel();
        signals.next().await;
        screen.end_line_at_once();
        std::process::exit(i32::from(Exit::Cancelled.code()));
    });
}

/// The signals that ask the command to stop.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

/// Which of them came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caught {
    Interrupt,
    /// Termination, or a terminal that went away.
    End,
}

impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    /// No handler can be installed.
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> Caught {
        tokio::select! {
            _ = self.interrupt.recv() => Caught::Interrupt,
            _ = self.terminate.recv() => Caught::End,
            _ = self.hang_up.recv() => Caught::End,
        }
    }
}

//! Decides what a scripted reply does: come back at once or late, fail, hang or panic.
//!
//! Knows nothing about what is replied, nor who asked.

use std::{fmt, time::Duration};

use runtime_ports::{OperationContext, PortFailure};

use crate::{model_step::shortened, script::Scripted};

/// One step of a script that replies with a `T`.
#[derive(Debug, Clone)]
pub struct Step<T> {
    delay: Duration,
    end: End<T>,
}

#[derive(Debug, Clone)]
enum End<T> {
    Reply(T),
    Fail(PortFailure),
    Stall,
    Panic(String),
}

impl<T> Step<T> {
    const fn ending(end: End<T>) -> Self {
        Self { delay: Duration::ZERO, end }
    }

    /// Replies.
    pub fn reply(reply: impl Into<T>) -> Self {
        Self::ending(End::Reply(reply.into()))
    }

    /// Fails with exactly this.
    #[must_use]
    pub const fn fail(failure: PortFailure) -> Self {
        Self::ending(End::Fail(failure))
    }

    /// Hangs until the operation is cancelled or its deadline passes; then the commit is unknown.
    #[must_use]
    pub const fn stall() -> Self {
        Self::ending(End::Stall)
    }

    /// Panics with this message.
    pub fn panic(message: impl Into<String>) -> Self {
        Self::ending(End::Panic(message.into()))
    }

    /// Takes this long before it ends.
    #[must_use]
    pub const fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Plays the step.
    pub(crate) async fn play(self, operation: &OperationContext) -> Result<T, PortFailure> {
        let wait = operation.bounded(tokio::time::sleep(self.delay));
        wait.await.map_err(runtime_ports::Interruption::in_flight)?;
        match self.end {
            End::Reply(reply) => Ok(reply),
            End::Fail(failure) => Err(failure),
            End::Stall => Err(operation.interrupted().await.in_flight()),
            End::Panic(message) => panic!("{message}"),
        }
    }
}

impl<T: fmt::Debug> Scripted for Step<T> {
    fn label(&self) -> String {
        match &self.end {
            End::Reply(reply) => format!("reply {}", shortened(&format!("{reply:?}"))),
            End::Fail(failure) => format!("fail {}", failure.code),
            End::Stall => "stall".to_owned(),
            End::Panic(message) => format!("panic {:?}", shortened(message)),
        }
    }
}

//! Decides how long a tool is waited for, and what is made of one that does not come back.
//!
//! Knows nothing about results. Invariant: the wait ends with the operation and the grace, whatever
//! the tool does.

use std::{sync::Arc, time::Duration};

use runtime_ports::{
    Interruption, OperationContext, PortFailure, Tool, ToolInvocation, ToolReply, ToolWorld,
};
use tokio::task::{JoinError, JoinSet};
use tracing::Instrument as _;

/// How long a tool may take to come to an end after it was told to.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// How a tool's work ended.
pub(super) enum Ended {
    Replied(ToolReply),
    Failed(PortFailure),
    Interrupted(Interruption),
    Panicked,
}

type Joined = Option<Result<Result<ToolReply, PortFailure>, JoinError>>;

/// Runs the tool as a task of its own, which is aborted when this future is dropped.
pub(super) async fn run(
    tool: Arc<dyn Tool>,
    world: ToolWorld,
    operation: OperationContext,
    invocation: ToolInvocation,
) -> Ended {
    let span = tracing::info_span!("tool", call_id = &*invocation.call_id);
    let mut task = JoinSet::new();
    let own = operation.clone();
    let work = async move { tool.invoke(&own, &world, invocation).await };
    task.spawn(work.instrument(span));
    match operation.bounded(task.join_next()).await {
        Ok(joined) => ended(joined, Interruption::Canceled),
        Err(interruption) => last_word(&operation, &mut task, interruption).await,
    }
}

/// Tells the tool to stop and waits for what it has to say: only the tool knows what it did.
async fn last_word(
    operation: &OperationContext,
    task: &mut JoinSet<Result<ToolReply, PortFailure>>,
    interruption: Interruption,
) -> Ended {
    operation.cancellation.cancel();
    match tokio::time::timeout(GRACE, task.join_next()).await {
        Ok(joined) => ended(joined, interruption),
        Err(_) => Ended::Interrupted(interruption),
    }
}

fn ended(joined: Joined, interruption: Interruption) -> Ended {
    match joined {
        Some(Ok(Ok(reply))) => Ended::Replied(reply),
        Some(Ok(Err(failure))) => Ended::Failed(failure),
        Some(Err(error)) => match error.try_into_panic() {
            Ok(payload) => {
                // It may panic when it is dropped, so it never is.
                std::mem::forget(payload);
                Ended::Panicked
            }
            // The executor shuts down.
            Err(_) => Ended::Interrupted(interruption),
        },
        None => Ended::Interrupted(interruption),
    }
}

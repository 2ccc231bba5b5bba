//! Decides how one tool call is run, and how its end is told.
//!
//! Knows nothing about why the tool is called. Invariants: a tool runs as a task of its own, so
//! that it can neither panic nor block the run; the task is aborted when its future is dropped; the
//! model is shown at most as much as the tool allows, and the whole is kept.

use std::{future::Future, sync::Arc, time::Duration};

use runtime_decision::{ToolEnd, ToolOutput, ToolWork, cut_middle};
use runtime_ports::{
    ArtifactDigest, Interruption, OperationContext, PortFailure, PortFailureKind, Tool, ToolReply,
    ToolWorld,
};
use tokio::task::{AbortHandle, JoinError, JoinSet};
use tracing::Instrument as _;

use super::{
    agent::Parts,
    contained::{Panicked, contained},
};

/// How long a tool that ran out of time may take to say what it did.
const LAST_WORD: Duration = Duration::from_millis(500);

type Joined = Option<Result<Result<ToolReply, PortFailure>, JoinError>>;

/// Starts the tool; gives its task, to see whether it still runs, and what waits for its end.
pub(super) fn start(
    parts: &Arc<Parts>,
    operation: OperationContext,
    work: ToolWork,
) -> (AbortHandle, impl Future<Output = ToolEnd> + Send + 'static) {
    let mut task = JoinSet::new();
    let (world, limit) = (parts.world.clone(), work.output_limit_bytes);
    let abort = match parts.tools.get(&*work.tool) {
        Some(registered) => {
            let tool = Arc::clone(&registered.tool);
            task.spawn(invoke(tool, operation.clone(), world.clone(), work))
        }
        // The plan holds the same tools.
        None => task.spawn(async { Ok(ToolReply::error("tool_not_found", "it is gone")) }),
    };
    (abort, wait(task, operation, world, limit))
}

async fn invoke(
    tool: Arc<dyn Tool>,
    operation: OperationContext,
    world: ToolWorld,
    work: ToolWork,
) -> Result<ToolReply, PortFailure> {
    if operation.cancellation.is_cancelled() {
        // nothing was sent: the tool has not begun
        return Err(PortFailure::canceled());
    }
    let span = tracing::info_span!("tool", call_id = %work.invocation.call_id);
    tool.invoke(&operation, &world, work.invocation).instrument(span).await
}

async fn wait(
    mut task: JoinSet<Result<ToolReply, PortFailure>>,
    operation: OperationContext,
    world: ToolWorld,
    limit: usize,
) -> ToolEnd {
    match operation.bounded(task.join_next()).await {
        Ok(joined) => shown(joined, &operation, &world, limit).await,
        // Only the tool knows what it did: it is heard, and given up by the driver's own grace.
        Err(Interruption::Canceled) => {
            let joined = task.join_next().await;
            shown(joined, &operation, &world, limit).await
        }
        Err(Interruption::DeadlineExceeded) => {
            operation.cancellation.cancel();
            match tokio::time::timeout(LAST_WORD, task.join_next()).await {
                Ok(joined) => late(shown(joined, &operation, &world, limit).await),
                Err(_) => ToolEnd::TimedOut,
            }
        }
    }
}

/// A tool that was told to stop because its time was over was not cancelled by anybody else.
fn late(end: ToolEnd) -> ToolEnd {
    match end {
        ToolEnd::Failed(failure) if failure.kind == PortFailureKind::Canceled => {
            let message = "the tool ran out of time".to_owned();
            let (kind, code) = (PortFailureKind::Timeout, "DEADLINE_EXCEEDED".to_owned());
            ToolEnd::Failed(PortFailure { kind, code, message, ..failure })
        }
        end => end,
    }
}

async fn shown(
    joined: Joined,
    operation: &OperationContext,
    world: &ToolWorld,
    limit: usize,
) -> ToolEnd {
    match joined {
        Some(Ok(Ok(reply))) => {
            ToolEnd::Replied(Box::new(fitted(reply, operation, world, limit).await))
        }
        Some(Ok(Err(failure))) => ToolEnd::Failed(failure),
        Some(Err(error)) => match error.try_into_panic() {
            Ok(payload) => {
                // It may panic when it is dropped, so it never is.
                std::mem::forget(payload);
                ToolEnd::Panicked
            }
            Err(_) => ToolEnd::Cancelled,
        },
        None => ToolEnd::Cancelled,
    }
}

/// The reply as long as the tool allows; the whole is kept as an artifact.
async fn fitted(
    mut reply: ToolReply,
    operation: &OperationContext,
    world: &ToolWorld,
    limit: usize,
) -> ToolOutput {
    if reply.content.len() <= limit {
        return ToolOutput { reply, artifact: None };
    }
    let kept = keep(operation, world, &reply.content).await;
    let place = match &kept {
        Ok(digest) => format!("the whole is kept as artifact {digest}"),
        Err(failure) => format!("the whole could not be kept ({})", failure.code),
    };
    reply.content = cut_middle(&reply.content, limit, &place);
    ToolOutput { reply, artifact: kept.ok() }
}

/// A store that breaks down costs the rest of the output, not the reply.
async fn keep(
    operation: &OperationContext,
    world: &ToolWorld,
    content: &str,
) -> Result<ArtifactDigest, PortFailure> {
    let put = async { world.artifacts.put(operation, content.as_bytes()).await };
    match operation.bounded(contained(put)).await {
        Ok(Ok(kept)) => kept,
        Ok(Err(Panicked)) => {
            let message = "the artifact store panicked, which is a fault of its own";
            Err(PortFailure::in_flight_unknown(
                PortFailureKind::Internal,
                "STORE_PANICKED",
                message,
            ))
        }
        Err(interruption) => Err(interruption.in_flight()),
    }
}

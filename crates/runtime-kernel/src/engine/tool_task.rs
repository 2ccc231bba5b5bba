//! Decides how one tool call is run, and how its end is told.
//!
//! Knows nothing about why the tool is called. Invariants: a tool runs as a task of its own, so
//! that it can neither panic nor block the run; the task is aborted when its future is dropped; the
//! model is shown at most as much as the tool allows, and the whole is kept.

use std::{future::Future, sync::Arc, time::Duration};

use runtime_decision::{ToolEnd, ToolOutput, ToolWork};
use runtime_ports::{OperationContext, PortFailure, PortFailureKind, ToolReply};
use tokio::{
    task::{AbortHandle, JoinError, JoinHandle},
    time::Instant,
};
use tracing::Instrument as _;

use super::{caller::Caller, parts::Parts};
use crate::tool_output;

/// How long a tool that ran out of time may take to say what it did.
const LAST_WORD: Duration = Duration::from_millis(500);

type Joined = Result<Result<ToolReply, PortFailure>, JoinError>;

/// The task of a tool; ends with it.
struct ToolTask(JoinHandle<Result<ToolReply, PortFailure>>);

impl Drop for ToolTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts the tool for its caller, within the span that the caller is in; gives its task, to see
/// whether it still runs, and what waits for its end.
pub(super) fn start(
    parts: Arc<Parts>,
    operation: Arc<OperationContext>,
    work: ToolWork,
    caller: Caller,
) -> (AbortHandle, impl Future<Output = ToolEnd> + Send + 'static) {
    let limit = work.output_limit_bytes;
    let span = tracing::info_span!("tool", call_id = %work.invocation.call_id);
    let invoked = caller.scope(invoke(Arc::clone(&parts), Arc::clone(&operation), work));
    let task = ToolTask(tokio::spawn(invoked.instrument(span)));
    (task.0.abort_handle(), wait(task, operation, parts, limit))
}

async fn invoke(
    parts: Arc<Parts>,
    operation: Arc<OperationContext>,
    work: ToolWork,
) -> Result<ToolReply, PortFailure> {
    let Some(registered) = parts.tools.get(&*work.tool) else {
        // The plan holds the same tools.
        return Ok(ToolReply::error("tool_not_found", "it is gone"));
    };
    if operation.cancellation.is_cancelled() {
        // nothing was sent: the tool has not begun
        return Err(PortFailure::canceled());
    }
    registered.tool.invoke(&operation, &parts.world, work.invocation).await
}

async fn wait(
    mut task: ToolTask,
    operation: Arc<OperationContext>,
    parts: Arc<Parts>,
    limit: usize,
) -> ToolEnd {
    let (joined, is_late) = match in_time(&mut task, operation.deadline).await {
        Some(joined) => (joined, false),
        // Only the tool knows what it did: it is heard, and given up by the driver's own grace.
        None if operation.cancellation.is_cancelled() => ((&mut task.0).await, false),
        None => {
            operation.cancellation.cancel();
            match tokio::time::timeout(LAST_WORD, &mut task.0).await {
                Ok(joined) => (joined, true),
                Err(_) => return ToolEnd::TimedOut,
            }
        }
    };
    let end = shown(joined, &operation, &parts, limit).await;
    if is_late { late(end) } else { end }
}

/// What the task comes to before the deadline.
async fn in_time(task: &mut ToolTask, deadline: Instant) -> Option<Joined> {
    tokio::select! {
        biased;
        () = tokio::time::sleep_until(deadline) => None,
        joined = &mut task.0 => Some(joined),
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
    parts: &Parts,
    limit: usize,
) -> ToolEnd {
    match joined {
        Ok(Ok(reply)) if reply.content.len() <= limit => {
            ToolEnd::Replied(Box::new(ToolOutput { reply, artifact: None }))
        }
        // In a place of its own: few replies need it.
        Ok(Ok(reply)) => {
            let cut = Box::pin(cut(reply, operation, parts, limit)).await;
            ToolEnd::Replied(Box::new(cut))
        }
        Ok(Err(failure)) => ToolEnd::Failed(failure),
        Err(error) => match error.try_into_panic() {
            Ok(payload) => {
                // It may panic when it is dropped, so it never is.
                std::mem::forget(payload);
                ToolEnd::Panicked
            }
            Err(_) => ToolEnd::Cancelled,
        },
    }
}

/// The reply as long as the tool allows; the whole is kept as an artifact.
async fn cut(
    mut reply: ToolReply,
    operation: &OperationContext,
    parts: &Parts,
    limit: usize,
) -> ToolOutput {
    let content = std::mem::take(&mut reply.content);
    let reader = parts.artifact_reader();
    let shown = tool_output::shown(operation, &parts.world, content, limit, reader).await;
    reply.content = shown.text;
    ToolOutput { reply, artifact: shown.artifact }
}

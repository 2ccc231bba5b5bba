//! Decides how a child is run: as a run of its own, in a task of its own, under its parent's.
//!
//! Knows what it is made of; refuses to know what it is for. Invariants: the task is aborted when
//! its future is dropped, so that no child outlives its parent; whatever happens to it, its parent
//! has one end.

use std::sync::Arc;

use futures_util::{FutureExt as _, future::BoxFuture};
use runtime_decision::{
    ChildEnd, ChildResult, ChildWork, Happened, Machine, Outcome, RunIdentity, RunResult, Shortage,
    Task,
};
use runtime_ports::{ModelMessage, OperationContext};
use serde_json::{Map, Value};
use tokio::{
    sync::Notify,
    task::{AbortHandle, JoinError, JoinHandle},
};
use tracing::Instrument as _;

use crate::engine::{
    RunEnd, RunHandle, RunOptions,
    account::Account,
    caller::Caller,
    driver::{Above, Driver},
    event_hub::EventHub,
    parts::Parts,
    run_budget::RunBudget,
};

use super::SubTasks;

/// A child that was started.
pub(in crate::engine) struct Started {
    pub(in crate::engine) task: AbortHandle,
    /// Tells it to come to a rest.
    pub(in crate::engine) settle: Arc<Notify>,
    pub(in crate::engine) work: BoxFuture<'static, Outcome>,
}

/// What a child takes from the run that starts it.
pub(in crate::engine) struct Parent<'a> {
    pub(in crate::engine) identity: &'a RunIdentity,
    pub(in crate::engine) metadata: &'a Map<String, Value>,
    /// Where it is watched, and those above it.
    pub(in crate::engine) hubs: Vec<EventHub>,
    /// The budgets that it shares, and where it is told what it used.
    pub(in crate::engine) caller: Caller,
    pub(in crate::engine) sub_tasks: &'a SubTasks,
}

/// The task of a child; ends with it.
struct ChildRun(JoinHandle<RunEnd>);

impl Drop for ChildRun {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts a child within the span that the caller is in.
pub(in crate::engine) fn start(
    parts: &Parts,
    operation: &OperationContext,
    work: ChildWork,
    parent: Parent<'_>,
) -> Result<Started, ChildEnd> {
    let Some(own) = parts.sub_agents.get(&work.agent) else {
        // The plan holds the same sub-agents.
        return Err(ChildEnd::NotStarted { message: "there is no such sub-agent".into() });
    };
    let (machine, first) = machine(own, &work, &parent)?;
    let span = tracing::info_span!("run", run_id = %machine.identity().run_id);
    let options = RunOptions::default().within(operation.clone());
    let account = Arc::new(Account::after(machine.spent()));
    parent.caller.account.add(parent.caller.effect, Arc::clone(&account));
    let budget = parent.caller.budget.as_ref();
    let above = Above { budget, hubs: parent.hubs, account: Some(account) };
    let (handle, driver) = Driver::new(Arc::clone(own), machine, options, above);
    parent.sub_tasks.begin(&work.task_id, &work.agent, handle.clone());
    let run = ChildRun(tokio::spawn(Box::new(driver).run(first).instrument(span)));
    let (task, settle) = (run.0.abort_handle(), Arc::new(Notify::new()));
    let (sub_tasks, told) = (parent.sub_tasks.clone(), Arc::clone(&settle));
    let ended = async move {
        let end = ended(run, handle, told).await;
        sub_tasks.end(&work.task_id, &end);
        Outcome::ChildEnded(end)
    };
    Ok(Started { task, settle, work: ended.boxed() })
}

/// The run as it begins, or as it was stored.
fn machine(
    parts: &Parts,
    work: &ChildWork,
    parent: &Parent<'_>,
) -> Result<(Machine, Happened), ChildEnd> {
    let plan = Arc::clone(&parts.plan);
    let Some(stored) = &work.stored else {
        let identity = identity(work, parent.identity);
        return Ok((Machine::new(plan, identity, task(work, parent)), Happened::Started));
    };
    match Machine::from_json(plan, stored.as_bytes()) {
        Ok(machine) if machine.is_new() => Ok((machine, Happened::Started)),
        Ok(machine) => Ok((machine, Happened::Resumed)),
        Err(error) => Err(ChildEnd::Lost { message: error.to_string().into() }),
    }
}

fn identity(work: &ChildWork, parent: &RunIdentity) -> RunIdentity {
    RunIdentity {
        run_id: Arc::clone(&work.run_id),
        trace_id: Arc::clone(&parent.trace_id),
        session_id: parent.session_id.clone(),
        parent_run_id: Some(Arc::clone(&parent.run_id)),
        parent_tool_call_id: Some(Arc::clone(&work.parent_tool_call_id)),
        task_id: Arc::clone(&work.task_id),
        agent_name: Arc::clone(&work.agent),
    }
}

fn task(work: &ChildWork, parent: &Parent<'_>) -> Task {
    let messages: Vec<ModelMessage> = work.history.messages().cloned().collect();
    let mut task = Task {
        budgeted: work.budgeted,
        depth: work.depth,
        native_multimodal: work.native_multimodal,
        metadata: parent.metadata.clone(),
        ..Task::new(&*work.prompt).named(Arc::clone(&work.task_id)).after(messages)
    };
    RunBudget::tell(parent.caller.budget.as_ref(), &mut task);
    task
}

async fn ended(mut run: ChildRun, handle: RunHandle, settle: Arc<Notify>) -> ChildEnd {
    let joined = tokio::select! {
        biased;
        joined = &mut run.0 => joined,
        () = suspended(&handle, settle) => (&mut run.0).await,
    };
    match joined {
        Ok(RunEnd::Finished(result)) => ChildEnd::Ended(Box::new(result_of(&result))),
        Ok(RunEnd::Suspended(run)) => {
            let stored = String::from_utf8_lossy(run.as_json()).into();
            let (pending_approvals, used) = handle.rest().await;
            ChildEnd::Suspended { stored, pending_approvals, used: Box::new(used) }
        }
        Err(error) => broke_down(error),
    }
}

/// Ready once the child was told to come to a rest.
async fn suspended(handle: &RunHandle, settle: Arc<Notify>) {
    settle.notified().await;
    handle.ask_to_suspend().await;
}

fn result_of(result: &RunResult) -> ChildResult {
    ChildResult {
        status: result.status,
        final_answer: result.final_answer.clone(),
        wait_reason: result.wait_reason.clone(),
        error: result.error.clone(),
        history: result.history.clone(),
        spent: result.spent.clone(),
        exhausted: shared(result),
    }
}

/// The budget that ended the run, seen from the run above, if it is one that they share.
fn shared(result: &RunResult) -> Option<Box<Shortage>> {
    let shortage = result.shortage.as_ref().filter(|it| it.levels_above > 0)?;
    let levels_above = shortage.levels_above - 1;
    Some(Box::new(Shortage { levels_above, ..shortage.clone() }))
}

fn broke_down(error: JoinError) -> ChildEnd {
    match error.try_into_panic() {
        Ok(payload) => {
            // It may panic when it is dropped, so it never is.
            std::mem::forget(payload);
            ChildEnd::BrokeDown { message: "its run broke down".into() }
        }
        Err(_) => ChildEnd::Lost { message: "its run was dropped".into() },
    }
}

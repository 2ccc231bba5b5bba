//! Bytes that a host stored itself, at another moment than a suspension, go on or are refused:
//! nobody waits for a run that nothing drives.

use std::sync::Arc;

use in_memory_fakes::{FakeModel, ModelStep};
use runtime_decision::{Happened, Input, Machine, Out, RunIdentity};
use runtime_kernel::engine::{Agent, LoadError, RunStatus, SuspendedRun, Task};

use crate::stage::{agent, finish};

fn new_run(agent: &Agent) -> Machine {
    let identity = RunIdentity::root("run", "task", "tester");
    Machine::new(Arc::clone(agent.plan()), identity, Task::new("do it"))
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_stored_before_it_began_begins_when_it_is_resumed() {
    let model = FakeModel::new([ModelStep::text("done")]);
    let agent = agent(&model).build().expect("an agent");
    let stored = SuspendedRun::from_json(&new_run(&agent).to_json());
    let result = finish(&agent.resume(&stored).expect("it is whole")).await;
    assert_eq!(result.status, RunStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn only_what_is_not_in_flight_is_cancelled_without_being_resumed() {
    let model = FakeModel::new([]);
    let agent = agent(&model).build().expect("an agent");
    let mut run = new_run(&agent);
    let stored = SuspendedRun::from_json(&run.to_json());
    let result = agent.cancel_suspended(&stored).await.expect("nothing was in flight");
    assert_eq!(result.status, RunStatus::Cancelled);
    run.handle(Input { at_ms: 1, happened: Happened::Started }, &mut Out::default())
        .expect("a new run starts");
    let stored = SuspendedRun::from_json(&run.to_json());
    let refused = agent.cancel_suspended(&stored).await;
    assert!(matches!(refused, Err(LoadError::Malformed { .. })), "{refused:?}");
}

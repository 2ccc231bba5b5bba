//! Many who talk to a run, or watch it, neither hold it up nor are held up by it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use in_memory_fakes::{FakeModel, ModelStep};
use runtime_kernel::engine::{
    ControlError, Refused, RunHandle, RunLost, RunOptions, RunStatus, SteeringOutcome, Task,
    WatchOptions,
};
use runtime_ports::{
    DeltaSink, ModelContent, ModelFinish, ModelProfile, ModelRequest, ModelResponse, ModelSession,
    OperationContext, PortFailure, TokenUsage,
};
use serde_json::json;

use crate::{
    probe::{Deed, Probe},
    stage::{agent, agent_of, call, finish, ms, names, start, until},
};

/// Longest that a test on threads may take.
const WATCHDOG: Duration = Duration::from_secs(60);

/// A model that calls a tool at once, for ever.
struct Tireless(AtomicU64);

#[async_trait]
impl ModelSession for Tireless {
    async fn profile(&self, _: &OperationContext, _: &str) -> Result<ModelProfile, PortFailure> {
        Ok(ModelProfile {
            context_window_tokens: 1_000_000,
            max_input_tokens: 1_000_000,
            max_output_tokens: None,
            images: false,
            price: None,
        })
    }

    async fn invoke(
        &self,
        _: &OperationContext,
        _: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        let id = format!("c{}", self.0.fetch_add(1, Ordering::SeqCst));
        let call = ModelContent::ToolUse { id, name: "missing".into(), arguments: json!({}) };
        Ok(ModelResponse {
            output: vec![call],
            finish: ModelFinish::ToolCalls,
            usage: TokenUsage::default(),
            cost_nano_usd: None,
            attempts: Vec::new(),
        })
    }

    async fn invoke_streaming(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        _: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        self.invoke(operation, request).await
    }
}

/// Talks to the run until it is over.
async fn pester(run: RunHandle) -> u64 {
    let mut refused = 0;
    while let Err(ControlError::Refused(Refused::UnknownApproval { .. })) =
        run.approve("no such question").await
    {
        refused += 1;
        assert!(refused < 1_000_000, "the run is held up");
    }
    refused
}

#[tokio::test(start_paused = true)]
async fn a_run_of_instant_answers_can_be_cancelled() {
    let model = Arc::new(Tireless(AtomicU64::new(0)));
    let agent = agent_of(model).max_cycles(50_000).build().expect("an agent");
    let run = agent.start(Task::new("do it"));
    tokio::task::yield_now().await;
    run.cancel().await.expect("the run lives");
    let result = finish(&run).await;
    assert_eq!(result.status, RunStatus::Cancelled);
    assert!(result.cycles.len() < 1_000, "it was cancelled after {}", result.cycles.len());
}

#[tokio::test(start_paused = true)]
async fn a_run_of_instant_answers_lets_others_run() {
    let model = Arc::new(Tireless(AtomicU64::new(0)));
    let agent = agent_of(model).max_cycles(2_000).build().expect("an agent");
    let run = agent.start(Task::new("do it"));
    let mut turns = 0;
    let counting = async {
        loop {
            turns += 1;
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        result = finish(&run) => assert_eq!(result.status, RunStatus::MaxCycles),
        () = counting => {}
    }
    assert!(turns > 10, "others ran {turns} times");
}

async fn is_pestered_and_ends() {
    let steps = (0..20).map(|at| call(&format!("c{at}"), "work"));
    let model = FakeModel::new(steps.chain([ModelStep::text("done")]));
    let work = Probe::new(&Arc::default(), "work", Deed::Refuses);
    let agent = agent(&model).tool(work).max_cycles(30).build().expect("an agent");
    let run = agent.start(Task::new("do it"));
    let pests: Vec<_> = (0..200).map(|_| tokio::spawn(pester(run.clone()))).collect();
    let result = tokio::time::timeout(WATCHDOG, finish(&run)).await.expect("it is held up");
    assert_eq!(result.status, RunStatus::Completed);
    let mut refused = 0;
    for pest in pests {
        refused += pest.await.expect("a pest ends with the run");
    }
    assert!(refused > 200, "only {refused} were heard");
}

#[tokio::test(start_paused = true)]
async fn many_messages_do_not_hold_up_a_run() {
    is_pestered_and_ends().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_messages_from_other_threads_do_not_hold_up_a_run() {
    is_pestered_and_ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_said_to_a_run_waits_within_a_bound() {
    let model = FakeModel::new([ModelStep::stall()]);
    let agent = agent(&model).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "cycle_started").await;
    let mut receipts = Vec::new();
    let refused = loop {
        match run.steer("more").await {
            Ok(receipt) => receipts.push(receipt),
            Err(refused) => break refused,
        }
        assert!(receipts.len() < 10_000, "there is no bound");
    };
    assert_eq!(refused, ControlError::Refused(Refused::SteeringFull { waiting: 1_024 }));
    run.cancel().await.expect("the run lives");
    assert_eq!(finish(&run).await.returned_steering.len(), 1_024);
    for receipt in receipts {
        assert_eq!(receipt.outcome().await, Ok(SteeringOutcome::Returned));
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_lives_as_long_as_a_clone_of_its_handle() {
    let model = FakeModel::new([ModelStep::text("done").delay(ms(50))]);
    let agent = agent(&model).build().expect("an agent");
    let run = agent.start(Task::new("do it"));
    let clone = run.clone();
    drop(run);
    tokio::time::sleep(ms(10)).await;
    assert_eq!(finish(&clone).await.status, RunStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_driven_needs_no_handle() {
    let model = FakeModel::new([ModelStep::text("done").delay(ms(50))]);
    let agent = agent(&model).build().expect("an agent");
    let (run, driven) = agent.drive(Task::new("do it"), RunOptions::default());
    let mut events = run.events(WatchOptions::default());
    drop(run);
    assert_eq!(driven.await.finished().expect("an end").status, RunStatus::Completed);
    assert_eq!(names(&mut events).await.last(), Some(&"run_completed"));
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_late_sees_what_follows_and_after_the_end_nothing() {
    let model = FakeModel::new([call("c1", "work"), ModelStep::text("done")]);
    let work = Probe::new(&Arc::default(), "work", Deed::Works(ms(50)));
    let agent = agent(&model).tool(work).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "tool_call_started").await;
    let mut late = run.events(WatchOptions::default());
    finish(&run).await;
    let expected = ["tool_result", "cycle_started", "cycle_llm_response", "run_completed"];
    assert_eq!(names(&mut late).await, expected);
    assert_eq!(names(&mut run.events(WatchOptions::default())).await, [] as [&str; 0]);
}

#[tokio::test(start_paused = true)]
async fn everybody_who_waits_learns_that_a_run_is_lost() {
    let model = FakeModel::new([ModelStep::stall()]);
    let agent = agent(&model).build().expect("an agent");
    let (run, mut driven) = agent.drive(Task::new("do it"), RunOptions::default());
    let steered = async {
        // The model is at work, so nothing applies it.
        tokio::time::sleep(ms(5)).await;
        let receipt = run.steer("hey").await.expect("it is accepted");
        receipt.outcome().await
    };
    let lost = async {
        tokio::select! {
            _ = &mut driven => panic!("it stalls"),
            () = tokio::time::sleep(ms(10)) => drop(driven),
        }
    };
    let (result, outcome, ()) = tokio::join!(run.result(), steered, lost);
    assert!(matches!((result, outcome), (Err(RunLost), Err(RunLost))));
    assert!(matches!(run.trace_losses().await, Err(RunLost)));
}

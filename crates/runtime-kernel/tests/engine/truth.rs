//! What went wrong is said as it was: whose failure it is, and whether it took effect.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::{FakeModel, FakeTool, FaultPlan, ModelCallEnd, ModelStep, ToolStep};
use runtime_kernel::engine::{RunResult, RunStatus, Task};
use runtime_ports::{
    CommitDisposition, OperationContext, PortFailure, PortFailureKind, Tool, ToolDescriptor,
    ToolInvocation, ToolReply, ToolWorld,
};

use crate::{
    oracle,
    rogue::{Place, Rogue, Way},
    stage::{agent, agent_of, call, ms, tool},
};

/// The error of a failed run: its code, and the failure of the port behind it.
fn failed(result: &RunResult) -> (&str, &PortFailure) {
    let error = result.error.as_ref().expect("the run failed");
    assert_eq!(result.status, RunStatus::Failed);
    (&error.code, error.failure.as_ref().expect("a port failed"))
}

#[tokio::test(start_paused = true)]
async fn the_failure_of_a_port_reaches_the_result_as_it_was() {
    use PortFailureKind::{Timeout, Unavailable};

    let refused = PortFailure::not_sent(Unavailable, "REFUSED", "no route").retry_after(ms(3_000));
    let reset = PortFailure::in_flight_unknown(Unavailable, "RESET", "reset");
    let late = PortFailure::committed(Timeout, "LATE", "no receipt");
    let steps = [
        (ModelStep::fail_before_sending(refused.clone()), refused),
        (ModelStep::fail(reset.clone()), reset),
        (ModelStep::fail(late.clone()), late),
    ];
    for (step, failure) in steps {
        let model = FakeModel::new([step]);
        let agent = agent(&model).build().expect("an agent");
        let result = agent.run(Task::new("do it")).await;
        let (code, told) = failed(&result);
        assert_eq!(
            (code, &told.code, told.commit),
            ("model_failed", &failure.code, failure.commit)
        );
        // The session lists its attempts too.
        assert_eq!(model.calls()[0].end, ModelCallEnd::Failed(told.clone()));
        assert_eq!(told.retry_after, failure.retry_after);
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_has_no_profile_fails_the_run_with_its_failure() {
    let down = PortFailure::not_sent(PortFailureKind::Unavailable, "DOWN", "no profile");
    let plan = FaultPlan::new().before("model.profile", 1, down.clone());
    let agent = agent(&FakeModel::new([]).with_faults(&plan)).build().expect("an agent");
    let result = agent.run(Task::new("do it")).await;
    assert_eq!(failed(&result), ("model_profile_failed", &down));
}

#[tokio::test(start_paused = true)]
async fn of_a_model_that_panics_or_is_given_up_nobody_knows_what_it_did() {
    for (way, code) in [(Way::Panics, "ADAPTER_PANICKED"), (Way::Hangs, "DEADLINE_EXCEEDED")] {
        let rogue = Rogue { place: Place::Model, way, model: FakeModel::new([]) };
        let agent = agent_of(Arc::new(rogue)).build().expect("an agent");
        let result = agent.run(Task::new("do it")).await;
        let (_, failure) = failed(&result);
        assert_eq!((&*failure.code, failure.commit), (code, CommitDisposition::Unknown));
    }
}

/// Fails with what it was given.
struct Failing(ToolDescriptor, PortFailure);

#[async_trait]
impl Tool for Failing {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.0
    }

    async fn invoke(
        &self,
        _: &OperationContext,
        _: &ToolWorld,
        _: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        Err(self.1.clone())
    }
}

#[tokio::test(start_paused = true)]
async fn the_disposition_of_a_tool_reaches_its_record_and_the_model() {
    use CommitDisposition::{Committed, NotCommitted, Unknown};

    let kind = PortFailureKind::Conflict;
    let cases = [
        (PortFailure::not_sent(kind, "A", "a"), NotCommitted, "nothing was changed"),
        (PortFailure::rejected(kind, "B", "b"), NotCommitted, "nothing was changed"),
        (PortFailure::in_flight_unknown(kind, "C", "c"), Unknown, "may have taken effect"),
        (PortFailure::committed(kind, "D", "d"), Committed, "it took effect"),
    ];
    for (failure, commit, words) in cases {
        let model = FakeModel::new([call("c1", "write"), ModelStep::text("well")]);
        let descriptor = FakeTool::default_descriptor("write");
        let write = Failing(descriptor, failure.clone());
        let agent = agent(&model).tool(write).build().expect("an agent");
        let result = agent.run(Task::new("do it")).await;
        let record = &oracle::records(&result)["c1"];
        assert_eq!(
            (record.error_code.as_deref(), record.commit),
            (Some(&*failure.code), Some(commit))
        );
        let told = serde_json::to_string(&result.history).expect("a history is JSON");
        assert!(told.contains(words), "{words:?} is not in {told}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_not_reported_is_unknown_and_what_was_is_kept() {
    let known = call("c1", "look").usage(10, 2);
    let model = FakeModel::new([known, ModelStep::text("seen")]);
    let look = tool("look", [ToolStep::text("a, b")]);
    let agent = agent(&model).tool(look).build().expect("an agent");
    let result = agent.run(Task::new("do it")).await;
    assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (None, None));
    let totals = result.ledger.totals();
    assert_eq!((totals.input_tokens.at_least, totals.input_tokens.complete), (10, false));
}

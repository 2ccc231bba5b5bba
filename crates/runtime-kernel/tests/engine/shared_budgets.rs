//! Runs that calls of tools start share the budgets of the run whose calls they are: what they use is
//! taken from what is left of it, and is part of what it spent.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::{FakeModel, FakeTool, ModelStep, ToolStep};
use runtime_kernel::engine::{
    Agent, AgentBuilder, AgentTool, BudgetLimits, EngineSubagents, RunResult, RunStatus,
    SuspendedRun, within_call,
};
use runtime_ports::{
    ModelProfile, OperationContext, PortFailure, Price, SubagentRequest, SubagentSession as _,
    Tool, ToolDescriptor, ToolInvocation, ToolReply, ToolWorld, UsageTotal,
};
use serde_json::json;

use crate::{
    oracle,
    stage::{agent, call, finish, ms, start, told, tool, until},
};

const PRICE: Price =
    Price { input: 2_000_000, cached_input: None, cache_write: None, output: 3_000_000 };

fn tokens(tokens: u64) -> BudgetLimits {
    BudgetLimits { tokens: Some(tokens), ..BudgetLimits::default() }
}

fn calls(model_calls: u64) -> BudgetLimits {
    BudgetLimits { model_calls: Some(model_calls), ..BudgetLimits::default() }
}

fn cost(cost_nano_usd: u64) -> BudgetLimits {
    BudgetLimits { cost_nano_usd: Some(cost_nano_usd), ..BudgetLimits::default() }
}

fn priced(model: FakeModel) -> FakeModel {
    let profile = ModelProfile { price: Some(PRICE), ..FakeModel::default_profile() };
    model.with_profile(FakeModel::MODEL, profile)
}

fn built(builder: AgentBuilder) -> Agent {
    builder.without_ask_user().build().expect("an agent")
}

/// An agent of 600 tokens an answer, as the tool `helper`.
fn helper(model: &FakeModel) -> AgentTool {
    built(agent(model).max_output_tokens(600)).as_tool("helper", "Helps.")
}

fn asking(id: &str) -> ModelStep {
    ModelStep::tool_call(id, "helper", json!({ "task": "help" }))
}

/// Asks for help once, and is done.
fn asking_once() -> FakeModel {
    FakeModel::new([asking("1").usage(10, 1), ModelStep::text("done").usage(10, 1)])
}

/// Asks for help, and never comes to more.
fn asking_only() -> FakeModel {
    FakeModel::new([asking("1").usage(10, 1)])
}

/// What a run of this agent comes to. Its budgets agree with what it says that it spent.
async fn ran(builder: AgentBuilder) -> Arc<RunResult> {
    let (run, _events) = start(&built(builder));
    let result = finish(&run).await;
    oracle::assert_paired(&result);
    for standing in run.budgets() {
        let used = result.spent.charged.of(&standing.budget);
        assert_eq!((standing.used, standing.reserved), (used, 0), "{:?}", standing.budget);
    }
    result
}

fn results(result: &RunResult) -> Vec<String> {
    told(result).into_iter().filter(|line| line.starts_with("result ")).collect()
}

/// What ended a run: a budget, with what was used of it.
fn shortage(result: &RunResult) -> Option<(String, u64)> {
    result.shortage.as_ref().map(|it| (it.budget.to_string(), it.used))
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    /// Through the port, within the call.
    Port,
    /// The same in a task of its own.
    PortInTask,
    /// As a tool, whose future is dropped after 50 ms.
    Dropped,
    /// As a tool that panics after 50 ms.
    Panics,
}

/// A tool `helper` that starts a run in one of several ways.
struct Helper {
    descriptor: ToolDescriptor,
    agent: Agent,
    how: How,
}

impl Helper {
    fn new(model: &FakeModel, how: How) -> Self {
        let agent = built(agent(model).max_output_tokens(600));
        Self { descriptor: FakeTool::default_descriptor("helper"), agent, how }
    }
}

#[async_trait]
impl Tool for Helper {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.descriptor
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        world: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        let (children, own) = (EngineSubagents::new(self.agent.clone()), operation.clone());
        let request = SubagentRequest {
            request_id: call.call_id.to_string(),
            prompt: "help".to_owned(),
            max_model_turns: 4,
        };
        let through_the_port = async move { children.execute(&own, request).await };
        match self.how {
            How::Port => through_the_port.await.map(|it| ToolReply::text(it.answer)),
            How::PortInTask => {
                let joined = tokio::spawn(within_call(through_the_port)).await.expect("it ends");
                joined.map(|it| ToolReply::text(it.answer))
            }
            How::Dropped | How::Panics => {
                let call = ToolInvocation { arguments: json!({ "task": "help" }), ..call };
                let as_tool = self.agent.as_tool("helper", "Helps.");
                let dropped = tokio::time::timeout(ms(50), as_tool.invoke(operation, world, call));
                assert!(dropped.await.is_err(), "the model stalls");
                assert!(self.how == How::Dropped, "the tool breaks down");
                Ok(ToolReply::text("gave up"))
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_that_is_a_tool_uses_is_taken_from_its_caller() {
    let (model, helping) = (asking_once(), FakeModel::new([ModelStep::text("4").usage(100, 50)]));
    let builder = agent(&model).max_output_tokens(200);
    let result = ran(builder.tool(helper(&helping)).budget(tokens(1_000))).await;
    assert_eq!(result.status, RunStatus::Completed, "{:?}", result.error);
    // Two of its own requests, and the one below.
    assert_eq!(result.spent.tokens, UsageTotal { at_least: 172, complete: true });
    let charged = &result.spent.charged;
    assert_eq!((charged.tokens, charged.model_calls, charged.sub_tasks), (172, 3, 1));
    assert_eq!(results(&result), ["result 4"]);
    assert_eq!(helping.requests()[0].max_output_tokens, Some(600));
}

#[tokio::test(start_paused = true)]
async fn every_way_to_start_a_run_within_a_call_is_bounded_by_the_caller() {
    for how in [How::Port, How::PortInTask] {
        let helping = FakeModel::new([call("a", "nothing").usage(100, 50)]);
        let (model, helper) = (asking_only(), Helper::new(&helping, how));
        let result = ran(agent(&model).tool(helper).budget(calls(2))).await;
        assert_eq!(helping.requests().len(), 1, "the second request is beyond the budget");
        assert_eq!(shortage(&result), Some(("model_calls".to_owned(), 2)));
        assert_eq!(result.spent.charged.sub_tasks, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_below_is_no_longer_than_the_caller_can_pay() {
    let (model, helping) = (asking_only(), FakeModel::new([ModelStep::text("4").usage(9, 520)]));
    let builder = agent(&model).max_output_tokens(200);
    let result = ran(builder.tool(helper(&helping)).budget(tokens(600))).await;
    let most = helping.requests()[0].max_output_tokens.expect("the request says its most");
    assert!((512..600).contains(&most), "{most}");
    assert!(result.spent.charged.tokens <= 600, "{:?}", result.spent);
}

#[tokio::test(start_paused = true)]
async fn a_model_below_without_a_price_is_not_asked_when_the_caller_limits_the_cost() {
    let (model, helping) = (priced(asking_once()), FakeModel::new([]));
    let builder = agent(&model).max_output_tokens(100);
    let result = ran(builder.tool(helper(&helping)).budget(cost(10_000_000))).await;
    assert!(helping.requests().is_empty());
    assert!(results(&result)[0].contains("nobody knows the price of"), "{:?}", results(&result));
    assert_eq!(result.status, RunStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_run_within_a_call_is_one_of_those_that_the_caller_may_start() {
    let none = BudgetLimits { sub_tasks: Some(0), ..BudgetLimits::default() };
    let flat = BudgetLimits { sub_task_depth: Some(0), ..BudgetLimits::default() };
    for (limits, budget) in [(none, "sub_tasks"), (flat, "sub_task_depth")] {
        let (model, helping) = (asking_once(), FakeModel::new([]));
        let result = ran(agent(&model).tool(helper(&helping)).budget(limits.clone())).await;
        let said = results(&result).join("\n");
        assert!(said.contains(&format!("not started: the budget {budget} is used up")), "{said}");
        assert_eq!((result.status, result.spent.charged.sub_tasks), (RunStatus::Completed, 0));
        let (model, helping) = (asking_once(), FakeModel::new([]));
        let helper = Helper::new(&helping, How::Port);
        let result = ran(agent(&model).tool(helper).budget(limits)).await;
        assert!(results(&result)[0].contains("not started"), "{:?}", results(&result));
    }
}

#[tokio::test(start_paused = true)]
async fn depth_counts_through_every_level_of_agents_that_are_tools() {
    let nested = |depth| {
        let deepest = FakeModel::new([ModelStep::text("deep")]);
        deepest.unchecked();
        let between = built(agent(&asking_once()).tool(helper(&deepest)));
        let between = between.as_tool("helper", "Helps.");
        let limits = BudgetLimits { sub_task_depth: Some(depth), ..BudgetLimits::default() };
        (deepest, agent(&asking_once()).tool(between).budget(limits))
    };
    let (deepest, builder) = nested(2);
    assert_eq!(ran(builder).await.spent.charged.sub_tasks, 2);
    assert_eq!(deepest.requests().len(), 1);
    let (deepest, builder) = nested(1);
    assert_eq!(ran(builder).await.spent.charged.sub_tasks, 1);
    assert!(deepest.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn runs_side_by_side_never_take_the_same_rest() {
    let both = asking("1").and_call("2", "helper", json!({ "task": "help" }));
    let model = FakeModel::new([both.usage(10, 1), ModelStep::text("done").usage(10, 1)]);
    let answer = || ModelStep::text("4").usage(100, 500).delay(ms(100));
    let helping = FakeModel::new([answer(), answer()]);
    helping.unchecked();
    let builder = agent(&model).max_output_tokens(200);
    let result = ran(builder.tool(helper(&helping)).budget(tokens(1_000))).await;
    // Each of them wants 600 tokens and needs 512: one gets them, the other is told at once.
    assert_eq!(helping.requests().len(), 1);
    let said = results(&result);
    let refused = said.iter().filter(|it| it.contains("is used up") && it.contains("reserved"));
    assert_eq!((said.len(), refused.count()), (2, 1), "{said:?}");
    assert!(result.spent.charged.tokens <= 1_000, "{:?}", result.spent);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_is_cancelled_is_charged_for_what_was_in_flight_below() {
    let (model, helping) = (asking_only(), FakeModel::new([ModelStep::stall()]));
    let agent = built(agent(&model).tool(helper(&helping)).budget(tokens(2_000)).grace(ms(100)));
    let (run, mut events) = start(&agent);
    until(&mut events, "tool_call_started").await;
    tokio::time::sleep(ms(10)).await;
    assert!(run.budgets()[0].reserved >= 600);
    run.cancel().await.expect("a report");
    let result = finish(&run).await;
    let standing = &run.budgets()[0];
    assert_eq!((result.status, standing.reserved), (RunStatus::Cancelled, 0));
    assert!(standing.used >= 611, "{standing:?}");
    assert_eq!(result.spent.charged.tokens, standing.used);
    assert!(!result.spent.tokens.complete, "nobody knows what was in flight");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_or_breaks_down_below_is_charged_as_it_was_reserved() {
    for how in [How::Dropped, How::Panics] {
        for limits in [tokens(5_000), BudgetLimits::default()] {
            let steps = [call("a", "nothing").usage(100, 50), ModelStep::stall()];
            let (model, helping) = (asking_once(), FakeModel::new(steps));
            let helper = Helper::new(&helping, how);
            let result = ran(agent(&model).tool(helper).budget(limits.clone())).await;
            assert_eq!(result.status, RunStatus::Completed);
            let spent = &result.spent;
            assert_eq!(spent.charged.model_calls, 4, "the one in flight counts");
            assert_eq!(spent.tokens, UsageTotal { at_least: 172, complete: false });
            let reserved = if limits.is_empty() { 0 } else { 600 };
            assert!(spent.charged.tokens >= 172 + reserved, "{spent:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_in_flight_below_a_suspended_caller_counts_after_it_in_another_process() {
    let model = asking_once();
    let steps = [call("a", "nothing").usage(100, 50), ModelStep::stall()];
    let helping = FakeModel::new(steps);
    let agent = built(agent(&model).tool(helper(&helping)).budget(tokens(2_500)).grace(ms(200)));
    let (run, mut events) = start(&agent);
    until(&mut events, "tool_call_started").await;
    tokio::time::sleep(ms(10)).await;
    let suspended = run.suspend().await.expect("an end").suspended().expect("it waits");
    let before = run.budgets()[0].used;
    assert!(before >= 11 + 150 + 600, "{before}");
    let stored = SuspendedRun::from_json(suspended.as_json());
    let resumed = agent.resume(&stored).expect("the same agent");
    let result = finish(&resumed).await;
    assert_eq!(result.status, RunStatus::Completed, "{:?}", result.error);
    assert_eq!(resumed.budgets()[0].used, before + 11);
    assert_eq!(result.spent.charged.tokens, before + 11);
    assert_eq!(result.spent.charged.sub_tasks, 1);
}

#[tokio::test(start_paused = true)]
async fn without_a_budget_a_caller_still_says_what_was_spent_below() {
    for how in [None, Some(How::Port), Some(How::PortInTask)] {
        let helping = FakeModel::new([ModelStep::text("4").usage(100, 50).cost(7)]);
        let model = asking_once();
        let builder = match how {
            None => agent(&model).tool(helper(&helping)),
            Some(how) => agent(&model).tool(Helper::new(&helping, how)),
        };
        let spent = &ran(builder).await.spent;
        assert_eq!(spent.tokens, UsageTotal { at_least: 172, complete: true });
        assert_eq!((spent.cost_nano_usd.at_least, spent.charged.sub_tasks), (7, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_within_a_call_ends_with_the_time_of_its_caller() {
    let (model, helping) = (asking_only(), FakeModel::new([ModelStep::stall()]));
    let builder = agent(&model).tool(helper(&helping)).wall_time(ms(500)).grace(ms(100));
    let began = tokio::time::Instant::now();
    let result = ran(builder).await;
    assert_eq!(result.status, RunStatus::BudgetExhausted);
    assert!(began.elapsed() <= ms(650), "{:?}", began.elapsed());
    assert!(result.spent.charged.model_calls >= 2, "{:?}", result.spent);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_no_engine_run_calls_has_its_own_budgets_alone() {
    let helping = FakeModel::new([call("a", "work").usage(10, 1), ModelStep::text("4")]);
    let work = tool("work", [ToolStep::text("ok")]);
    let result = ran(agent(&helping).tool(work).budget(calls(2))).await;
    assert_eq!((result.status, result.spent.charged.sub_tasks), (RunStatus::Completed, 0));
}

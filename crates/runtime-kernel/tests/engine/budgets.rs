//! A run spends what it reserved and no more, and says what it spent, whatever the model reports.

use std::sync::Arc;

use in_memory_fakes::{FakeModel, ModelStep, ToolStep};
use runtime_kernel::engine::{
    Agent, AgentBuilder, BudgetLimits, Event, RunOptions, RunResult, RunStatus, SuspendedRun, Task,
};
use runtime_ports::{ModelProfile, Price, RequestMeter, TurnEnd, UsageTotal};

use crate::{
    oracle,
    stage::{agent, call, finish, ms, start, tool, tool_like, until},
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

async fn ran(builder: AgentBuilder) -> Arc<RunResult> {
    let result = built(builder).run(Task::new("do it")).await;
    oracle::assert_paired(&result);
    result
}

/// Status, the budget with what was used of it, and what counts as tokens and cost.
fn ended(result: &RunResult) -> (RunStatus, Option<(String, u64, u64)>) {
    let shortage = result.shortage.as_ref();
    let shortage = shortage.map(|it| (it.budget.to_string(), it.used, it.limit));
    (result.status, shortage)
}

#[tokio::test(start_paused = true)]
async fn a_run_within_its_budget_says_what_it_spent() {
    let model = priced(FakeModel::new([
        call("c1", "work").usage(100, 20),
        ModelStep::text("done").usage(150, 5).cost(9),
    ]));
    let work = tool("work", [ToolStep::text("ok")]);
    let agent = built(agent(&model).tool(work).max_output_tokens(300).budget(cost(100_000)));
    let (run, _events) = start(&agent);
    let result = finish(&run).await;
    assert_eq!(ended(&result), (RunStatus::Completed, None));
    let spent = &result.spent;
    assert_eq!(spent.tokens, UsageTotal { at_least: 275, complete: true });
    assert_eq!(spent.cost_nano_usd, UsageTotal { at_least: 100 * 2 + 20 * 3 + 9, complete: true });
    assert_eq!((spent.charged.model_calls, spent.charged.tool_calls), (2, 1));
    let standing = run.budgets();
    assert_eq!((standing.len(), standing[0].used, standing[0].reserved), (1, 269, 0));
    assert!(model.requests().iter().all(|request| request.max_output_tokens == Some(300)));
}

#[tokio::test(start_paused = true)]
async fn without_a_budget_requests_are_as_they_were_and_nothing_stands() {
    let model = FakeModel::new([ModelStep::text("done").usage(3, 4)]);
    let agent = built(agent(&model));
    let (run, _events) = start(&agent);
    let result = finish(&run).await;
    assert_eq!(result.spent.tokens.at_least, 7);
    assert!(!result.spent.cost_nano_usd.complete, "nobody knows the price");
    assert!(run.budgets().is_empty());
    assert_eq!(model.requests()[0].max_output_tokens, None);
}

#[tokio::test(start_paused = true)]
async fn a_run_ends_by_its_budget_with_its_whole_history_and_says_so_last() {
    let model = FakeModel::new([call("c1", "work"), call("c2", "work")]);
    let work = tool("work", [ToolStep::text("ok"), ToolStep::text("ok")]);
    let agent = built(agent(&model).tool(work).budget(calls(2)));
    let (run, mut events) = start(&agent);
    let Event::BudgetExhausted { budget, limit, used, error } =
        until(&mut events, "budget_exhausted").await
    else {
        panic!("another event")
    };
    assert_eq!((&*budget, limit, used), ("model_calls", 2, 2));
    assert!(error.contains("2 of 2"), "{error}");
    assert!(events.next().await.is_none(), "nothing is told after the end");
    let result = finish(&run).await;
    assert_eq!(result.error.as_ref().map(|error| &*error.code), Some("model_calls"));
    assert_eq!(result.history.len(), 5);
    oracle::assert_paired(&result);
}

#[tokio::test(start_paused = true)]
async fn calls_that_run_side_by_side_are_admitted_together_or_not_at_all() {
    let beside = || ModelStep::tool_call("c1", "work", serde_json::json!({}));
    let three = beside().and_call("c2", "work", serde_json::json!({}));
    let three = three.and_call("c3", "work", serde_json::json!({}));
    let limits = BudgetLimits { tool_calls: Some(2), ..BudgetLimits::default() };
    let model = FakeModel::new([three]);
    let work = tool_like("work", |it| it.parallel = true, []);
    let result = ran(agent(&model).tool(work).budget(limits.clone())).await;
    assert_eq!(ended(&result).1, Some(("tool_calls".to_owned(), 0, 2)));
    assert_eq!(result.spent.charged.tool_calls, 0);

    let two = beside().and_call("c2", "work", serde_json::json!({}));
    let model = FakeModel::new([two, ModelStep::text("done")]);
    let steps = [ToolStep::text("a"), ToolStep::text("b")];
    let work = tool_like("work", |it| it.parallel = true, steps);
    let result = ran(agent(&model).tool(work).budget(limits)).await;
    assert_eq!(result.status, RunStatus::Completed);
    assert_eq!(result.spent.charged.tool_calls, 2);
}

#[tokio::test(start_paused = true)]
async fn c20_what_was_not_reported_counts_as_it_was_reserved_and_is_told_as_unknown() {
    let model = FakeModel::new([call("c1", "work"), call("c2", "work")]);
    let work = tool("work", [ToolStep::text("ok"), ToolStep::text("ok")]);
    let builder = agent(&model).tool(work).max_output_tokens(600).budget(tokens(1_700));
    let result = ran(builder).await;
    let (status, shortage) = ended(&result);
    assert_eq!(status, RunStatus::BudgetExhausted);
    assert_eq!(shortage.as_ref().map(|it| &*it.0), Some("tokens"));
    assert_eq!(result.spent.tokens, UsageTotal { at_least: 0, complete: false });
    assert!((1_200..=1_700).contains(&result.spent.charged.tokens), "{:?}", result.spent);
}

#[tokio::test(start_paused = true)]
async fn every_attempt_behind_an_answer_counts() {
    let attempts = vec![
        RequestMeter::unreported(TurnEnd::Failed),
        RequestMeter::unreported(TurnEnd::Completed),
    ];
    let model =
        FakeModel::new([call("c1", "work").attempts(attempts).usage(10, 5), call("c2", "work")]);
    let work = tool("work", [ToolStep::text("ok"), ToolStep::text("ok")]);
    let result = ran(agent(&model).tool(work).budget(calls(3))).await;
    assert_eq!(ended(&result).1, Some(("model_calls".to_owned(), 3, 3)));
}

#[tokio::test(start_paused = true)]
async fn a_model_without_a_price_is_not_asked_when_the_cost_is_limited() {
    let model = FakeModel::new([]);
    let result = ran(agent(&model).budget(cost(1_000_000_000))).await;
    assert_eq!(result.status, RunStatus::Failed);
    assert_eq!(result.error.as_ref().map(|it| &*it.code), Some("budget_unpriced_model"));
    assert!(model.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_reports_more_than_was_granted_ends_what_would_follow() {
    let model = FakeModel::new([call("c1", "work").usage(50, 90_000)]);
    let work = tool("work", [ToolStep::text("ok")]);
    let builder = agent(&model).tool(work).max_output_tokens(600).budget(tokens(2_000));
    let result = ran(builder).await;
    assert_eq!(ended(&result).1, Some(("tokens".to_owned(), 90_050, 2_000)));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_the_budget_cut_ends_by_the_budget() {
    let model = FakeModel::new([ModelStep::text("half").cut().usage(40, 900)]);
    let result = ran(agent(&model).budget(tokens(1_000))).await;
    let most = model.requests()[0].max_output_tokens.expect("the request says its most");
    assert!((512..1_000).contains(&most), "{most}");
    assert_eq!(ended(&result).1, Some(("tokens".to_owned(), 940, 1_000)));
    let model = FakeModel::new([ModelStep::text("half").cut().usage(40, 900)]);
    let result = ran(agent(&model).max_output_tokens(600).budget(tokens(9_000))).await;
    assert_eq!(result.error.as_ref().map(|it| &*it.code), Some("model_output_limit"));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_while_it_spends_is_cancelled_and_charged() {
    let model = FakeModel::new([ModelStep::stall()]);
    let agent = built(agent(&model).max_output_tokens(600).budget(tokens(2_000)).grace(ms(100)));
    let (run, mut events) = start(&agent);
    until(&mut events, "cycle_started").await;
    tokio::time::sleep(ms(10)).await;
    let held = run.budgets()[0].reserved;
    assert!(held >= 600, "{held}");
    run.cancel().await.expect("a report");
    let result = finish(&run).await;
    assert_eq!(ended(&result), (RunStatus::Cancelled, None));
    let standing = &run.budgets()[0];
    assert_eq!((standing.used, standing.reserved), (held, 0));
    assert_eq!(result.spent.charged.tokens, held);
}

#[tokio::test(start_paused = true)]
async fn what_a_dropped_run_had_reserved_counts_as_used() {
    let model = FakeModel::new([ModelStep::stall()]);
    let agent = built(agent(&model).max_output_tokens(600).budget(tokens(2_000)));
    let (handle, run) = agent.drive(Task::new("do it"), RunOptions::default());
    let dropped = tokio::time::timeout(ms(10), run).await;
    assert!(dropped.is_err(), "the model stalls");
    let standing = &handle.budgets()[0];
    assert!(standing.used >= 600 && standing.reserved == 0, "{standing:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_spent_before_a_suspension_counts_after_it_in_another_process() {
    let model = FakeModel::new([call("c1", "work").usage(20, 880), ModelStep::text("done")]);
    let work = tool("work", [ToolStep::text("ok").delay(ms(1_000))]);
    let agent = built(agent(&model).tool(work).max_output_tokens(600).budget(tokens(1_500)));
    let (run, mut events) = start(&agent);
    until(&mut events, "tool_call_started").await;
    let suspended = run.suspend().await.expect("an end").suspended().expect("it waits");
    let stored = SuspendedRun::from_json(suspended.as_json());
    let result = finish(&agent.resume(&stored).expect("the same agent")).await;
    let (status, shortage) = ended(&result);
    assert_eq!(status, RunStatus::Completed, "{shortage:?}");
    let most = model.requests()[1].max_output_tokens.expect("the request says its most");
    assert!(most < 600, "only what is left is granted: {most}");
    assert!(result.spent.charged.tokens <= 1_500, "{:?}", result.spent);
}

#[tokio::test(start_paused = true)]
async fn options_tighten_a_budget_and_never_loosen_it() {
    let options = |limits| RunOptions::default().budget(limits);
    for (own, said) in [(calls(1), calls(9)), (calls(9), calls(1))] {
        let model = FakeModel::new([call("c1", "work")]);
        let work = tool("work", [ToolStep::text("ok")]);
        let agent = built(agent(&model).tool(work).budget(own));
        let result = finish(&agent.start_with(Task::new("do it"), options(said))).await;
        assert_eq!(ended(&result).1, Some(("model_calls".to_owned(), 1, 1)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_summariser_without_a_price_is_not_asked_when_the_cost_is_limited() {
    let (model, cheap) = (priced(FakeModel::new([])), FakeModel::new([]));
    let builder = agent(&model).summarizer(Arc::new(cheap.clone()), FakeModel::MODEL);
    let result = ran(builder.budget(cost(1_000_000_000))).await;
    let error = result.error.as_ref().expect("an error");
    assert_eq!((result.status, &*error.code), (RunStatus::Failed, "budget_unpriced_model"));
    assert!(model.requests().is_empty() && cheap.requests().is_empty());
}

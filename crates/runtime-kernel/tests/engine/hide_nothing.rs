//! No tree of runs hides what it spends: whatever starts a run within another, and however requests
//! are repeated, cut, summed up or lost, every reported token is counted once, and no budget is
//! overspent but by requests that took more than was reserved for them.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use in_memory_fakes::FakeTool;
use proptest::prelude::*;
use runtime_kernel::engine::{
    Agent, BudgetLimits, EngineSubagents, RunOptions, RunResult, SubAgent, Task, TokioClock,
};
use runtime_ports::{
    Metering, ModelContent, ModelFinish, ModelProfile, ModelRequest, ModelResponse, ModelSession,
    OperationContext, PortFailure, PortFailureKind, Price, RequestMeter, SubagentRequest,
    SubagentSession as _, TokenUsage, Tool, ToolDescriptor, ToolInvocation, ToolReply, ToolWorld,
    TurnEnd,
};
use serde_json::{Value, json};

use crate::{oracle, stage::ms};

const MODEL: &str = "dice";
/// A nano-dollar a token, whatever the token is: what it costs is what it counts.
const PRICE: Price =
    Price { input: 1_000_000, cached_input: None, cache_write: None, output: 1_000_000 };
/// Small enough for summaries.
const WINDOW: u64 = 3_000;
/// Most requests of a whole tree that say anything but the end.
const MOST_TURNS: u64 = 60;

/// What was really sent and used, by everybody.
#[derive(Debug, Default)]
struct Truth {
    requests: u64,
    /// Tokens that were reported, over all attempts.
    reported: u64,
    /// Whether an attempt that may have used something said nothing.
    is_silent: bool,
    /// Most tokens by which calls took more than was reserved for them, and requests beyond one.
    excess: u64,
    repeated: u64,
}

/// A provider that does as the dice say, for all agents.
#[derive(Clone)]
struct Dice(Arc<Mutex<(u64, Truth)>>);

impl Dice {
    fn of(seed: u64) -> Self {
        Self(Arc::new(Mutex::new((seed | 1, Truth::default()))))
    }

    fn roll(&self, sides: u64) -> u64 {
        let mut held = self.0.lock().expect("no test panics with it");
        let state = &mut held.0;
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 11) % sides
    }

    fn note(&self, note: impl FnOnce(&mut Truth)) {
        note(&mut self.0.lock().expect("no test panics with it").1);
    }

    /// The attempts of one call, the last of which ended so.
    fn attempts(&self, request: &ModelRequest, end: TurnEnd) -> Vec<RequestMeter> {
        let most = u64::from(request.max_output_tokens.unwrap_or(1_000));
        let input = request.messages.estimated_tokens();
        let count = if self.roll(5) == 0 { 2 + self.roll(2) } else { 1 };
        // What is not reported counts as it was reserved, which the provider does not know.
        let is_silent = count == 1 && self.roll(6) == 0;
        let beyond = if self.roll(9) == 0 { self.roll(2_000) } else { 0 };
        let used: Vec<u64> = (0..count).map(|_| self.roll(most + 1)).collect();
        let all: u64 = used.iter().map(|output| input + output + beyond).sum();
        self.note(|truth| {
            truth.requests += count;
            truth.repeated += count - 1;
            truth.is_silent |= is_silent;
            if !is_silent {
                truth.reported += all;
                truth.excess += all.saturating_sub(input + most);
            }
        });
        let meter = |(place, output): (usize, &u64)| RequestMeter {
            end: if place + 1 == used.len() { end } else { TurnEnd::Failed },
            metering: match is_silent {
                true => Metering::Unavailable,
                false => Metering::Tokens(usage(input + beyond, *output)),
            },
            ..RequestMeter::unreported(end)
        };
        used.iter().enumerate().map(meter).collect()
    }

    fn turn(&self, request: &ModelRequest) -> Vec<ModelContent> {
        let is_over = self.0.lock().expect("no test panics with it").1.requests > MOST_TURNS;
        let tools: Vec<_> = request.tools.iter().map(|tool| tool.name.clone()).collect();
        if tools.is_empty() || is_over || self.roll(3) == 0 {
            return vec![ModelContent::text("it is so")];
        }
        let called = (0..=self.roll(2)).map(|number| {
            let place = usize::try_from(self.roll(tools.len() as u64)).expect("a small number");
            let name = tools[place].clone();
            let arguments = arguments_of(&name);
            ModelContent::ToolUse { id: format!("c{number}"), name, arguments }
        });
        called.collect()
    }
}

fn usage(input: u64, output: u64) -> TokenUsage {
    TokenUsage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        cached_input_tokens: Some(0),
        cache_write_tokens: Some(0),
        ..TokenUsage::default()
    }
}

fn arguments_of(tool: &str) -> Value {
    match tool {
        "create_sub_task" => json!({ "agent_name": "child", "task_description": "do a part" }),
        "closed" => json!({ "task": "do a part" }),
        _ => json!({}),
    }
}

#[async_trait]
impl ModelSession for Dice {
    async fn invoke(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        tokio::time::sleep(ms(self.roll(40))).await;
        operation.remaining()?;
        if self.roll(12) == 0 {
            let attempts = self.attempts(&request, TurnEnd::Failed);
            let (kind, code) = (PortFailureKind::Unavailable, "DOWN");
            let failure = PortFailure::in_flight_unknown(kind, code, "the server is down");
            return Err(failure.with_attempts(attempts));
        }
        let attempts = self.attempts(&request, TurnEnd::Completed);
        Ok(ModelResponse {
            output: self.turn(&request),
            finish: ModelFinish::Stop,
            usage: attempts.last().and_then(|it| it.metering.tokens()).unwrap_or_default(),
            cost_nano_usd: None,
            attempts,
        })
    }

    async fn profile(&self, _: &OperationContext, _: &str) -> Result<ModelProfile, PortFailure> {
        Ok(ModelProfile {
            context_window_tokens: WINDOW,
            max_input_tokens: WINDOW,
            max_output_tokens: Some(400),
            images: false,
            price: Some(PRICE),
        })
    }
}

/// Delegates through the port.
struct Delegate(ToolDescriptor, EngineSubagents);

#[async_trait]
impl Tool for Delegate {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.0
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        _: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        let request = SubagentRequest {
            request_id: call.idempotency_key.to_string(),
            prompt: "do a part".to_owned(),
            max_model_turns: 3,
        };
        self.1.execute(operation, request).await.map(|it| ToolReply::text(it.answer))
    }
}

/// Gives enough for summaries to become necessary.
struct Work(ToolDescriptor);

#[async_trait]
impl Tool for Work {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.0
    }

    async fn invoke(
        &self,
        _: &OperationContext,
        _: &ToolWorld,
        _: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        Ok(ToolReply::text("é".repeat(1_500)))
    }
}

fn described(name: &str) -> ToolDescriptor {
    let mut descriptor = FakeTool::default_descriptor(name);
    (descriptor.parallel, descriptor.idempotent) = (true, false);
    descriptor
}

/// An agent that may start runs in every way, so many levels deep.
fn agent(dice: &Dice, levels: u32) -> Agent {
    let model: Arc<dyn ModelSession> = Arc::new(dice.clone());
    let builder = Agent::builder("tester", Arc::clone(&model), MODEL)
        .clock(TokioClock::starting_at(1_000))
        .tool(Work(described("work")))
        .max_cycles(6)
        .summarizer(model, MODEL)
        .without_ask_user();
    let builder = match levels {
        0 => builder,
        levels => {
            let below = agent(dice, levels - 1);
            let children = EngineSubagents::new(below.clone());
            builder
                .tool(below.as_tool("closed", "Does a part."))
                .tool(Delegate(described("delegate"), children))
                .sub_agent(SubAgent::from_agent("child", "Does a part.", below))
        }
    };
    builder.build().expect("an agent")
}

fn ran(seed: u64, limits: BudgetLimits, cancelled_after: Option<u64>) -> (Arc<RunResult>, Truth) {
    let dice = Dice::of(seed);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    let result = runtime.block_on(async {
        let options = RunOptions::default().run_id("run").budget(limits);
        let handle = agent(&dice, 2).start_with(Task::new("do it"), options);
        if let Some(after) = cancelled_after {
            tokio::time::sleep(ms(after)).await;
            // It may have ended.
            let _ = handle.cancel().await;
        }
        let result = handle.result().await.expect("it lives").finished().expect("it ends");
        for standing in handle.budgets() {
            let used = result.spent.charged.of(&standing.budget);
            assert_eq!((standing.used, standing.reserved), (used, 0), "{:?}", standing.budget);
        }
        result
    });
    drop(runtime);
    let truth = std::mem::take(&mut dice.0.lock().expect("no test panics with it").1);
    (result, truth)
}

fn limits() -> impl Strategy<Value = BudgetLimits> {
    let amount = |most: u64| prop_oneof![Just(None), (1..most).prop_map(Some)];
    (1_000_u64..60_000, amount(60_000), amount(40), amount(12), amount(6)).prop_map(
        |(tokens, cost_nano_usd, model_calls, tool_calls, sub_tasks)| BudgetLimits {
            tokens: Some(tokens),
            cost_nano_usd,
            model_calls,
            tool_calls,
            sub_tasks,
            sub_task_depth: sub_tasks.map(|runs| u32::from(runs > 2) + 1),
            ..BudgetLimits::default()
        },
    )
}

fn within(used: u64, limit: Option<u64>, excess: u64) -> bool {
    limit.is_none_or(|limit| used <= limit.saturating_add(excess))
}

/// Without this the properties might be about nothing.
#[test]
fn the_dice_come_to_every_way_of_spending() {
    let (mut below, mut compacted, mut repeated) = (0, 0, 0);
    for seed in 1..80 {
        let limits = BudgetLimits { tokens: Some(50_000), ..BudgetLimits::default() };
        let (result, truth) = ran(seed * 0x9E37_79B9, limits, None);
        below += result.spent.charged.sub_tasks;
        compacted += u64::from(result.cycles.iter().any(|cycle| cycle.memory_compacted));
        repeated += truth.repeated;
    }
    assert!(below > 40 && compacted > 0 && repeated > 40, "{below} {compacted} {repeated}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn c23_no_tree_of_runs_spends_more_than_its_root_was_given_or_hides_a_token(
        seed in any::<u64>(),
        limits in limits(),
    ) {
        let (result, truth) = ran(seed, limits.clone(), None);
        oracle::assert_paired(&result);
        let (spent, charged) = (&result.spent, &result.spent.charged);
        // Each meter is counted, once.
        prop_assert_eq!(charged.model_calls, truth.requests);
        prop_assert_eq!(spent.tokens.at_least, truth.reported);
        prop_assert_eq!(spent.cost_nano_usd.at_least, truth.reported);
        prop_assert_eq!(spent.tokens.complete, !truth.is_silent);
        prop_assert!(charged.tokens >= truth.reported);
        // Nothing goes beyond a limit but what was more than was reserved for it.
        prop_assert!(within(charged.tokens, limits.tokens, truth.excess), "{:?}", truth);
        prop_assert!(within(charged.cost_nano_usd, limits.cost_nano_usd, truth.excess));
        prop_assert!(within(charged.model_calls, limits.model_calls, truth.repeated));
        prop_assert!(within(charged.tool_calls, limits.tool_calls, 0));
        prop_assert!(within(charged.sub_tasks, limits.sub_tasks, 0));
    }

    #[test]
    fn a_tree_that_is_cancelled_anywhere_hides_nothing_either(
        seed in any::<u64>(),
        limits in limits(),
        after in 0_u64..400,
    ) {
        let (result, truth) = ran(seed, limits.clone(), Some(after));
        let (spent, charged) = (&result.spent, &result.spent.charged);
        // What was cancelled in flight reported nothing, and counts as it was reserved.
        prop_assert!(charged.model_calls >= truth.requests);
        prop_assert_eq!(spent.tokens.at_least, truth.reported);
        prop_assert!(within(charged.tokens, limits.tokens, truth.excess), "{:?}", truth);
        prop_assert!(within(charged.sub_tasks, limits.sub_tasks, 0));
    }
}

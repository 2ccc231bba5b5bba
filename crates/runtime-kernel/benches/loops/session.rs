//! Decides what a round of `run_session` costs beyond its host and its provider.
//!
//! Knows nothing about why. The same host and provider are also driven by hand, with the least that
//! they need; the difference is the loop's.

use std::{sync::Arc, time::Duration};

use criterion::{BenchmarkId, Criterion, SamplingMode};
use runtime_kernel::{
    AgentRuntime, HostFuture, PreparedRound, ProviderResume, RoundCompletion, RoundPreparation,
    SessionControl, SessionEvent, SessionHost, SessionRunRequest, SessionToolOutcome, ToolCall,
};
use runtime_ports::{AgentTurnEvent, AgentTurnRequest, Intelligence, ToolResult, TurnStart};
use serde_json::Value;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::{
    cpu_time::CpuTime,
    scripted::{Scripted, Window, executor},
};

/// Bytes of the input of every round.
const INPUT_BYTES: usize = 1_024;

pub(crate) fn bench(criterion: &mut Criterion<CpuTime>) {
    for (name, calls) in [("with_a_call", 1), ("without_calls", 0)] {
        let stage = Stage { executor: executor(), calls };
        let mut group = criterion.benchmark_group(format!("session_{name}"));
        group.sampling_mode(SamplingMode::Flat);
        for window in Window::ALL {
            let id = BenchmarkId::new("fakes_by_hand", window.name());
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|times| stage.by_hand(times, window) / window.len());
            });
            let id = BenchmarkId::new("loop_beyond_fakes", window.name());
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|times| stage.beyond(times, window) / window.len());
            });
        }
        group.finish();
    }
}

struct Stage {
    executor: Runtime,
    calls: u64,
}

impl Stage {
    /// What the loop adds to the fakes; the two are run alternately, so that both meet the same
    /// disturbances.
    fn beyond(&self, times: u64, window: Window) -> Duration {
        let (mut with, mut without) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..times {
            with += self.by_loop(window);
            without += self.by_hand(1, window);
        }
        with.saturating_sub(without)
    }

    fn by_loop(&self, window: Window) -> Duration {
        let runtime = AgentRuntime::new(Arc::new(Scripted::new(self.calls)));
        let (user_id, operation_id) = ("ada".to_owned(), Uuid::from_u128(1));
        let (rounds_used, round_limit) = (0, window.last);
        let request = SessionRunRequest { user_id, operation_id, rounds_used, round_limit };
        let mut host = Forgetful::new(window);
        let answer = self.executor.block_on(runtime.run_session(request, &mut host));
        let elapsed = CpuTime::now() - host.counted_from;
        answer.expect("the last round completes the session");
        elapsed
    }

    fn by_hand(&self, times: u64, window: Window) -> Duration {
        (0..times).map(|_| self.by_hand_once(window)).sum()
    }

    fn by_hand_once(&self, window: Window) -> Duration {
        let intelligence: Arc<dyn Intelligence> = Arc::new(Scripted::new(self.calls));
        let mut host = Forgetful::new(window);
        let played = self.executor.block_on(async {
            for round in 1..=window.last {
                play(intelligence.as_ref(), &mut host, round).await?;
            }
            anyhow::Ok(())
        });
        let elapsed = CpuTime::now() - host.counted_from;
        played.expect("nothing fails in these rounds");
        elapsed
    }
}

/// A host that keeps nothing.
struct Forgetful {
    window: Window,
    rounds: u64,
    /// CPU time when the first round of the window began.
    counted_from: Duration,
}

impl Forgetful {
    fn new(window: Window) -> Self {
        Self { window, rounds: 0, counted_from: CpuTime::now() }
    }
}

impl SessionHost for Forgetful {
    fn prepare_round<'a>(&'a mut self, round: u64) -> HostFuture<'a, RoundPreparation> {
        if round > 1 && round == self.window.first {
            self.counted_from = CpuTime::now();
        }
        let prepared = PreparedRound {
            input: "x".repeat(INPUT_BYTES),
            provider_input: "what is new".to_owned(),
            continuation: None,
            model: "scripted".to_owned(),
            reasoning_effort: String::new(),
            tool_description: "Calls one tool of the application.".to_owned(),
            timeout: None,
        };
        Box::pin(async { Ok(RoundPreparation::Run(prepared)) })
    }

    fn record<'a>(&'a mut self, _event: SessionEvent) -> HostFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn execute_tool<'a>(
        &'a mut self,
        _call: anyhow::Result<ToolCall>,
        _provider_operation_id: Uuid,
    ) -> HostFuture<'a, SessionToolOutcome> {
        Box::pin(async { Ok(SessionToolOutcome::success("seen")) })
    }

    fn complete_capture<'a>(
        &'a mut self,
        _capture: Value,
        _contents: String,
    ) -> HostFuture<'a, SessionControl> {
        Box::pin(async { Ok(SessionControl::Continue) })
    }

    fn complete_round<'a>(&'a mut self, _round: RoundCompletion) -> HostFuture<'a, SessionControl> {
        self.rounds += 1;
        let done = self.rounds == self.window.last;
        let control = if done { SessionControl::Complete(None) } else { SessionControl::Continue };
        Box::pin(async { Ok(control) })
    }
}

/// One round with the calls that the loop makes and nothing else: no hash, no tool definition, no
/// check of a call, no fresh id, no copy of the receipt.
async fn play(
    intelligence: &dyn Intelligence,
    host: &mut Forgetful,
    round: u64,
) -> anyhow::Result<()> {
    let RoundPreparation::Run(prepared) = host.prepare_round(round).await? else { return Ok(()) };
    let (manifest_hash, model) = (String::new(), String::new());
    host.record(SessionEvent::InferenceSubmitted { round, manifest_hash, model }).await?;
    let mut turn = intelligence.start_agent_turn(bare_start(prepared)).await?;
    while let Some(event) = turn.next_event().await? {
        match event {
            AgentTurnEvent::ToolCall { call_id, arguments, .. } => {
                let call = ToolCall { name: String::new(), arguments };
                let outcome = host.execute_tool(Ok(call), Uuid::nil()).await?;
                let resume = host.prepare_provider_resume(outcome).await?;
                let ProviderResume::Continue(outcome) = resume else { break };
                turn.respond(&call_id, ToolResult { success: true, text: outcome.text }).await?;
            }
            AgentTurnEvent::UsageUpdated(usage) => {
                host.record(SessionEvent::UsageUpdated { round, usage }).await?;
            }
            _ => break,
        }
    }
    let (used_tool, finish_requested, emitted_response) = (true, false, false);
    let answer = String::new();
    let completion = RoundCompletion { answer, used_tool, finish_requested, emitted_response };
    host.complete_round(completion).await?;
    Ok(())
}

fn bare_start(prepared: PreparedRound) -> TurnStart {
    TurnStart {
        user_id: String::new(),
        operation_id: Uuid::nil(),
        parent_operation_id: None,
        continuation: None,
        request: AgentTurnRequest {
            model: prepared.model,
            reasoning_effort: prepared.reasoning_effort,
            input: prepared.provider_input,
            tools: Vec::new(),
            timeout: None,
            ephemeral: false,
            max_requests: 1,
        },
    }
}

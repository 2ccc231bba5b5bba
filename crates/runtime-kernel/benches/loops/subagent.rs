//! Decides what a tool call of the subagent loop costs, early and late in a run.
//!
//! Knows nothing about the opening and the end of the run: counted is from a call to the answer.
//! The cost of the host and of the provider is in the figures.

use std::{sync::Arc, time::Duration};

use criterion::{BenchmarkId, Criterion, SamplingMode};
use runtime_kernel::{
    AgentRuntime, AuditEvent, ContextBudget, Host, HostFuture, RunRequest, StateUpdate, ToolCall,
    ToolOutcome,
};
use serde_json::Value;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::{
    cpu_time::CpuTime,
    scripted::{Scripted, Window, executor},
};

/// Bytes of each result, and of the value that it updates and shows.
const RESULT_BYTES: usize = 1_024;

pub(crate) fn bench(criterion: &mut Criterion<CpuTime>) {
    let executor = executor();
    let mut group = criterion.benchmark_group("subagent");
    group.sampling_mode(SamplingMode::Flat);
    for window in Window::ALL {
        let id = BenchmarkId::new("call_with_fakes", window.name());
        group.bench_function(id, |bencher| {
            bencher.iter_custom(|times| {
                let total: Duration = (0..times).map(|_| calls(&executor, window)).sum();
                total / window.len()
            });
        });
    }
    group.finish();
}

/// CPU time of the calls of `window`, in a run of its own.
fn calls(executor: &Runtime, window: Window) -> Duration {
    let (intelligence, watch) = Scripted::watched(window);
    let runtime = AgentRuntime::new(Arc::new(intelligence));
    let request = RunRequest {
        user_id: "ada".to_owned(),
        parent_operation_id: Uuid::from_u128(1),
        model: "scripted".to_owned(),
        reasoning_effort: String::new(),
        context: vec!["A section of the context.".to_owned()],
        task: "A task.".to_owned(),
        timeout: None,
        start_metadata: Value::Null,
    };
    let result = executor.block_on(runtime.run(request, &mut Updating));
    result.expect("the turn ends with an answer");
    watch.elapsed()
}

/// A host whose every call replaces one value and shows the new one.
struct Updating;

impl Host for Updating {
    fn render_tool_call(&mut self, call: &ToolCall) -> anyhow::Result<String> {
        Ok(format!("{}()", call.name))
    }

    fn execute_tool<'a>(
        &'a mut self,
        _call: ToolCall,
        _operation_id: Uuid,
        budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        let page = "x".repeat(RESULT_BYTES);
        assert!(budget.fits_state("page", &page));
        let update = StateUpdate { key: "page".to_owned(), text: Some(page.clone()) };
        let displayed_state_keys = vec!["page".to_owned()];
        let state_updates = vec![update];
        let outcome =
            ToolOutcome { state_updates, displayed_state_keys, ..ToolOutcome::success(page) };
        Box::pin(async { Ok(outcome) })
    }

    fn complete_capture<'a>(
        &'a mut self,
        _capture: Value,
        contents: String,
        _budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        Box::pin(async { Ok(ToolOutcome::success(contents)) })
    }

    fn record(&mut self, _event: AuditEvent) -> anyhow::Result<()> {
        Ok(())
    }
}

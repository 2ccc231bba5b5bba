//! Decides the course of a turn: its requests, its calls, its answers.
//!
//! Knows nothing about who holds the handle, or whether anybody does.

use std::sync::Arc;

use runtime_ports::{
    AgentTurnEvent, GenerationOptions, Interruption, ModelContent, ModelContext, ModelMessage,
    ModelRequest, ModelResponse, ModelRole, OperationContext, PortFailure, ToolResult, ToolSet,
    TurnEnd,
};
use runtime_types::{ExecutionId, OperationId};
use tokio::{sync::oneshot, time::Instant};

use super::{
    OwnerEnd, TurnPlan,
    conclusion::{self, Stopped},
    exchange::{Exchange, Surfaced, SurfacedIds},
    next_step::{self, NextStep},
    patience::Patience,
    sink::EventSink,
};
use crate::sending::{Sending, Unanswered};

/// Owns a turn from its start to its receipt.
pub(crate) struct Owner {
    plan: TurnPlan,
    end: OwnerEnd,
    tools: ToolSet,
    options: Arc<GenerationOptions>,
    patience: Patience,
    requests: u32,
    surfaced: SurfacedIds,
    usage_was_told: bool,
}

impl Owner {
    pub(super) fn new(mut plan: TurnPlan, end: OwnerEnd) -> Self {
        begin_thread(&mut plan);
        let request = &plan.start.request;
        Self {
            tools: ToolSet::new(request.tools.clone()),
            options: Arc::new(options_of(&request.reasoning_effort)),
            patience: Patience::of(request.timeout),
            requests: 0,
            surfaced: SurfacedIds::default(),
            usage_was_told: false,
            plan,
            end,
        }
    }

    /// Runs the turn to its end. `opened` learns whether its start could be recorded; when not,
    /// nothing happens.
    pub(crate) async fn run(mut self, opened: oneshot::Sender<Result<(), PortFailure>>) {
        let recorded = self.plan.account.open().await;
        let started = recorded.is_ok();
        // Who asked may be gone by now; the turn then ends as given up.
        let _ = opened.send(recorded);
        if started {
            let course = self.take_course().await;
            conclusion::conclude(self.plan, self.end, course).await;
        }
    }

    async fn take_course(&mut self) -> Result<String, Stopped> {
        self.submit_context().await?;
        loop {
            let response = self.ask_model().await?;
            let has_calls = response.output.iter().any(is_call);
            let may_send = self.requests < self.plan.start.request.max_requests;
            match next_step::after(response.finish, has_calls, may_send) {
                NextStep::Complete => return Ok(self.keep_answer(response.output)),
                NextStep::SurfaceCalls => self.exchange(response.output).await?,
                NextStep::Fail(failure) => return Err(Stopped::by(failure)),
            }
        }
    }

    /// Shows the host what will be sent, and waits until it asks for what follows: so far it may
    /// withdraw for free.
    async fn submit_context(&mut self) -> Result<(), Stopped> {
        let context = self.model_context();
        self.end.events.post(AgentTurnEvent::ModelContextSubmitted(context));
        tokio::select! {
            biased;
            end = broken_off(&self.plan, &self.end) => Err(Stopped::waiting(end)),
            () = self.end.events.asked_in_vain() => Ok(()),
        }
    }

    fn model_context(&self) -> ModelContext {
        let request = &self.plan.start.request;
        ModelContext {
            input: request.input.clone(),
            provider: self.plan.route.primary().provider.clone(),
            model: self.plan.route.primary().provider_model.to_string(),
            reasoning_effort: request.reasoning_effort.clone(),
            instructions: self.plan.instructions.as_deref().map(str::to_owned),
            tools: request.tools.clone(),
        }
    }

    async fn ask_model(&mut self) -> Result<ModelResponse, Stopped> {
        self.requests += 1;
        let operation = self.operation();
        let sink = EventSink(&self.end.events);
        let sending = Sending {
            route: &self.plan.route,
            rules: &self.plan.rules,
            projections: &self.plan.projections,
            id: self.plan.start.operation_id,
            request: self.request(),
            operation: &operation,
            given_up: &self.end.given_up,
            sink: Some(&sink),
        };
        let sent = sending.send(&mut self.plan.account).await;
        self.patience.spend(sent.waited);
        self.tell_usage();
        sent.outcome.map_err(|unanswered| match unanswered {
            Unanswered::GivenUp => Stopped::waiting(TurnEnd::Interrupted),
            Unanswered::Failed(failure) => Stopped::by(failure),
        })
    }

    fn operation(&self) -> OperationContext {
        let start = &self.plan.start;
        let turn = OperationId::from(start.operation_id);
        let name = OperationId::new(format!("{turn}-{}", self.requests));
        let cause = start.parent_operation_id.unwrap_or(start.operation_id);
        OperationContext {
            id: name.unwrap_or_else(|_| turn.clone()),
            execution_id: ExecutionId::from(cause),
            parent: Some(turn),
            deadline: Instant::now() + self.patience.left(),
            cancellation: self.plan.registration.token().clone(),
        }
    }

    fn request(&self) -> ModelRequest {
        let name = format!("{}-{}", self.plan.start.operation_id, self.requests);
        ModelRequest {
            invocation_id: name.into(),
            model: Arc::clone(&self.plan.route.primary().provider_model),
            messages: self.plan.thread.transcript().clone(),
            tools: self.tools.clone(),
            max_output_tokens: None,
            options: Arc::clone(&self.options),
        }
    }

    /// Tells the tokens so far, when some are known, or when the host was told of some that are
    /// no longer the whole.
    fn tell_usage(&mut self) {
        let usage = self.plan.account.usage();
        if self.usage_was_told || !usage.is_unreported() {
            self.usage_was_told = true;
            self.end.events.post(AgentTurnEvent::UsageUpdated(usage));
        }
    }

    /// Surfaces the calls of an answer one by one, and keeps them with their results.
    async fn exchange(&mut self, output: Vec<ModelContent>) -> Result<(), Stopped> {
        let mut exchange = Exchange::new(output, &mut self.surfaced);
        while let Some(call) = exchange.next_call() {
            let result = self.surface(call).await?;
            exchange.answer(result);
        }
        self.plan.thread.transcript_mut().extend(exchange.into_messages());
        Ok(())
    }

    async fn surface(&mut self, call: Surfaced) -> Result<ToolResult, Stopped> {
        let Surfaced { call_id, tool, arguments } = call;
        self.end.events.post(AgentTurnEvent::ToolCall { call_id, tool, arguments });
        tokio::select! {
            biased;
            () = self.end.given_up.cancelled() => Err(Stopped::waiting(TurnEnd::Interrupted)),
            () = self.plan.registration.token().cancelled() => {
                Err(Stopped::waiting(TurnEnd::Cancelled))
            }
            answer = self.end.answers.recv() => {
                answer.ok_or_else(|| Stopped::waiting(TurnEnd::Interrupted))
            }
        }
    }

    fn keep_answer(&mut self, output: Vec<ModelContent>) -> String {
        let answer = text_of(&output);
        let message = ModelMessage { role: ModelRole::Assistant, content: output };
        self.plan.thread.transcript_mut().push(message);
        answer
    }
}

/// Waits until the turn is given up or cancelled.
async fn broken_off(plan: &TurnPlan, end: &OwnerEnd) -> TurnEnd {
    tokio::select! {
        biased;
        () = end.given_up.cancelled() => TurnEnd::Interrupted,
        () = plan.registration.token().cancelled() => TurnEnd::Cancelled,
    }
}

/// Puts the instructions before a fresh thread, and the new input at its end.
fn begin_thread(plan: &mut TurnPlan) {
    let transcript = plan.thread.transcript_mut();
    if transcript.is_empty()
        && let Some(instructions) = &plan.instructions
    {
        transcript.push(ModelMessage::text(ModelRole::System, &**instructions));
    }
    transcript.push(ModelMessage::text(ModelRole::User, &*plan.start.request.input));
}

fn options_of(reasoning_effort: &str) -> GenerationOptions {
    let effort = Some(reasoning_effort).filter(|effort| !effort.is_empty());
    let reasoning_effort = effort.map(str::to_owned);
    GenerationOptions { reasoning_effort, ..GenerationOptions::default() }
}

fn text_of(output: &[ModelContent]) -> String {
    let texts = output.iter().filter_map(|content| match content {
        ModelContent::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

const fn is_call(content: &ModelContent) -> bool {
    matches!(content, ModelContent::ToolUse { .. })
}

impl Stopped {
    /// Stopped by what the model or its session did.
    fn by(failure: PortFailure) -> Self {
        Self { end: TurnEnd::of_failure(failure.kind), failure }
    }

    /// Stopped while nothing was in flight.
    fn waiting(end: TurnEnd) -> Self {
        Self { end, failure: Interruption::Canceled.before_sending() }
    }
}

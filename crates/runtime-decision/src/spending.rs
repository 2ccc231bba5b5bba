//! Decides what a run reserves before it spends, and what it is charged after.
//!
//! Knows sizes and prices; refuses to know limits: whether there is enough is an outcome.
//! Invariants: where no budget applies nothing is asked for; a reservation is charged once; what
//! was in flight when its outcome was lost is charged as it was reserved.

use std::sync::Arc;

use runtime_ports::{ModelFinish, ModelRequest, Price, ToolSet, estimate_text_tokens};
use serde::{Deserialize, Serialize};

use crate::{
    ASK_USER, Amounts, BudgetLimits, Call, Charge, Effect, EffectId, Grant, Machine, Out, Shortage,
    Spent, TASK_FINISH,
    batch::{Batch, CallState, Stage},
    budget::{Bill, most_cost},
    children::sub_tasks_of,
    state::{Ask, Open, Phase, RequestView, Standing, Stop},
};

/// The least tokens of an answer that are worth a model call.
const LEAST_OUTPUT_TOKENS: u64 = 512;

/// Most tokens of an answer of which nobody says how long it may be: few enough for any model.
const MOST_OUTPUT_TOKENS: u64 = 16_384;

/// The part of the window, as its inverse, that such an answer takes at most.
const OUTPUT_SHARE: u64 = 4;

/// What something is reserved for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Spending {
    /// A model call.
    Model,
    /// A summary.
    Summary,
    /// The calls of an answer.
    Batch,
    /// A call that a hook made another one.
    Call {
        /// Its place in the batch.
        call: usize,
    },
}

/// What is reserved and not charged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Reservation {
    pub(crate) id: u64,
    pub(crate) spending: Spending,
    pub(crate) amounts: Amounts,
    /// Most tokens of the answer that the grant pays for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_output_tokens: Option<u32>,
    /// What made the answer shorter than it might have been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept_short_by: Option<Box<Shortage>>,
}

/// How much a model call may take.
struct CallSize {
    input: u64,
    output: u64,
}

impl Machine {
    /// The run's own budgets: those of the agent, tightened by those of the task.
    #[must_use]
    pub const fn budget(&self) -> &BudgetLimits {
        &self.state.terms.budget
    }

    /// Whether a budget applies, the run's own or one above it.
    #[must_use]
    pub const fn is_budgeted(&self) -> bool {
        self.state.terms.budgeted
    }

    /// What the run used so far, with the ended runs that it started.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.state.spent.as_deref().cloned().unwrap_or_default()
    }

    /// What counts as used if nobody hears of the run again: what is in flight counts as it was
    /// reserved.
    #[must_use]
    pub fn spent_if_lost(&self) -> Spent {
        let mut spent = self.spent();
        let asked = |open: &&Open| open.standing == Standing::Asked;
        for open in self.state.open.iter().filter(asked) {
            let spending = match open.ask {
                Ask::Model => Spending::Model,
                Ask::Summary => Spending::Summary,
                _ => continue,
            };
            let mut held = self.state.reservations.iter();
            let held = held.find(|held| held.spending == spending).map(|held| &held.amounts);
            let nothing = Amounts::default();
            spent.add(&Bill { reserved: held.unwrap_or(&nothing), price: None }.lost());
        }
        let calls = [Spending::Model, Spending::Summary];
        let others = self.state.reservations.iter().filter(|held| !calls.contains(&held.spending));
        others.for_each(|held| spent.charged.add(&held.amounts));
        spent
    }

    /// What was granted and is not charged; after a load it is to be held again.
    pub fn reservations(&self) -> impl Iterator<Item = (EffectId, &Amounts)> {
        self.state.reservations.iter().map(|held| (EffectId(held.id), &held.amounts))
    }

    /// Asks for what costs, once it is reserved where a budget applies.
    pub(crate) fn ask_paid(&mut self, spending: Spending) {
        match self.is_budgeted() {
            true => self.ask(Ask::Reserve { spending }),
            false => self.ask(paid(spending)),
        }
    }

    pub(crate) fn reserve_effect(&self, id: u64, spending: Spending) -> Effect {
        let (wanted, least) = match spending {
            Spending::Model | Spending::Summary => {
                let request = self.paid_request(id, spending);
                request.map(|it| self.call_amounts(spending, &it)).unwrap_or_default()
            }
            Spending::Batch => same(self.batch().map(|it| self.batch_amounts(it))),
            Spending::Call { call } => same(self.batch().map(|it| self.patched_amounts(it, call))),
        };
        Effect::Reserve { wanted: Box::new(wanted), least: Box::new(least) }
    }

    /// Keeps what was granted, before anything follows from it.
    pub(crate) fn keep_grant(&mut self, id: u64, spending: Spending, grant: &Grant) {
        let max_output_tokens = self.granted_output(id, spending, &grant.amounts);
        let (amounts, kept_short_by) = (grant.amounts.clone(), grant.kept_short_by.clone());
        self.state.reservations.push(Reservation {
            id,
            spending,
            amounts,
            max_output_tokens,
            kept_short_by,
        });
    }

    /// The model call is paid for, or is not made.
    pub(crate) fn take_call_grant(
        &mut self,
        view: RequestView,
        granted: Result<Grant, Shortage>,
        out: &mut Out,
    ) -> Phase {
        match granted {
            Ok(_) => {
                self.ask(Ask::Model);
                Phase::AwaitingModel(view)
            }
            Err(shortage) => self.exhaust(shortage, out),
        }
    }

    /// Ends a run that has nothing in flight, for want of a budget.
    pub(crate) fn exhaust(&mut self, shortage: Shortage, out: &mut Out) -> Phase {
        self.set_stop(Stop::Budget(Box::new(shortage)));
        self.end_stopped(out)
    }

    /// Charges a model call. An answer that was cut where the budget was short ends the run for it.
    pub(crate) fn charge_answer(
        &mut self,
        spending: Spending,
        response: &runtime_ports::ModelResponse,
        out: &mut Out,
    ) {
        let held = self.charge_call(spending, |bill| bill.answered(response), out);
        let Some(mut shortage) = held.and_then(|held| held.kept_short_by) else { return };
        if response.finish == ModelFinish::Length {
            let charged = out.charges.last().map_or(0, |it| it.used.of(&shortage.budget));
            shortage.used = shortage.used.saturating_add(charged);
            (shortage.reserved, shortage.needed) = (0, 0);
            self.set_stop(Stop::Budget(shortage));
        }
    }

    /// Charges what the attempts of a model call come to.
    pub(crate) fn charge_call(
        &mut self,
        spending: Spending,
        used: impl FnOnce(&Bill<'_>) -> Spent,
        out: &mut Out,
    ) -> Option<Reservation> {
        let held = self.take_reservation(spending);
        let nothing = Amounts::default();
        let price = self.price_of(spending).filter(|_| self.has_price(spending));
        let reserved = held.as_ref().map_or(&nothing, |held| &held.amounts);
        let spent = used(&Bill { reserved, price });
        self.spend(&spent);
        if let Some(held) = &held {
            out.charges.push(Charge { reservation: EffectId(held.id), used: spent.charged });
        }
        held
    }

    /// What a call is reserved at: the price of the model that it goes to, else that of the agent's.
    fn price_of(&self, spending: Spending) -> Option<&Price> {
        let of_agent = self.state.profile.as_ref().and_then(|profile| profile.price.as_ref());
        let of_summaries = self.state.summary_price.as_ref();
        of_summaries.filter(|_| spending == Spending::Summary).or(of_agent)
    }

    /// Whether that is the price of the model that the call goes to. Where the cost is not limited
    /// the price of another model that sums up was not asked for: its cost is what its provider
    /// says, else unknown.
    fn has_price(&self, spending: Spending) -> bool {
        let definition = self.plan.definition();
        let summarizer = definition.context.summary_model.as_ref();
        spending != Spending::Summary
            || self.state.summary_price.is_some()
            || summarizer.is_none_or(|it| *it == definition.model)
    }

    /// A model call whose outcome was lost with its process; it is paid for again when it is sent
    /// again.
    pub(crate) fn charge_lost(&mut self, spending: Spending, out: &mut Out) -> Ask {
        self.charge_call(spending, |bill| bill.lost(), out);
        match self.is_budgeted() {
            true => Ask::Reserve { spending },
            false => paid(spending),
        }
    }

    /// Whether the calls of an answer may begin: none does before all of them are paid for.
    pub(crate) fn is_admitted(&mut self, batch: &Batch) -> bool {
        if batch.is_admitted || !self.is_budgeted() || self.is_ending() {
            return true;
        }
        if self.batch_amounts(batch).is_nothing() {
            return true;
        }
        let reserve = Ask::Reserve { spending: Spending::Batch };
        if !self.state.open.iter().any(|open| open.ask == reserve) {
            self.ask(reserve);
        }
        false
    }

    /// What was reserved for calls is granted, or none of what has not started starts.
    pub(crate) fn take_batch_grant(
        &mut self,
        batch: &mut Batch,
        spending: Spending,
        granted: Result<Grant, Shortage>,
        out: &mut Out,
    ) {
        match (granted, spending) {
            (Ok(_), Spending::Call { call }) => self.invoke(batch, call, out),
            (Ok(_), _) => batch.is_admitted = true,
            (Err(shortage), _) => self.stop_batch(batch, Stop::Budget(Box::new(shortage)), out),
        }
    }

    /// Whether a call that is about to start is paid for; else it is asked for.
    pub(crate) fn is_paid(&mut self, batch: &mut Batch, call: usize) -> bool {
        if !self.is_budgeted() || self.is_covered(batch, call) {
            return true;
        }
        batch.calls[call].stage = Stage::Admitting;
        self.ask(Ask::Reserve { spending: Spending::Call { call } });
        false
    }

    /// A call is covered by what was reserved for all, unless a hook gave it another name.
    fn is_covered(&self, batch: &Batch, call: usize) -> bool {
        let (state, own) = (&batch.calls[call], Spending::Call { call });
        let is_same = state.effective().name == state.original.name;
        let is_reserved = || self.state.reservations.iter().any(|held| held.spending == own);
        is_same || is_free(state.effective()) || is_reserved()
    }

    /// Charges the tools of a batch that were started.
    pub(crate) fn charge_batch(&mut self, batch: &Batch, out: &mut Out) {
        let mut used = Amounts { sub_tasks: batch.spawned, ..Amounts::default() };
        let started =
            batch.calls.iter().filter(|call| call.key.is_some()).map(CallState::effective);
        for call in started.filter(|call| !is_free(call)) {
            match self.is_budgeted() {
                true => used.add_tool(&call.name),
                false => used.tool_calls += 1,
            }
        }
        if !used.is_nothing() {
            self.spend(&Spent::counted(used.clone()));
        }
        if let Some(held) = self.take_reservation(Spending::Batch) {
            let used = std::mem::take(&mut used);
            out.charges.push(Charge { reservation: EffectId(held.id), used });
        }
        // Those of single calls; where the batch had none, the first of them is charged for all.
        for call in 0..batch.calls.len() {
            if let Some(held) = self.take_reservation(Spending::Call { call }) {
                let used = std::mem::take(&mut used);
                out.charges.push(Charge { reservation: EffectId(held.id), used });
            }
        }
    }

    /// Gives back what was granted for what does not happen any more.
    pub(crate) fn release(&mut self, out: &mut Out) {
        for held in self.state.reservations.drain(..) {
            let (reservation, used) = (EffectId(held.id), Amounts::default());
            out.charges.push(Charge { reservation, used });
        }
    }

    /// What was used, by the run or by one that it started.
    pub(crate) fn spend(&mut self, spent: &Spent) {
        self.state.spent.get_or_insert_default().add(spent);
    }

    /// Most tokens that the answer of the model call may have, as the agent wants it or as it is
    /// paid for.
    pub(crate) fn max_output_tokens(&self) -> Option<u32> {
        self.granted_tokens(Spending::Model).or(self.plan.definition().max_output_tokens)
    }

    /// Most tokens of an answer that were paid for, if they had to be.
    pub(crate) fn granted_tokens(&self, spending: Spending) -> Option<u32> {
        let mut held = self.state.reservations.iter();
        held.find(|held| held.spending == spending)?.max_output_tokens
    }

    fn take_reservation(&mut self, spending: Spending) -> Option<Reservation> {
        let mut held = self.state.reservations.iter();
        let place = held.position(|held| held.spending == spending)?;
        Some(self.state.reservations.remove(place))
    }

    /// What a model call takes, and the least that it needs.
    fn call_amounts(&self, spending: Spending, request: &ModelRequest) -> (Amounts, Amounts) {
        let CallSize { input, output } = self.call_size(request);
        let price = self.price_of(spending);
        let amounts = |output: u64| Amounts {
            tokens: input.saturating_add(output),
            uncached_input_tokens: input,
            cost_nano_usd: price.map_or(0, |price| most_cost(price, input, output)),
            model_calls: 1,
            ..Amounts::default()
        };
        (amounts(output), amounts(output.min(LEAST_OUTPUT_TOKENS)))
    }

    fn call_size(&self, request: &ModelRequest) -> CallSize {
        let plain = request.messages.estimated_tokens().saturating_add(tokens_of(&request.tools));
        // Never less than the plain estimate: what was reported of a request with other tools may
        // tell too little of this one.
        let input = self.expected_tokens(plain).max(plain);
        let profile = self.state.profile.as_ref();
        let window = profile.map_or(0, |profile| profile.context_window_tokens);
        let wanted = request.max_output_tokens.map(u64::from);
        let wanted = wanted.or_else(|| profile.and_then(|profile| profile.max_output_tokens));
        let output = wanted.unwrap_or_else(|| match window {
            // A window of 0 is not known.
            0 => MOST_OUTPUT_TOKENS,
            window => (window / OUTPUT_SHARE).min(MOST_OUTPUT_TOKENS),
        });
        CallSize { input, output: output.clamp(1, u32::MAX.into()) }
    }

    /// The request that is paid for, if it is one.
    fn paid_request(&self, id: u64, spending: Spending) -> Option<ModelRequest> {
        let ask = match spending {
            Spending::Model => Ask::Model,
            Spending::Summary => Ask::Summary,
            Spending::Batch | Spending::Call { .. } => return None,
        };
        match self.effect(id, ask) {
            Effect::CallModel(request) | Effect::Summarize(request) => Some(request),
            _ => None,
        }
    }

    /// Most tokens of the answer that a grant pays for.
    fn granted_output(&self, id: u64, spending: Spending, granted: &Amounts) -> Option<u32> {
        let request = self.paid_request(id, spending)?;
        let CallSize { input, output } = self.call_size(&request);
        let by_tokens = granted.tokens.saturating_sub(input);
        let by_cost =
            self.price_of(spending).filter(|price| price.output > 0).map_or(u64::MAX, |price| {
                let left = granted.cost_nano_usd.saturating_sub(most_cost(price, input, 0));
                let tokens = u128::from(left) * 1_000_000 / u128::from(price.output);
                u64::try_from(tokens).unwrap_or(u64::MAX)
            });
        u32::try_from(output.min(by_tokens).min(by_cost).max(1)).ok()
    }

    /// What the calls of an answer take if all of them run.
    fn batch_amounts(&self, batch: &Batch) -> Amounts {
        let calls = batch.calls.iter().filter(|call| self.counts(call));
        let calls = calls.map(|call| &call.original).collect::<Vec<_>>();
        let sub_tasks = calls.iter().map(|call| self.sub_tasks_of(call)).sum();
        Amounts { sub_tasks, ..Amounts::of_tools(calls.into_iter().map(|call| &call.name)) }
    }

    /// How many runs a call asks to start.
    fn sub_tasks_of(&self, call: &Call) -> u64 {
        match self.delegation_tool(&call.name) {
            Some(_) => sub_tasks_of(call),
            None => 0,
        }
    }

    fn counts(&self, call: &CallState) -> bool {
        let is_known = self.plan.tool(&call.original.name).is_some();
        is_known && !call.duplicate && !is_free(&call.original)
    }

    /// What a call takes under the name that a hook gave it, beyond what was reserved for it.
    fn patched_amounts(&self, batch: &Batch, call: usize) -> Amounts {
        let state = &batch.calls[call];
        let tool_calls = u64::from(!self.counts(state));
        let name = Arc::clone(&state.effective().name);
        let sub_tasks = self.sub_tasks_of(state.effective());
        let tool_calls_by_name = [(name, 1)].into();
        Amounts { tool_calls, tool_calls_by_name, sub_tasks, ..Amounts::default() }
    }
}

/// What is asked for once it is paid for.
const fn paid(spending: Spending) -> Ask {
    match spending {
        Spending::Summary => Ask::Summary,
        Spending::Call { call } => Ask::Tool { call },
        Spending::Model | Spending::Batch => Ask::Model,
    }
}

fn same(amounts: Option<Amounts>) -> (Amounts, Amounts) {
    let amounts = amounts.unwrap_or_default();
    (amounts.clone(), amounts)
}

/// To ask the user or to end the task costs no call: a run whose calls are used up may still end
/// well.
fn is_free(call: &Call) -> bool {
    *call.name == *TASK_FINISH || *call.name == *ASK_USER
}

fn tokens_of(tools: &ToolSet) -> u64 {
    let each = tools.iter().map(|tool| {
        let schema = tool.input_schema.to_string();
        let texts = [&*tool.name, &*tool.description, &*schema];
        texts.into_iter().map(estimate_text_tokens).sum::<u64>()
    });
    each.sum()
}

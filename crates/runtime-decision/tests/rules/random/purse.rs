//! Decides what the budgets of a random run allow, and keeps a world that uses no more than was
//! granted.
//!
//! Knows a tree of budgets, as a driver keeps one, with a run above the one that is tested.

use std::{cell::RefCell, rc::Rc};

use runtime_decision::{
    Amounts, BudgetLimits, BudgetNode, BudgetStanding, BudgetTree, Charge, Effect, Machine,
    Outcome, Requested, RunResult,
};
use runtime_ports::{ModelRequest, Price, TokenUsage};

use super::Dice;

const PRICE: Price =
    Price { input: 2_000_000, cached_input: Some(1_000_000), cache_write: None, output: 3_000_000 };

/// Budgets that several runs share.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    tree: Rc<RefCell<BudgetTree>>,
    above: Rc<BudgetNode>,
}

/// A run's place among budgets.
#[derive(Debug)]
pub(crate) struct Purse {
    family: Family,
    /// The limits above, of a run that is alone below them.
    alone_below: Option<BudgetLimits>,
    run: BudgetNode,
}

impl Family {
    pub(crate) fn new(limits: BudgetLimits) -> Self {
        let (tree, above) = BudgetTree::new(limits, &Amounts::default());
        Self { tree: Rc::new(RefCell::new(tree)), above: Rc::new(above) }
    }

    /// The place of one of the runs.
    pub(crate) fn purse(&self, machine: &Machine) -> Purse {
        let mut tree = self.tree.borrow_mut();
        let run = tree.open(&self.above, machine.budget().clone(), &machine.spent().charged);
        for (reservation, amounts) in machine.reservations() {
            tree.hold(&run, reservation.0, amounts.clone());
        }
        Purse { family: self.clone(), alone_below: None, run }
    }

    /// What all of them used together.
    pub(crate) fn used(&self) -> Amounts {
        self.tree.borrow().used(&self.above)
    }
}

/// Few enough to be used up, and sometimes none.
pub(crate) fn limits(dice: &mut Dice<'_>) -> BudgetLimits {
    let mut most = |most: usize| {
        let limit = u64::try_from(dice.roll(most)).expect("few");
        Some(limit).filter(|_| !dice.once_in(2))
    };
    let mut limits = BudgetLimits {
        tokens: most(3_000),
        uncached_input_tokens: most(900),
        cost_nano_usd: most(9_000),
        model_calls: most(5),
        tool_calls: most(12),
        ..BudgetLimits::default()
    };
    if dice.once_in(3) {
        let calls = u64::try_from(dice.roll(4)).expect("few");
        limits.tool_calls_by_name.insert("s".into(), calls);
    }
    limits
}

impl Purse {
    pub(crate) fn new(machine: &Machine, above: BudgetLimits) -> Self {
        let purse = Family::new(above.clone()).purse(machine);
        Self { alone_below: Some(above), ..purse }
    }

    /// The same budgets in another process. Those that are shared live on elsewhere.
    pub(crate) fn again(self, machine: &Machine) -> Self {
        let Some(above) = self.alone_below.clone() else { return self };
        let again = Self::new(machine, above);
        assert_eq!(self.standing(), again.standing(), "a run that was stored has other budgets");
        again
    }

    fn standing(&self) -> Vec<BudgetStanding> {
        self.family.tree.borrow().standing(&self.run)
    }

    pub(crate) fn charge(&mut self, charge: &Charge) {
        self.family.tree.borrow_mut().charge(&self.run, charge.reservation.0, &charge.used);
    }

    /// What was granted for something that is not wanted any more goes back.
    pub(crate) fn cancel(&mut self, id: runtime_decision::EffectId) {
        self.family.tree.borrow_mut().cancel(&self.run, id.0);
    }

    /// The outcome of an effect, within what was granted for it.
    pub(crate) fn answer(
        &mut self,
        asked: &Requested,
        outcome: Outcome,
        dice: &mut Dice<'_>,
    ) -> Outcome {
        match (&asked.effect, outcome) {
            (Effect::Reserve { wanted, least }, _) => {
                let mut tree = self.family.tree.borrow_mut();
                Outcome::Reserved(tree.reserve(&self.run, asked.id.0, wanted, least))
            }
            (_, Outcome::ProfileResolved(Ok(mut profile))) => {
                profile.price = Some(PRICE);
                Outcome::ProfileResolved(Ok(profile))
            }
            (Effect::CallModel(request), Outcome::ModelReplied(Ok(mut response))) => {
                response.usage = usage_within(request, dice);
                Outcome::ModelReplied(Ok(response))
            }
            (Effect::Summarize(request), Outcome::Summarized(Ok(mut response))) => {
                response.usage = usage_within(request, dice);
                Outcome::Summarized(Ok(response))
            }
            (
                Effect::CallModel(request),
                Outcome::ModelRepliedUnaudited { mut response, failure },
            ) => {
                response.usage = usage_within(request, dice);
                Outcome::ModelRepliedUnaudited { response, failure }
            }
            (_, outcome) => outcome,
        }
    }

    /// The run is over: it used no more than it might, holds nothing, and counts as the tree does.
    pub(crate) fn assert_kept(&self, result: &RunResult) {
        for standing in self.standing() {
            assert!(standing.used <= standing.limit, "overspent: {standing:?}");
            let is_own = standing.levels_above == 0 || self.alone_below.is_some();
            assert!(standing.reserved == 0 || !is_own, "held by nobody: {standing:?}");
        }
        assert_eq!(self.family.tree.borrow().used(&self.run), result.spent.charged);
        let by_budget = result.status == runtime_decision::RunStatus::BudgetExhausted;
        assert_eq!(by_budget, result.shortage.is_some());
    }
}

/// What a model call used, within what it was granted; sometimes nobody says.
fn usage_within(request: &ModelRequest, dice: &mut Dice<'_>) -> TokenUsage {
    let most = request.max_output_tokens.expect("a model call says its most");
    let output = u64::from(most).min(dice.roll(2_000) as u64);
    let input = request.messages.estimated_tokens();
    let cached = input.min(dice.roll(60) as u64);
    let known = TokenUsage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        cached_input_tokens: Some(cached).filter(|_| !dice.once_in(3)),
        ..TokenUsage::default()
    };
    if dice.once_in(4) { TokenUsage::default() } else { known }
}

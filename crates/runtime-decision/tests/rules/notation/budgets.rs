//! Decides what the budgets of a script answer: those of the run, below those of a run above it.
//!
//! Knows a tree of budgets, as a driver keeps one.

use runtime_decision::{
    Amounts, BudgetLimits, BudgetNode, BudgetTree, Charge, Effect, Machine, Outcome, Requested,
    Spent,
};

/// A run's place in a tree of its own.
#[derive(Debug)]
pub(crate) struct Budgets {
    tree: BudgetTree,
    above: BudgetNode,
    run: BudgetNode,
}

impl Budgets {
    /// With what the run used and reserved before.
    pub(crate) fn of(machine: &Machine, above: &BudgetLimits) -> Self {
        let (mut tree, above) = BudgetTree::new(above.clone(), &Amounts::default());
        let run = tree.open(&above, machine.budget().clone(), &machine.spent().charged);
        for (reservation, amounts) in machine.reservations() {
            tree.hold(&run, reservation.0, amounts.clone());
        }
        Self { tree, above, run }
    }

    pub(crate) fn answer(&mut self, asked: &Requested) -> Outcome {
        let Effect::Reserve { wanted, least } = &asked.effect else { panic!("no reservation") };
        Outcome::Reserved(self.tree.reserve(&self.run, asked.id.0, wanted, least))
    }

    pub(crate) fn charge(&mut self, charge: &Charge) {
        self.tree.charge(&self.run, charge.reservation.0, &charge.used);
    }

    /// `tokens=5`: another run below the same one used that.
    pub(crate) fn others_use(&mut self, word: &str) {
        let (_, tokens) = word.split_once('=').expect("an amount");
        let used = Amounts { tokens: tokens.parse().expect("a number"), ..Amounts::default() };
        self.tree.charge(&self.above, u64::MAX, &used);
    }

    /// `tokens=5 calls=1`: runs below the run used that, and told it to the tree.
    pub(crate) fn spent_below(&mut self, words: &[&str]) -> Spent {
        let mut spent = Spent::default();
        for word in words {
            let (name, amount) = word.split_once('=').expect("an amount");
            let amount = amount.parse().expect("a number");
            match name {
                "tokens" => {
                    spent.charged.tokens = amount;
                    spent.tokens.at_least = amount;
                }
                "calls" => spent.charged.model_calls = amount,
                "runs" => spent.charged.sub_tasks = amount,
                other => panic!("{other} is nothing that is used"),
            }
        }
        self.tree.charge(&self.run, u64::MAX, &spent.charged);
        spent
    }

    /// What the run and all above it used, and whether nothing is reserved any more.
    pub(crate) fn settled(&self) -> (Amounts, bool) {
        let is_free = self.tree.standing(&self.run).iter().all(|it| it.reserved == 0);
        (self.tree.used(&self.run), is_free)
    }
}

//! Decides nothing: keeps the tree of budgets that the runs of one family share.
//!
//! Knows a tree and one place in it; refuses to know what is spent for what. Invariants: the lock is
//! held for arithmetic alone, never while anything is waited for; what a run has reserved when it is
//! dropped counts as used.

#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use runtime_decision::{
    Amounts, BudgetNode, BudgetStanding, BudgetTree, EffectId, Grant, Machine, Outcome, Shortage,
    Task,
};

type Shared = Arc<Mutex<BudgetTree>>;

/// Number of a reservation that no effect has.
const OF_A_CALL: u64 = u64::MAX;

/// The place of one run in the tree of budgets.
pub(super) struct RunBudget {
    tree: Shared,
    /// There until it is given back.
    node: Option<BudgetNode>,
}

impl RunBudget {
    /// The place of a run: below that of the run which started it, or in a tree of its own. None
    /// where no budget applies. What the run used and reserved in an earlier life counts again.
    pub(super) fn of(machine: &Machine, above: Option<&Arc<Self>>) -> Option<Arc<Self>> {
        let (limits, used) = (machine.budget().clone(), machine.spent().charged);
        let (tree, node) = match above.map(|above| &**above) {
            Some(Self { tree, node: Some(above) }) => {
                let node = locked(tree).open(above, limits, &used);
                (Arc::clone(tree), node)
            }
            _ if !machine.is_budgeted() => return None,
            _ => {
                let (tree, node) = BudgetTree::new(limits, &used);
                (Arc::new(Mutex::new(tree)), node)
            }
        };
        for (reservation, amounts) in machine.reservations() {
            locked(&tree).hold(&node, reservation.0, amounts.clone());
        }
        Some(Arc::new(Self { tree, node: Some(node) }))
    }

    /// Tells a task which budgets apply to its run from above.
    pub(super) fn tell(above: Option<&Arc<Self>>, task: &mut Task) {
        let Some(Self { tree, node: Some(node) }) = above.map(|above| &**above) else { return };
        let tree = locked(tree);
        task.budgeted |= tree.limits_anything(node);
        task.cost_budgeted |= tree.limits_cost(node);
    }

    /// Takes one run from what is left, for a call that starts it at once.
    pub(super) fn take_run(&self) -> Result<(), Shortage> {
        let one = Amounts::of_sub_tasks(1);
        self.with(|tree, node| {
            tree.reserve(node, OF_A_CALL, &one, &one)?;
            tree.charge(node, OF_A_CALL, &one);
            Ok(())
        })
    }

    /// Reserves, and says so in the words of an outcome.
    pub(super) fn reserve(&self, id: EffectId, wanted: &Amounts, least: &Amounts) -> Outcome {
        Outcome::Reserved(self.with(|tree, node| tree.reserve(node, id.0, wanted, least)))
    }

    pub(super) fn charge(&self, reservation: EffectId, used: &Amounts) {
        self.with(|tree, node| tree.charge(node, reservation.0, used));
    }

    /// Gives back what was reserved, if something was.
    pub(super) fn cancel(&self, reservation: EffectId) {
        self.with(|tree, node| tree.cancel(node, reservation.0));
    }

    /// Counts what is reserved as used: nobody will say what became of it.
    pub(super) fn consume(&self) {
        self.with(BudgetTree::consume);
    }

    /// The budgets that apply, as they stand.
    pub(super) fn standing(&self) -> Vec<BudgetStanding> {
        self.with(|tree, node| tree.standing(node))
    }

    fn with<T>(&self, spend: impl FnOnce(&mut BudgetTree, &BudgetNode) -> T) -> T {
        let node = self.node.as_ref().expect("a place is given back when it is dropped");
        spend(&mut locked(&self.tree), node)
    }
}

/// What is asked of a budget that is not there is granted.
pub(super) fn unlimited(wanted: &Amounts) -> Outcome {
    let granted = Grant { amounts: wanted.clone(), kept_short_by: None };
    Outcome::Reserved(Ok::<_, Shortage>(granted))
}

fn locked(tree: &Shared) -> MutexGuard<'_, BudgetTree> {
    // Arithmetic leaves no half-made change behind.
    tree.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for RunBudget {
    fn drop(&mut self) {
        if let Some(node) = self.node.take() {
            locked(&self.tree).close(node);
        }
    }
}

impl fmt::Debug for RunBudget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunBudget").field("standing", &self.standing()).finish()
    }
}

/// The spending of one run: what it has reserved when it ends counts as used, whoever still looks
/// at its budgets.
#[derive(Debug)]
pub(super) struct Spender(pub(super) Option<Arc<RunBudget>>);

impl Spender {
    pub(super) fn reserve(&self, id: EffectId, wanted: &Amounts, least: &Amounts) -> Outcome {
        match &self.0 {
            Some(budget) => budget.reserve(id, wanted, least),
            None => unlimited(wanted),
        }
    }

    pub(super) fn charge(&self, reservation: EffectId, used: &Amounts) {
        self.0.iter().for_each(|budget| budget.charge(reservation, used));
    }

    pub(super) fn cancel(&self, reservation: EffectId) {
        self.0.iter().for_each(|budget| budget.cancel(reservation));
    }
}

impl Drop for Spender {
    fn drop(&mut self) {
        self.0.iter().for_each(|budget| budget.consume());
    }
}

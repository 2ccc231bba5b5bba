//! Decides whether something may be spent, by the budgets of a run and of all runs above it.
//!
//! Knows amounts only: no prices, no time, nobody who spends. Invariants: as long as nothing costs
//! more than was reserved for it, no budget of the tree is overspent, whoever asks first; what a
//! node has used is what it used itself and what those below it used; what is reserved is settled
//! once.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::{Amounts, BudgetLimits, BudgetName, Grant, Shortage};

/// The budgets of one run, as a place in the tree. It cannot be copied: whoever holds it is the
/// one who spends there, and gives it back with [`BudgetTree::close`].
#[derive(Debug, PartialEq, Eq)]
pub struct BudgetNode(u64);

/// A budget as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetStanding {
    /// Which. Amounts are in its unit.
    pub budget: BudgetName,
    /// What it allows.
    pub limit: u64,
    /// What counts as used; more than the limit when something cost more than was reserved for it.
    pub used: u64,
    /// What is reserved for what is being done.
    pub reserved: u64,
    /// Whose it is: 0 is that of the run itself, 1 that of the run which started it, and so on.
    pub levels_above: u32,
}

impl BudgetStanding {
    /// What can still be reserved.
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used).saturating_sub(self.reserved)
    }
}

#[derive(Debug, Clone)]
struct Node {
    above: Option<u64>,
    limits: BudgetLimits,
    /// By the node itself and by all that are or were below it.
    used: Amounts,
    /// By the node itself and by all below it.
    reserved: Amounts,
    /// By the node itself.
    reservations: BTreeMap<u64, Amounts>,
    /// How many nodes stand directly below it.
    below: usize,
    is_closed: bool,
}

/// The budgets of a run and of the runs that it starts. Everything spent below counts above.
///
/// # Examples
/// ```
/// use runtime_decision::{Amounts, BudgetLimits, BudgetTree};
///
/// let limits = BudgetLimits { model_calls: Some(2), ..BudgetLimits::default() };
/// let (mut tree, run) = BudgetTree::new(limits, &Amounts::default());
/// let child = tree.open(&run, BudgetLimits::default(), &Amounts::default());
///
/// let call = Amounts { model_calls: 1, ..Amounts::default() };
/// tree.reserve(&run, 1, &call, &call)?;
/// tree.reserve(&child, 1, &call, &call)?;
/// tree.charge(&child, 1, &call);
/// let refused = tree.reserve(&child, 2, &call, &call).unwrap_err();
/// assert_eq!((refused.used, refused.reserved, refused.levels_above), (1, 1, 1));
/// # Ok::<(), runtime_decision::Shortage>(())
/// ```
#[derive(Debug, Clone)]
pub struct BudgetTree {
    nodes: BTreeMap<u64, Node>,
    last: u64,
}

impl BudgetTree {
    /// A tree with the budgets of one run, of which `used` was used before.
    #[must_use]
    pub fn new(limits: BudgetLimits, used: &Amounts) -> (Self, BudgetNode) {
        let mut tree = Self { nodes: BTreeMap::new(), last: 0 };
        let node = tree.add(None, limits, used);
        (tree, node)
    }

    /// The budgets of a run that another starts. What it used before, in an earlier life, counts
    /// from now on; above it too.
    pub fn open(&mut self, above: &BudgetNode, limits: BudgetLimits, used: &Amounts) -> BudgetNode {
        if let Some(node) = self.nodes.get_mut(&above.0) {
            node.below += 1;
        }
        self.add(Some(above.0), limits, used)
    }

    fn add(&mut self, above: Option<u64>, limits: BudgetLimits, used: &Amounts) -> BudgetNode {
        self.last += 1;
        let node = Node {
            above,
            limits,
            used: Amounts::default(),
            reserved: Amounts::default(),
            reservations: BTreeMap::new(),
            below: 0,
            is_closed: false,
        };
        self.nodes.insert(self.last, node);
        self.each_from(self.last, |node| node.used.add(used));
        BudgetNode(self.last)
    }

    /// Reserves in the node and everywhere above it, or nowhere. What is granted of each kind is as
    /// much of `wanted` as there is, and not less than `least`. A reservation of the same number
    /// is given back first.
    ///
    /// # Errors
    /// The first budget, from the node upwards, of which less than `least` is left.
    pub fn reserve(
        &mut self,
        node: &BudgetNode,
        reservation: u64,
        wanted: &Amounts,
        least: &Amounts,
    ) -> Result<Grant, Shortage> {
        self.cancel(node, reservation);
        let mut grant = Grant { amounts: wanted.clone().at_least(least), kept_short_by: None };
        let (mut next, mut levels_above) = (Some(node.0), 0);
        while let Some(node) = next.and_then(|place| self.nodes.get(&place)) {
            node.admit(least, levels_above, &mut grant)?;
            (next, levels_above) = (node.above, levels_above + 1);
        }
        self.hold(node, reservation, grant.amounts.clone());
        Ok(grant)
    }

    /// Takes up a reservation that was granted in an earlier life of the run, without asking.
    pub fn hold(&mut self, node: &BudgetNode, reservation: u64, amounts: Amounts) {
        self.each_from(node.0, |node| node.reserved.add(&amounts));
        if let Some(node) = self.nodes.get_mut(&node.0) {
            node.reservations.insert(reservation, amounts);
        }
    }

    /// Settles a reservation: `used` counts in its place, more than it was included. Without such a
    /// reservation `used` counts all the same.
    pub fn charge(&mut self, node: &BudgetNode, reservation: u64, used: &Amounts) {
        let own = self.nodes.get_mut(&node.0);
        let held = own.and_then(|node| node.reservations.remove(&reservation)).unwrap_or_default();
        self.each_from(node.0, |node| {
            node.reserved.take(&held);
            node.used.add(used);
        });
    }

    /// Gives a reservation back: nothing of it was used.
    pub fn cancel(&mut self, node: &BudgetNode, reservation: u64) {
        self.charge(node, reservation, &Amounts::default());
    }

    /// Counts as used whatever the node itself has reserved: nobody will say what became of it.
    pub fn consume(&mut self, node: &BudgetNode) {
        let Some(own) = self.nodes.get(&node.0) else { return };
        let held: Vec<_> = own.reservations.iter().map(|(id, held)| (*id, held.clone())).collect();
        held.iter().for_each(|(reservation, held)| self.charge(node, *reservation, held));
    }

    /// Ends the spending of a run. What it has reserved counts as used; what it used stays above.
    #[expect(clippy::needless_pass_by_value, reason = "nobody spends there any more")]
    pub fn close(&mut self, node: BudgetNode) {
        self.consume(&node);
        let mut next = self.nodes.get_mut(&node.0).map(|own| {
            own.is_closed = true;
            node.0
        });
        // A node stays as long as one below it: what is spent there counts above both.
        while let Some(place) = next {
            let is_gone = |node: &Node| node.is_closed && node.below == 0;
            if !self.nodes.get(&place).is_some_and(is_gone) {
                return;
            }
            next = self.nodes.remove(&place).and_then(|node| node.above);
            if let Some(above) = next.and_then(|above| self.nodes.get_mut(&above)) {
                above.below = above.below.saturating_sub(1);
            }
        }
    }

    /// What the node and all below it used.
    #[must_use]
    pub fn used(&self, node: &BudgetNode) -> Amounts {
        self.nodes.get(&node.0).map(|node| node.used.clone()).unwrap_or_default()
    }

    /// The budgets that hold for the node, its own first, then those of the runs above it.
    #[must_use]
    pub fn standing(&self, node: &BudgetNode) -> Vec<BudgetStanding> {
        let mut standing = Vec::new();
        let (mut next, mut levels_above) = (Some(node.0), 0);
        while let Some(node) = next.and_then(|place| self.nodes.get(&place)) {
            standing.extend(node.limits.each().map(|(budget, limit)| BudgetStanding {
                limit,
                used: node.used.of(&budget),
                reserved: node.reserved.of(&budget),
                levels_above,
                budget,
            }));
            (next, levels_above) = (node.above, levels_above + 1);
        }
        standing
    }

    /// Whether the cost is limited, for the node or above it.
    #[must_use]
    pub fn limits_cost(&self, node: &BudgetNode) -> bool {
        self.standing(node).iter().any(|it| it.budget == BudgetName::Cost)
    }

    /// Whether anything is limited, for the node or above it.
    #[must_use]
    pub fn limits_anything(&self, node: &BudgetNode) -> bool {
        let mut next = Some(node.0);
        while let Some(node) = next.and_then(|place| self.nodes.get(&place)) {
            if !node.limits.is_empty() {
                return true;
            }
            next = node.above;
        }
        false
    }

    fn each_from(&mut self, place: u64, mut change: impl FnMut(&mut Node)) {
        let mut next = Some(place);
        while let Some(node) = next.and_then(|place| self.nodes.get_mut(&place)) {
            change(node);
            next = node.above;
        }
    }
}

impl Node {
    /// Keeps the grant within what is left here.
    fn admit(&self, least: &Amounts, levels_above: u32, grant: &mut Grant) -> Result<(), Shortage> {
        self.admit_depth(least, levels_above)?;
        for (budget, limit) in self.limits.each() {
            let (used, reserved) = (self.used.of(&budget), self.reserved.of(&budget));
            let (left, needed) =
                (limit.saturating_sub(used).saturating_sub(reserved), least.of(&budget));
            let wanted = grant.amounts.of(&budget);
            if needed <= left && wanted <= left {
                continue;
            }
            grant.amounts.keep_below(&budget, left);
            let lacks = needed > left;
            let needed = if lacks { needed } else { wanted };
            let shortage = Shortage { budget, limit, used, reserved, needed, levels_above };
            if lacks {
                return Err(shortage);
            }
            grant.kept_short_by.get_or_insert_with(|| Box::new(shortage));
        }
        Ok(())
    }

    /// A run that is started here stands one level below the node that starts it.
    fn admit_depth(&self, least: &Amounts, levels_above: u32) -> Result<(), Shortage> {
        let depth = levels_above.saturating_add(1);
        match self.limits.sub_task_depth {
            Some(most) if least.sub_tasks > 0 && depth > most => Err(Shortage {
                budget: BudgetName::SubTaskDepth,
                limit: most.into(),
                used: levels_above.into(),
                reserved: 0,
                needed: 1,
                levels_above,
            }),
            _ => Ok(()),
        }
    }
}

//! Decides whether no budget of a tree is overspent, whoever spends and in whichever order.

use std::{collections::BTreeMap, sync::Arc};

use proptest::prelude::*;

use super::{BudgetNode, BudgetTree};
use crate::{Amounts, BudgetLimits, BudgetName, Shortage};

fn calls(model_calls: u64) -> Amounts {
    Amounts { model_calls, ..Amounts::default() }
}

fn tokens(tokens: u64) -> Amounts {
    Amounts { tokens, ..Amounts::default() }
}

fn at_most(tokens: u64) -> BudgetLimits {
    BudgetLimits { tokens: Some(tokens), ..BudgetLimits::default() }
}

fn refusal(shortage: &Shortage) -> (String, u64, u64, u64, u32) {
    let Shortage { budget, used, reserved, needed, levels_above, .. } = shortage;
    (budget.to_string(), *used, *reserved, *needed, *levels_above)
}

#[test]
fn what_is_granted_lies_between_the_least_and_the_wanted() {
    let (mut tree, run) = BudgetTree::new(at_most(100), &Amounts::default());
    let whole = tree.reserve(&run, 1, &tokens(60), &tokens(10)).unwrap();
    assert_eq!((whole.amounts, whole.kept_short_by), (tokens(60), None));
    let part = tree.reserve(&run, 2, &tokens(60), &tokens(10)).unwrap();
    assert_eq!(part.amounts, tokens(40));
    assert_eq!(refusal(&part.kept_short_by.unwrap()), ("tokens".into(), 0, 60, 60, 0));
    let refused = tree.reserve(&run, 3, &tokens(60), &tokens(10)).unwrap_err();
    assert_eq!(refusal(&refused), ("tokens".into(), 0, 100, 10, 0));
    assert_eq!(
        refused.to_string(),
        "the budget tokens is used up: 0 of 100, 100 reserved, and 10 more needed; \
         allow more, or make the task smaller"
    );
    assert!(tree.reserve(&run, 4, &calls(9), &calls(9)).is_ok(), "what is not limited is granted");
}

#[test]
fn what_is_used_takes_the_place_of_what_was_reserved() {
    let (mut tree, run) = BudgetTree::new(at_most(100), &tokens(10));
    tree.reserve(&run, 1, &tokens(50), &tokens(50)).unwrap();
    tree.charge(&run, 1, &tokens(20));
    assert_eq!(tree.standing(&run)[0].left(), 70);
    tree.charge(&run, 1, &tokens(5));
    assert_eq!(tree.standing(&run)[0].left(), 65, "what nobody reserved counts all the same");
    tree.reserve(&run, 2, &tokens(50), &tokens(50)).unwrap();
    tree.cancel(&run, 2);
    assert_eq!(tree.standing(&run)[0].left(), 65);
    tree.reserve(&run, 3, &tokens(50), &tokens(50)).unwrap();
    tree.charge(&run, 3, &tokens(500));
    assert_eq!(tree.standing(&run)[0].left(), 0);
    let refused = tree.reserve(&run, 4, &tokens(1), &tokens(1)).unwrap_err();
    assert_eq!(refused.used, 535, "an excess is not forgotten");
}

#[test]
fn a_refusal_names_the_first_budget_upwards_and_takes_nothing() {
    let (mut tree, run) = BudgetTree::new(at_most(100), &Amounts::default());
    let child = tree.open(&run, at_most(500), &Amounts::default());
    let grandchild = tree.open(&child, BudgetLimits::default(), &Amounts::default());
    let refused = tree.reserve(&grandchild, 1, &tokens(101), &tokens(101)).unwrap_err();
    assert_eq!(refusal(&refused), ("tokens".into(), 0, 0, 101, 2));
    let refused = tree.reserve(&grandchild, 1, &tokens(501), &tokens(501)).unwrap_err();
    assert_eq!(refusal(&refused), ("tokens".into(), 0, 0, 501, 1));
    assert!(tree.standing(&grandchild).iter().all(|it| it.reserved == 0));
}

#[test]
fn tools_are_counted_by_name_and_a_batch_is_admitted_whole_or_not_at_all() {
    let (read, delete): (Arc<str>, Arc<str>) = ("read".into(), "delete".into());
    let limits = BudgetLimits {
        tool_calls: Some(4),
        tool_calls_by_name: BTreeMap::from([(Arc::clone(&delete), 1)]),
        ..BudgetLimits::default()
    };
    let (mut tree, run) = BudgetTree::new(limits, &Amounts::default());
    let batch = Amounts::of_tools([&delete, &read, &delete]);
    let refused = tree.reserve(&run, 1, &batch, &batch).unwrap_err();
    assert_eq!(refusal(&refused), ("tool_calls:delete".into(), 0, 0, 2, 0));
    let batch = Amounts::of_tools([&delete, &read]);
    tree.reserve(&run, 1, &batch, &batch).unwrap();
    tree.charge(&run, 1, &Amounts::of_tools([&read]));
    tree.reserve(&run, 2, &batch, &batch).unwrap();
    tree.charge(&run, 2, &batch);
    let refused = tree.reserve(&run, 3, &batch, &batch).unwrap_err();
    assert_eq!(refusal(&refused), ("tool_calls".into(), 3, 0, 2, 0));
}

#[test]
fn sub_tasks_are_limited_in_number_and_in_depth() {
    let limits =
        BudgetLimits { sub_task_depth: Some(1), sub_tasks: Some(2), ..BudgetLimits::default() };
    let (mut tree, run) = BudgetTree::new(limits, &Amounts::default());
    let one = Amounts::of_sub_tasks(1);
    tree.reserve(&run, 1, &one, &one).unwrap();
    tree.charge(&run, 1, &one);
    let child = tree.open(&run, BudgetLimits::default(), &Amounts::default());
    let refused = tree.reserve(&child, 1, &one, &one).unwrap_err();
    assert_eq!(refusal(&refused), ("sub_task_depth".into(), 1, 0, 1, 1));
    tree.close(child);
    tree.reserve(&run, 2, &one, &one).unwrap();
    let refused = tree.reserve(&run, 3, &one, &one).unwrap_err();
    assert_eq!(refusal(&refused), ("sub_tasks".into(), 1, 1, 1, 0));
    let closed = BudgetLimits { sub_task_depth: Some(0), ..BudgetLimits::default() };
    let (mut tree, run) = BudgetTree::new(closed, &Amounts::default());
    let refused = tree.reserve(&run, 1, &one, &one).unwrap_err();
    assert_eq!(refusal(&refused), ("sub_task_depth".into(), 0, 0, 1, 0));
}

#[test]
fn a_node_that_ends_leaves_what_it_used_and_nothing_reserved() {
    let (mut tree, run) = BudgetTree::new(at_most(100), &Amounts::default());
    let child = tree.open(&run, BudgetLimits::default(), &tokens(7));
    let grandchild = tree.open(&child, BudgetLimits::default(), &Amounts::default());
    tree.reserve(&child, 1, &tokens(10), &tokens(10)).unwrap();
    tree.reserve(&grandchild, 1, &tokens(20), &tokens(20)).unwrap();
    tree.close(child);
    assert_eq!((tree.standing(&run)[0].used, tree.standing(&run)[0].reserved), (17, 20));
    tree.charge(&grandchild, 1, &tokens(3));
    tree.close(grandchild);
    assert_eq!((tree.standing(&run)[0].used, tree.standing(&run)[0].reserved), (20, 0));
    assert_eq!(tree.nodes.len(), 1, "nothing is kept of who is gone");
    let last = tree.open(&run, BudgetLimits::default(), &Amounts::default());
    tree.close(run);
    tree.close(last);
    assert!(tree.nodes.is_empty());
}

/// One thing that somebody in the tree does.
#[derive(Debug, Clone)]
enum Move {
    Open(usize, BudgetLimits),
    Reserve(usize, Amounts, Amounts),
    Charge(usize, usize, Amounts),
    Cancel(usize, usize),
    Close(usize),
}

fn amounts() -> impl Strategy<Value = Amounts> {
    (0..40_u64, 0..20_u64, 0..40_u64, 0..3_u64, 0..3_u64, 0..2_u64).prop_map(
        |(tokens, uncached_input_tokens, cost_nano_usd, model_calls, tools, sub_tasks)| {
            let name: Arc<str> = "t".into();
            let by_name = std::iter::repeat_n(&name, usize::try_from(tools).unwrap());
            let tools = Amounts::of_tools(by_name);
            Amounts {
                tokens,
                uncached_input_tokens,
                cost_nano_usd,
                model_calls,
                sub_tasks,
                ..tools
            }
        },
    )
}

fn limits() -> impl Strategy<Value = BudgetLimits> {
    let most = |most: u64| proptest::option::of(0..most);
    (most(300), most(150), most(300), most(12), most(12), most(6)).prop_map(
        |(tokens, uncached_input_tokens, cost_nano_usd, model_calls, tool_calls, sub_tasks)| {
            let by_name = tool_calls.map(|calls| (Arc::from("t"), calls / 2 + 1));
            BudgetLimits {
                tokens,
                uncached_input_tokens,
                cost_nano_usd,
                model_calls,
                tool_calls,
                tool_calls_by_name: by_name.into_iter().collect(),
                sub_tasks,
                sub_task_depth: None,
            }
        },
    )
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        2 => (any::<usize>(), limits()).prop_map(|(at, limits)| Move::Open(at, limits)),
        8 => (any::<usize>(), amounts(), amounts())
            .prop_map(|(at, wanted, least)| Move::Reserve(at, wanted, least)),
        6 => (any::<usize>(), any::<usize>(), amounts())
            .prop_map(|(at, which, used)| Move::Charge(at, which, used)),
        1 => (any::<usize>(), any::<usize>()).prop_map(|(at, which)| Move::Cancel(at, which)),
        1 => any::<usize>().prop_map(Move::Close),
    ];
    proptest::collection::vec(one, 0..120)
}

/// Somebody in the tree, with what is known about them from outside.
struct Spender {
    node: BudgetNode,
    held: Vec<(u64, Amounts)>,
    used: Amounts,
}

/// A tree, its spenders, and a book of the same things that is kept by other means.
struct Book {
    tree: BudgetTree,
    spenders: Vec<Option<Spender>>,
    above: Vec<Option<usize>>,
    limits: Vec<BudgetLimits>,
    /// What each used itself, gone ones included.
    own: Vec<Amounts>,
    last: u64,
}

impl Book {
    fn new(limits: BudgetLimits) -> Self {
        let (tree, node) = BudgetTree::new(limits.clone(), &Amounts::default());
        let root = Spender { node, held: Vec::new(), used: Amounts::default() };
        Self {
            tree,
            spenders: vec![Some(root)],
            above: vec![None],
            limits: vec![limits],
            own: vec![Amounts::default()],
            last: 0,
        }
    }

    /// A spender who is there.
    fn pick(&self, at: usize) -> usize {
        let there: Vec<_> =
            (0..self.spenders.len()).filter(|place| self.spenders[*place].is_some()).collect();
        there[at % there.len()]
    }

    /// Does one thing; whoever holds a reservation uses at most what was granted when `is_honest`.
    fn make(&mut self, one: Move, is_honest: bool) {
        match one {
            Move::Open(at, limits) => {
                let above = self.pick(at);
                let node = &self.spenders[above].as_ref().unwrap().node;
                let node = self.tree.open(node, limits.clone(), &Amounts::default());
                let used = Amounts::default();
                self.spenders.push(Some(Spender { node, held: Vec::new(), used }));
                self.above.push(Some(above));
                self.limits.push(limits);
                self.own.push(Amounts::default());
            }
            Move::Reserve(at, wanted, least) => {
                let at = self.pick(at);
                let mut kept = least;
                kept.take(&surplus(&kept, &wanted));
                self.last += 1;
                let spender = self.spenders[at].as_mut().unwrap();
                let granted = self.tree.reserve(&spender.node, self.last, &wanted, &kept);
                if let Ok(grant) = granted {
                    assert_eq!(grant.amounts.clone().at_least(&kept), grant.amounts);
                    assert_eq!(grant.amounts.clone().at_least(&wanted), wanted);
                    spender.held.push((self.last, grant.amounts));
                }
            }
            Move::Charge(at, which, used) => self.settle(at, which, Some((used, is_honest))),
            Move::Cancel(at, which) => self.settle(at, which, None),
            Move::Close(at) => {
                let at = self.pick(at);
                if at > 0 {
                    let spender = self.spenders[at].take().unwrap();
                    spender.held.iter().for_each(|(_, held)| self.own[at].add(held));
                    self.tree.close(spender.node);
                }
            }
        }
    }

    fn settle(&mut self, at: usize, which: usize, used: Option<(Amounts, bool)>) {
        let at = self.pick(at);
        let spender = self.spenders[at].as_mut().unwrap();
        if spender.held.is_empty() {
            return;
        }
        let (reservation, granted) = spender.held.remove(which % spender.held.len());
        let Some((mut used, is_honest)) = used else {
            return self.tree.cancel(&spender.node, reservation);
        };
        if is_honest {
            used.take(&surplus(&used, &granted));
        }
        spender.used.add(&used);
        self.own[at].add(&used);
        self.tree.charge(&spender.node, reservation, &used);
    }

    /// What `place` and all that ever stood below it used, and hold.
    fn sums(&self, place: usize) -> (Amounts, Amounts) {
        let (mut used, mut held) = (Amounts::default(), Amounts::default());
        for below in (0..self.own.len()).filter(|below| self.stands_below(*below, place)) {
            used.add(&self.own[below]);
            let spender = self.spenders[below].as_ref();
            spender.iter().flat_map(|it| &it.held).for_each(|(_, amounts)| held.add(amounts));
        }
        (used, held)
    }

    fn stands_below(&self, below: usize, place: usize) -> bool {
        std::iter::successors(Some(below), |at| self.above[*at]).any(|at| at == place)
    }

    fn check(&self, is_honest: bool) {
        for place in 0..self.own.len() {
            let Some(spender) = &self.spenders[place] else { continue };
            let (used, held) = self.sums(place);
            assert_eq!(self.tree.used(&spender.node), used, "who is below counts above");
            for standing in self.tree.standing(&spender.node) {
                if standing.levels_above > 0 {
                    continue;
                }
                let name = &standing.budget;
                assert_eq!((standing.used, standing.reserved), (used.of(name), held.of(name)));
            }
            if is_honest {
                for (name, limit) in self.limits[place].each() {
                    let promised = used.of(&name) + held.of(&name);
                    assert!(promised <= limit, "{name} of {place}: {promised} of {limit}");
                }
            }
        }
    }
}

/// What of `amounts` is more than `most`.
fn surplus(amounts: &Amounts, most: &Amounts) -> Amounts {
    let mut surplus = amounts.clone();
    surplus.take(most);
    surplus
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_budget_is_overspent_while_nothing_costs_more_than_was_granted(
        limits in limits(),
        moves in moves(),
    ) {
        let mut book = Book::new(limits);
        for one in moves {
            book.make(one, true);
            book.check(true);
        }
    }

    #[test]
    fn nothing_leaks_whatever_is_used(limits in limits(), moves in moves()) {
        let mut book = Book::new(limits);
        for one in moves {
            book.make(one, false);
            book.check(false);
        }
        for place in (1..book.spenders.len()).rev() {
            if let Some(spender) = book.spenders[place].take() {
                spender.held.iter().for_each(|(_, held)| book.own[place].add(held));
                book.tree.close(spender.node);
            }
        }
        book.check(false);
        prop_assert_eq!(book.tree.nodes.len(), 1);
        let root = book.spenders[0].take().unwrap();
        book.tree.close(root.node);
        prop_assert!(book.tree.nodes.is_empty());
    }

    #[test]
    fn what_one_run_lacks_another_was_granted(
        limits in limits(),
        moves in moves(),
        wanted in amounts(),
    ) {
        let mut book = Book::new(limits);
        moves.into_iter().for_each(|one| book.make(one, true));
        let root = &book.spenders[0].as_ref().unwrap().node;
        let before = book.tree.standing(root);
        match book.tree.clone().reserve(root, u64::MAX, &wanted, &wanted) {
            Ok(grant) => prop_assert_eq!(grant.amounts, wanted),
            Err(shortage) => {
                let lacking = before.iter().find(|it| it.budget == shortage.budget).unwrap();
                prop_assert!(lacking.left() < wanted.of(&shortage.budget));
            }
        }
        prop_assert!(BudgetName::named(&BudgetName::ToolCallsOf("t".into()).to_string())
            == BudgetName::ToolCallsOf("t".into()));
    }
}

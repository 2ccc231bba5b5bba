//! Decides whether runs that spend at the same time share their budgets and leave nothing behind.

use std::{sync::Arc, thread};

use runtime_decision::{
    Amounts, BudgetLimits, Definition, EffectId, Grant, Machine, Outcome, Plan, RunIdentity, Task,
};

use super::{RunBudget, Spender};

fn machine(limits: BudgetLimits, above: Option<&Arc<RunBudget>>) -> Machine {
    let definition = Definition { budget: limits, ..Definition::new("agent", "model") };
    let plan = Arc::new(Plan::new(definition).expect("a definition"));
    let mut task = Task::new("go");
    RunBudget::tell(above, &mut task);
    Machine::new(plan, RunIdentity::root("run", "task", "agent"), task)
}

fn tokens(tokens: u64) -> Amounts {
    Amounts { tokens, ..Amounts::default() }
}

fn at_most(tokens: u64) -> BudgetLimits {
    BudgetLimits { tokens: Some(tokens), ..BudgetLimits::default() }
}

fn granted(outcome: Outcome) -> Option<u64> {
    match outcome {
        Outcome::Reserved(Ok(Grant { amounts, .. })) => Some(amounts.tokens),
        _ => None,
    }
}

#[test]
fn runs_that_spend_at_once_never_overspend_together() {
    const LIMIT: u64 = 10_000;
    let parent = RunBudget::of(&machine(at_most(LIMIT), None), None).expect("a budget");
    let children: Vec<_> = (0..8_u64)
        .map(|child| {
            let parent = Arc::clone(&parent);
            thread::spawn(move || {
                let machine = machine(BudgetLimits::default(), Some(&parent));
                assert!(machine.is_budgeted(), "a child is told of the budget above");
                let own = RunBudget::of(&machine, Some(&parent)).expect("a budget");
                let spender = Spender(Some(own));
                for number in 1..200 {
                    let (id, wanted) = (EffectId(number), 10 + (number * 7 + child) % 90);
                    let Some(most) = granted(spender.reserve(id, &tokens(wanted), &tokens(10)))
                    else {
                        break;
                    };
                    let standing = &parent.standing()[0];
                    assert!(standing.used + standing.reserved <= LIMIT, "{standing:?}");
                    match number % 5 {
                        0 => spender.cancel(id),
                        _ => spender.charge(id, &tokens(most - number % 3)),
                    }
                }
            })
        })
        .collect();
    children.into_iter().for_each(|child| child.join().expect("a child"));
    let standing = &parent.standing()[0];
    assert_eq!(standing.reserved, 0, "who is gone holds nothing");
    assert!((LIMIT - 10..=LIMIT).contains(&standing.used), "{standing:?}");
}

#[test]
fn what_a_dropped_run_had_reserved_counts_as_used_also_while_somebody_looks_on() {
    let parent = RunBudget::of(&machine(at_most(100), None), None).expect("a budget");
    let child = machine(at_most(60), Some(&parent));
    let own = RunBudget::of(&child, Some(&parent)).expect("a budget");
    let spender = Spender(Some(Arc::clone(&own)));
    assert_eq!(granted(spender.reserve(EffectId(1), &tokens(50), &tokens(50))), Some(50));
    drop(spender);
    let standing = own.standing();
    let used: Vec<_> = standing.iter().map(|it| (it.used, it.reserved, it.levels_above)).collect();
    assert_eq!(used, [(50, 0, 0), (50, 0, 1)]);
    drop(own);
    assert_eq!(parent.standing()[0].left(), 50);
}

#[test]
fn a_child_is_told_that_the_cost_is_limited_above() {
    let limits = BudgetLimits { cost_nano_usd: Some(1), ..BudgetLimits::default() };
    let root = RunBudget::of(&machine(limits, None), None).expect("a budget");
    let child = machine(BudgetLimits::default(), Some(&root));
    let child = RunBudget::of(&child, Some(&root)).expect("a budget");
    let mut task = Task::new("go");
    RunBudget::tell(Some(&child), &mut task);
    assert!(task.budgeted && task.cost_budgeted);
    let mut free = Task::new("go");
    RunBudget::tell(None, &mut free);
    assert_eq!(free, Task::new("go"));
    assert!(RunBudget::of(&machine(BudgetLimits::default(), None), None).is_none());
}

//! Holds the tree to what a cancellation reaches, and to its bounds.

use proptest::prelude::*;
use runtime_ports::{PortFailure, PortFailureKind};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{OperationTree, REMEMBERED, Registration};

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// Registers an operation under a parent; 0 is no parent.
fn run(tree: &OperationTree, operation: u128, parent: u128) -> Result<Registration, PortFailure> {
    let parent = (parent != 0).then(|| id(parent));
    tree.register(id(operation), parent, CancellationToken::new())
}

fn kind(outcome: Result<Registration, PortFailure>) -> Option<PortFailureKind> {
    outcome.err().map(|failure| failure.kind)
}

#[test]
fn cancelling_reaches_the_operation_and_everything_below_it() {
    let tree = OperationTree::default();
    let root = run(&tree, 1, 9).unwrap();
    let child = run(&tree, 2, 1).unwrap();
    let grandchild = run(&tree, 3, 2).unwrap();
    let stranger = run(&tree, 4, 8).unwrap();
    assert!(tree.cancel(id(2)));
    let cancelled = |operation: &Registration| operation.token().is_cancelled();
    assert_eq!([&root, &child, &grandchild, &stranger].map(cancelled), [false, true, true, false]);
    assert!(tree.cancel(id(9)), "an id that runs nothing itself reaches what it caused");
    assert!(cancelled(&root) && !cancelled(&stranger));
}

#[test]
fn cancelling_again_finds_nothing_running() {
    let tree = OperationTree::default();
    let operation = run(&tree, 1, 0).unwrap();
    assert!(tree.cancel(id(1)));
    assert!(!tree.cancel(id(1)));
    assert!(!tree.cancel(id(5)), "an unknown id");
    assert!(operation.conclude(), "the operation knows that it was cancelled");
}

#[test]
fn a_concluded_operation_is_not_running() {
    let tree = OperationTree::default();
    assert!(!run(&tree, 1, 0).unwrap().conclude());
    assert!(!tree.cancel(id(1)));
}

#[test]
fn a_running_id_is_refused_and_runs_on() {
    let tree = OperationTree::default();
    let first = run(&tree, 1, 0).unwrap();
    assert_eq!(kind(run(&tree, 1, 0)), Some(PortFailureKind::Conflict));
    assert!(tree.cancel(id(1)) && first.token().is_cancelled());
}

#[test]
fn cancellation_is_sticky_for_the_id_and_for_what_it_causes() {
    let tree = OperationTree::default();
    let running = run(&tree, 2, 1).unwrap();
    tree.cancel(id(1));
    for (operation, parent) in [(1, 0), (5, 1), (6, 2), (2, 0)] {
        let refused = kind(run(&tree, operation, parent));
        let expected =
            if operation == 2 { PortFailureKind::Conflict } else { PortFailureKind::Canceled };
        assert_eq!(refused, Some(expected), "{operation} under {parent}");
    }
    drop(running);
    assert_eq!(kind(run(&tree, 2, 0)), Some(PortFailureKind::Canceled));
    assert_eq!(kind(run(&tree, 7, 6)), None, "an id that was only refused is no ancestor");
}

#[test]
fn the_children_of_an_ended_operation_are_still_reached() {
    let tree = OperationTree::default();
    drop(run(&tree, 2, 1).unwrap());
    let late = run(&tree, 3, 2).unwrap();
    assert!(tree.cancel(id(1)));
    assert!(late.token().is_cancelled());
    drop(run(&tree, 5, 4).unwrap());
    tree.cancel(id(4));
    assert_eq!(kind(run(&tree, 6, 5)), Some(PortFailureKind::Canceled));
}

#[test]
fn ended_operations_leave_no_entry() {
    let tree = OperationTree::default();
    for number in 1..=1_000 {
        let operation = run(&tree, number, 0).unwrap();
        if number % 2 == 0 { drop(operation) } else { assert!(!operation.conclude()) }
    }
    assert!(tree.lock().operations.is_empty());
}

#[test]
fn ten_thousand_cancelled_ids_are_remembered_and_the_oldest_forgotten() {
    let tree = OperationTree::default();
    let many = REMEMBERED as u128;
    for number in 1..=many + 1 {
        tree.cancel(id(number));
    }
    assert_eq!(kind(run(&tree, 1, 0)), None, "the oldest was forgotten");
    assert_eq!(kind(run(&tree, 2, 0)), Some(PortFailureKind::Canceled));
    assert_eq!(kind(run(&tree, many + 1, 0)), Some(PortFailureKind::Canceled));
    let running = tree.lock();
    assert_eq!((running.cancelled.len(), running.cancelled.order.len()), (REMEMBERED, REMEMBERED));
}

#[test]
fn the_trace_of_ended_operations_is_bounded() {
    let tree = OperationTree::default();
    for number in 1..=REMEMBERED as u128 + 10 {
        drop(run(&tree, number, 0).unwrap());
    }
    assert_eq!(tree.lock().ended.len(), REMEMBERED);
}

#[test]
fn a_chain_that_bites_its_own_tail_ends() {
    let tree = OperationTree::default();
    let (one, two) = (run(&tree, 1, 2).unwrap(), run(&tree, 2, 1).unwrap());
    let own_parent = run(&tree, 3, 3).unwrap();
    assert!(!tree.cancel(id(7)));
    assert!(tree.cancel(id(1)) && one.token().is_cancelled() && two.token().is_cancelled());
    assert!(tree.cancel(id(3)) && own_parent.token().is_cancelled());
}

proptest! {
    /// Against the plain definition: an operation is cancelled when it or an ancestor was.
    #[test]
    fn exactly_the_descendants_are_reached(
        parents in proptest::collection::vec(0usize..12, 12),
        target in 0usize..12,
    ) {
        let tree = OperationTree::default();
        let number = |index: usize| index as u128 + 1;
        let parent = |index: usize| (parents[index] < index).then(|| parents[index]);
        let running: Vec<_> = (0..12)
            .map(|index| run(&tree, number(index), parent(index).map_or(0, number)).unwrap())
            .collect();
        tree.cancel(id(number(target)));
        for (index, operation) in running.iter().enumerate() {
            let mut line = std::iter::successors(Some(index), |index| parent(*index));
            let expected = line.any(|ancestor| ancestor == target);
            prop_assert_eq!(operation.token().is_cancelled(), expected);
        }
    }
}

#[test]
fn an_operation_that_was_cancelled_causes_no_other_while_it_runs_however_many_are_cancelled() {
    let tree = OperationTree::default();
    let _winding_down = run(&tree, 1, 0).unwrap();
    assert!(tree.cancel(id(1)));
    for other in 0..=REMEMBERED as u128 {
        tree.cancel(id(100 + other));
    }
    assert_eq!(kind(run(&tree, 2, 1)), Some(PortFailureKind::Canceled));
}

#[test]
fn an_id_that_has_run_does_not_run_again_and_one_that_was_refused_may() {
    let tree = OperationTree::default();
    drop(run(&tree, 1, 0).unwrap());
    assert!(!run(&tree, 1, 0).unwrap().conclude());
    assert_eq!(kind(run(&tree, 1, 0)), Some(PortFailureKind::Conflict));
}

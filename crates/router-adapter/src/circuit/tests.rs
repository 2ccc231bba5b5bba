//! Holds circuits to their table, and to letting one call at a time find out.

use std::time::Duration;

use proptest::prelude::*;
use tokio::time::Instant;

use super::{
    Circuit, Entry, Report,
    Report::{Alive, Failed, Nothing},
};
use crate::policy::CircuitPolicy;

const POLICY: CircuitPolicy = CircuitPolicy { failures: 3, cool_down: Duration::from_secs(30) };

fn after(seconds: u64) -> Instant {
    start() + Duration::from_secs(seconds)
}

fn start() -> Instant {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    *START.get_or_init(Instant::now)
}

/// A circuit after calls at these seconds that came to this.
fn after_calls(calls: &[(u64, Report)]) -> Circuit {
    let mut circuit = Circuit::default();
    for (at, report) in calls {
        let entry = circuit.admit(after(*at)).expect("the call is let in");
        circuit.settle(entry, *report, after(*at), &POLICY);
    }
    circuit
}

#[test]
fn an_endpoint_that_fails_in_a_row_is_left_alone_for_a_while() {
    for (calls, at, is_let_in) in [
        (&[(0, Failed), (1, Failed)][..], 1, true),
        (&[(0, Failed), (1, Failed), (2, Failed)], 2, false),
        (&[(0, Failed), (1, Failed), (2, Failed)], 31, false),
        (&[(0, Failed), (1, Failed), (2, Failed)], 32, true),
        // A refusal is an answer; what says nothing changes nothing.
        (&[(0, Failed), (1, Failed), (2, Alive), (3, Failed), (4, Failed)], 4, true),
        (&[(0, Failed), (1, Nothing), (2, Failed), (3, Nothing), (4, Failed)], 4, false),
        // The call that finds out decides for all.
        (&[(0, Failed), (1, Failed), (2, Failed), (40, Failed)], 69, false),
        (&[(0, Failed), (1, Failed), (2, Failed), (40, Failed)], 70, true),
        (&[(0, Failed), (1, Failed), (2, Failed), (40, Alive)], 40, true),
        (&[(0, Failed), (1, Failed), (2, Failed), (40, Nothing)], 40, true),
    ] {
        assert_eq!(after_calls(calls).admits(after(at)), is_let_in, "{calls:?} at {at}");
    }
}

#[test]
fn one_call_finds_out_while_all_others_wait() {
    let mut circuit = after_calls(&[(0, Failed), (0, Failed), (0, Failed)]);
    assert_eq!(circuit.admit(after(29)), None);
    assert_eq!(circuit.admit(after(30)), Some(Entry::Probe));
    assert_eq!((circuit.admit(after(99)), circuit.admit_early()), (None, None));
    circuit.settle(Entry::Probe, Alive, after(99), &POLICY);
    assert_eq!(circuit, Circuit::default());
}

#[test]
fn a_call_from_before_changes_nothing_but_by_an_answer() {
    let open = after_calls(&[(0, Failed), (0, Failed), (0, Failed)]);
    let mut late = open;
    late.settle(Entry::Free, Failed, after(20), &POLICY);
    assert_eq!(late, open, "the cool-down is not drawn out");
    late.settle(Entry::Free, Alive, after(21), &POLICY);
    assert_eq!(late, Circuit::default());
}

#[test]
fn a_policy_without_failures_opens_at_the_first() {
    let policy = CircuitPolicy { failures: 0, ..POLICY };
    let mut circuit = Circuit::default();
    circuit.settle(Entry::Free, Failed, after(0), &policy);
    assert!(!circuit.admits(after(1)));
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Enter { early: bool },
    Settle { which: usize, report: Report },
    Wait { seconds: u64 },
}

fn any_step() -> impl Strategy<Value = Step> {
    let report = prop_oneof![Just(Alive), Just(Failed), Just(Failed), Just(Nothing)];
    prop_oneof![
        any::<bool>().prop_map(|early| Step::Enter { early }),
        (any::<usize>(), report).prop_map(|(which, report)| Step::Settle { which, report }),
        (0u64..20).prop_map(|seconds| Step::Wait { seconds }),
    ]
}

proptest! {
    #[test]
    fn whatever_calls_come_to_one_at_a_time_finds_out(
        steps in prop::collection::vec(any_step(), 1..80),
    ) {
        let (mut circuit, mut now) = (Circuit::default(), start());
        let mut inside: Vec<Entry> = Vec::new();
        for step in steps {
            match step {
                Step::Wait { seconds } => now += Duration::from_secs(seconds),
                Step::Enter { early } => {
                    let entry = if early { circuit.admit_early() } else { circuit.admit(now) };
                    if let (Circuit::Open { until }, false) = (circuit, early) {
                        prop_assert!(entry.is_none() && now < until, "left alone");
                    }
                    inside.extend(entry);
                }
                Step::Settle { which, report } if !inside.is_empty() => {
                    let entry = inside.swap_remove(which % inside.len());
                    circuit.settle(entry, report, now, &POLICY);
                    if report == Alive {
                        prop_assert_eq!(circuit, Circuit::default());
                    }
                }
                Step::Settle { .. } => {}
            }
            let probes = inside.iter().filter(|entry| **entry == Entry::Probe).count();
            if circuit == Circuit::Probed {
                prop_assert!(probes >= 1, "somebody finds out");
            }
        }
    }
}

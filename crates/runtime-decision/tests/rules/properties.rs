//! Decides whether what must always hold holds in random runs.
//!
//! Invariant: every random run ends, since all that is open is settled at last.

use std::collections::BTreeSet;

use proptest::prelude::*;
use runtime_decision::{Amounts, Event};

use crate::random::{
    Dice, Family, Happening, Record, Scene, World, assert_beginning_and_end, assert_truths,
    budgeted_scene, limits, replayed, steady_run, steady_scene,
};

fn config() -> ProptestConfig {
    ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() }
}

fn rolls() -> impl Strategy<Value = Vec<u16>> {
    proptest::collection::vec(any::<u16>(), 0..240)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_run_keeps_the_truths(rolls in rolls()) {
        let mut dice = Dice::new(&rolls);
        let scene = Scene::roll(&mut dice);
        let world = World::run(&scene, &mut dice);
        let result = world.machine.result().expect("a result");
        assert_truths(&world.record, &result);
        assert_beginning_and_end(&scene, &world.record, &result);
        let (again, stored) = replayed(&scene, &world.record, |_| false);
        prop_assert_eq!(stored, world.machine.to_json());
        assert_same(&world.record, &again);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn storing_and_loading_after_any_input_changes_nothing(rolls in rolls()) {
        let mut dice = Dice::new(&rolls);
        let scene = Scene::roll(&mut dice);
        let world = World::run(&scene, &mut dice);
        let (again, stored) = replayed(&scene, &world.record, |_| true);
        prop_assert_eq!(stored, world.machine.to_json());
        assert_same(&world.record, &again);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn suspending_at_any_point_comes_to_an_equivalent_end(
        rolls in rolls(),
        seed in any::<u16>(),
        suspends in proptest::collection::vec(0..60_usize, 1..8),
    ) {
        let scene = steady_scene(&mut Dice::new(&rolls));
        let straight = steady_run(&scene, seed, &[]).machine.result().expect("a result");
        let world = steady_run(&scene, seed, &suspends);
        let broken = world.machine.result().expect("a result");
        assert_truths(&world.record, &broken);
        prop_assert_eq!(broken, straight);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_budget_is_overspent_and_none_is_held_by_nobody(rolls in rolls()) {
        let mut dice = Dice::new(&rolls);
        let (scene, above) = (budgeted_scene(&mut dice), limits(&mut dice));
        let world = World::run_within(&scene, above, &mut dice);
        let result = world.machine.result().expect("a result");
        assert_truths(&world.record, &result);
        world.purse().assert_kept(&result);
        let (again, stored) = replayed(&scene, &world.record, |_| true);
        prop_assert_eq!(stored, world.machine.to_json());
        assert_same(&world.record, &again);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn runs_that_share_budgets_never_overspend_them_together(rolls in rolls()) {
        let mut dice = Dice::new(&rolls);
        let family = Family::new(limits(&mut dice));
        let scenes = [(); 3].map(|()| budgeted_scene(&mut dice));
        let worlds = World::run_together(&scenes, &family, &mut dice);
        let mut used = Amounts::default();
        for world in &worlds {
            let result = world.machine.result().expect("a result");
            assert_truths(&world.record, &result);
            world.purse().assert_kept(&result);
            used.add(&result.spent.charged);
        }
        prop_assert_eq!(family.used(), used);
    }
}

/// Runs with budgets must come to an end by each of them, and to other ends too.
#[test]
fn random_runs_use_up_every_budget() {
    let mut came_to = BTreeSet::new();
    for seed in 0..3_000 {
        let rolls = rolled(seed);
        let mut dice = Dice::new(&rolls);
        let (scene, above) = (budgeted_scene(&mut dice), limits(&mut dice));
        let result = World::run_within(&scene, above, &mut dice).machine.result();
        let result = result.expect("a result");
        came_to.extend(result.shortage.map(|shortage| {
            let above = if shortage.levels_above > 0 { " above" } else { "" };
            format!("{}{above}", shortage.budget)
        }));
        came_to.insert(format!("{:?}", result.status));
    }
    for wanted in [
        "tokens",
        "tokens above",
        "uncached_input_tokens",
        "cost",
        "cost above",
        "model_calls",
        "tool_calls",
        "tool_calls:s",
        "wall_time",
        "Completed",
        "Failed",
        "Cancelled",
    ] {
        assert!(came_to.contains(wanted), "no random run came to {wanted}: {came_to:?}");
    }
}

fn rolled(seed: u64) -> Vec<u16> {
    let mut seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(7);
    let mut roll = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u16::try_from(seed >> 48).expect("sixteen bits")
    };
    (0..200).map(|_| roll()).collect()
}

/// Random runs must come to all that can be told, or the properties say nothing.
#[test]
fn random_runs_come_to_everything() {
    let mut told = BTreeSet::new();
    let mut seed = 7_u64;
    for _ in 0..4_000 {
        let mut roll = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            u16::try_from(seed >> 48).expect("sixteen bits")
        };
        let rolls: Vec<_> = (0..200).map(|_| roll()).collect();
        let mut dice = Dice::new(&rolls);
        let scene = Scene::roll(&mut dice);
        let world = World::run(&scene, &mut dice);
        told.extend(world.record.events().flat_map(|event| words_of(&event.event)));
        told.extend(world.record.events().map(|event| event.event.name().to_owned()));
    }
    let missing: Vec<_> =
        EVERYTHING.split_whitespace().filter(|word| !told.contains(*word)).collect();
    assert!(missing.is_empty(), "no random run came to {missing:?}; they came to {told:?}");
}

/// Events, codes of calls, and codes of failed runs.
const EVERYTHING: &str = "\
    BAD LOST answer_invalid approval_broker_error approval_denied approval_provider_failed \
    approval_requested approval_resolved approval_timeout approval_unresolved \
    before_cycle_failed budget_exhausted compaction_exhausted context_audit_failed context_too_large cycle_injected_messages cycle_llm_response \
    cycle_started duplicate_tool_call_id hook_failed hook_outcome_unknown hooked \
    interruption_provider_failed memory_compact_completed memory_compact_started invalid_arguments_json invalid_arguments_payload \
    invalid_arguments_type model_empty model_failed model_incomplete model_output_limit \
    model_profile_failed policy_denied resources_failed resources_loaded run_cancelled run_completed run_failed run_max_cycles \
    run_resumed run_started run_steered run_suspended run_wait_user session_steer_dequeued \
    session_steer_interrupt skipped_due_to_budget skipped_due_to_cancel \
    skipped_due_to_failure skipped_due_to_finish skipped_due_to_incomplete_answer \
    skipped_due_to_steering skipped_due_to_wait_user tool_call_planned tool_call_started \
    tool_cancelled tool_not_allowed tool_not_found tool_outcome_unknown tool_panicked \
    tool_result tool_says_no tool_timeout";

fn words_of(event: &Event) -> Option<String> {
    match event {
        Event::ToolResult { error_code, .. } => error_code.as_deref().map(str::to_owned),
        Event::RunFailed { error_code, .. } => Some(error_code.to_string()),
        _ => None,
    }
}

/// What came of the same inputs is the same, crashes aside, which are no inputs.
fn assert_same(first: &Record, second: &Record) {
    let crashed = |it: &&Happening| **it != Happening::Crashed;
    let first: Vec<_> = first.happenings.iter().filter(crashed).collect();
    let second: Vec<_> = second.happenings.iter().collect();
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
}

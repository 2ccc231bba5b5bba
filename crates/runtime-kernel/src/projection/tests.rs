//! Decides nothing; holds the projection against a reference that is rendered anew each time.

use proptest::prelude::*;

use super::*;

const REPLACED: &str = "[Tool output was displayed here, but has since been updated and now appears elsewhere in the context]";
const REMOVED: &str = "[Tool output was displayed here, but what it showed has since been removed and is no longer part of the context]";

/// The rules of the projection, written down as plainly as possible.
#[derive(Clone, Default)]
struct Reference {
    lead: Vec<String>,
    history: Vec<(String, Vec<String>)>,
    states: Vec<(String, String)>,
}

impl Reference {
    fn update(&mut self, key: &str, text: Option<&str>) {
        let marker = if text.is_some() { REPLACED } else { REMOVED };
        for (entry, shows) in &mut self.history {
            if shows.iter().any(|shown| shown == key) {
                *entry = marker.to_owned();
                shows.clear();
            }
        }
        self.states.retain(|(other, _)| other != key);
        self.states.extend(text.map(|text| (key.to_owned(), text.to_owned())));
    }

    fn render(&self) -> String {
        let shown =
            |key: &str| self.history.iter().any(|(_, shows)| shows.iter().any(|s| s == key));
        let states = self.states.iter().filter(|(key, _)| !shown(key)).map(|(_, text)| text);
        let history = self.history.iter().map(|(text, _)| text);
        let sections = self.lead.iter().chain(history).chain(states);
        sections.filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join("\n\n")
    }

    fn estimate(&self) -> u64 {
        (self.render().chars().count() as u64).div_ceil(4) + 4_096
    }
}

#[derive(Debug, Clone)]
enum Step {
    Append(String),
    Apply { updates: Vec<(String, Option<String>)>, result: String, displayed: Vec<String> },
    HoldBudget,
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "d"]).prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![1 => Just(String::new()), 6 => "[a-zäß🦀 \n]{1,40}"]
}

fn step() -> impl Strategy<Value = Step> {
    let update = (key(), prop::option::weighted(0.8, text()));
    let apply = (prop::collection::vec(update, 0..4), text(), prop::collection::vec(key(), 0..4))
        .prop_map(|(updates, result, displayed)| Step::Apply { updates, result, displayed });
    prop_oneof![2 => text().prop_map(Step::Append), 6 => apply, 1 => Just(Step::HoldBudget)]
}

fn change(updates: &[(String, Option<String>)], result: &str, displayed: &[String]) -> Change {
    let updates =
        updates.iter().map(|(key, text)| StateUpdate { key: key.clone(), text: text.clone() });
    Change { updates: updates.collect(), result: result.to_owned(), displayed: displayed.to_vec() }
}

/// Takes the step in both; whether the change was accepted must be what the reference says.
fn take(step: &Step, projection: &mut Projection, reference: &mut Reference, limit: u64) {
    match step {
        Step::HoldBudget => {}
        Step::Append(text) => {
            projection.append(text.clone());
            reference.history.push((text.clone(), Vec::new()));
        }
        Step::Apply { updates, result, displayed } => {
            let mut candidate = reference.clone();
            for (key, text) in updates {
                candidate.update(key, text.as_deref());
            }
            candidate.history.push((result.clone(), displayed.clone()));
            let fits = candidate.estimate() <= limit;
            assert_eq!(projection.accept(change(updates, result, displayed)), fits, "acceptance");
            if fits {
                *reference = candidate;
            }
        }
    }
}

fn fits_when_replaced(reference: &Reference, key: &str, text: &str, limit: u64) -> bool {
    let mut replaced = reference.clone();
    replaced.update(key, Some(text));
    replaced.estimate() <= limit
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_agrees_with_the_reference_after_every_step(
        lead in prop::collection::vec(text(), 0..3),
        task in text(),
        steps in prop::collection::vec(step(), 1..24),
        asked in (key(), text()),
        spare in 0_u64..160,
    ) {
        let sections = lead.iter().cloned().chain([task.clone()]).collect();
        let mut reference = Reference { lead: sections, ..Reference::default() };
        let limit = reference.estimate() + spare;
        let mut projection = Projection::new(&lead, &task, limit);
        let mut held = Vec::new();
        for step in &steps {
            take(step, &mut projection, &mut reference, limit);
            prop_assert_eq!(projection.render(), reference.render());
            prop_assert_eq!(projection.estimated_tokens(), reference.estimate());
            prop_assert_eq!(projection.fits(), reference.estimate() <= limit);
            let foreseen = fits_when_replaced(&reference, &asked.0, &asked.1, limit);
            let budget = projection.budget();
            prop_assert_eq!(budget.fits_state(asked.0.clone(), asked.1.clone()), foreseen);
            if matches!(step, Step::HoldBudget) {
                held.push((budget, reference.clone()));
            }
        }
        for (budget, then) in held {
            prop_assert_eq!(budget.estimated_tokens(), then.estimate(), "a held budget stays as it was");
            let foreseen = fits_when_replaced(&then, &asked.0, &asked.1, limit);
            prop_assert_eq!(budget.fits_state(asked.0.clone(), asked.1.clone()), foreseen);
        }
    }
}

struct Script {
    projection: Projection,
}

impl Script {
    fn new() -> Self {
        Self { projection: Projection::new(&["CONTEXT".to_owned()], "TASK", 1_000_000) }
    }

    fn call(mut self, updates: &[(&str, Option<&str>)], result: &str, displayed: &[&str]) -> Self {
        let updates =
            updates.iter().map(|(key, text)| ((*key).to_owned(), text.map(str::to_owned)));
        let displayed: Vec<String> = displayed.iter().map(|key| (*key).to_owned()).collect();
        assert!(self.projection.accept(change(&updates.collect::<Vec<_>>(), result, &displayed)));
        self
    }

    fn check(self, sections: &[&str]) {
        let expected = [&["CONTEXT", "TASK"], sections].concat().join("\n\n");
        assert_eq!(self.projection.render(), expected);
    }
}

#[test]
fn a_state_that_nothing_displays_stands_at_the_end_in_order_of_its_last_update() {
    Script::new()
        .call(&[("a", Some("A1")), ("b", Some("B1"))], "first", &[])
        .call(&[("a", Some("A2"))], "second", &[])
        .check(&["first", "second", "B1", "A2"]);
}

#[test]
fn a_displayed_state_is_not_written_twice() {
    Script::new().call(&[("a", Some("A1"))], "shows A1", &["a"]).check(&["shows A1"]);
}

#[test]
fn a_replaced_value_leaves_the_exact_marker() {
    Script::new()
        .call(&[("a", Some("A1"))], "shows A1", &["a"])
        .call(&[("a", Some("A2"))], "wrote A2", &[])
        .check(&[REPLACED, "wrote A2", "A2"]);
}

#[test]
fn a_removed_value_leaves_a_truthful_marker() {
    Script::new()
        .call(&[("a", Some("A1"))], "shows A1", &["a"])
        .call(&[("a", None)], "removed", &[])
        .check(&[REMOVED, "removed"]);
}

#[test]
fn a_marker_displays_nothing_so_that_its_other_states_are_written_again() {
    Script::new()
        .call(&[("a", Some("A1")), ("b", Some("B1"))], "shows both", &["b", "a", "b"])
        .call(&[("a", Some("A2"))], "shows A2", &["a"])
        .check(&[REPLACED, "shows A2", "B1"]);
}

#[test]
fn a_marker_stays_what_it_is_when_the_value_changes_again() {
    Script::new()
        .call(&[("a", Some("A1"))], "shows A1", &["a"])
        .call(&[("a", Some("A2"))], "second", &[])
        .call(&[("a", None)], "third", &[])
        .check(&[REPLACED, "second", "third"]);
}

#[test]
fn a_key_may_be_displayed_before_it_has_a_state() {
    Script::new()
        .call(&[], "shows what the host holds", &["a"])
        .call(&[("a", Some("A1"))], "wrote", &[])
        .check(&[REPLACED, "wrote", "A1"]);
}

#[test]
fn an_empty_value_is_skipped_and_adds_no_blank_line() {
    Script::new().call(&[("a", Some(""))], "", &[]).check(&[]);
}

#[test]
fn the_estimate_is_a_quarter_of_the_scalars_rounded_up_and_the_reserve() {
    for (text, tokens) in [("", 4_096), ("a", 4_097), ("äöüß", 4_097), ("🦀🦀🦀🦀🦀", 4_098)]
    {
        assert_eq!(Projection::new(&[], text, u64::MAX).estimated_tokens(), tokens, "{text}");
    }
}

#[test]
fn the_limit_itself_fits_and_one_scalar_more_does_not() {
    assert!(Projection::new(&[], "abcd", 4_097).fits());
    assert!(!Projection::new(&[], "abcde", 4_097).fits());
}

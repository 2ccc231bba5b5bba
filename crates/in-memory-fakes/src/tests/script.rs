//! Decides whether a script that differs from reality says so in words that help.

use crate::script::{Script, Scripted};

struct Step(&'static str);

impl Scripted for Step {
    fn label(&self) -> String {
        self.0.to_owned()
    }
}

fn script(steps: &[&'static str]) -> Script<Step> {
    Script::new("FakeThing", steps.iter().copied().map(Step))
}

#[test]
fn a_script_that_was_played_to_its_end_passes() {
    let script = script(&["one", "two"]);
    assert_eq!(script.next("first call").unwrap().0, "one");
    script.push(Step("three"));
    assert_eq!(script.next("second call").unwrap().0, "two");
    assert_eq!(script.next("third call").unwrap().0, "three");
    script.assert_done();
}

#[test]
fn an_unused_step_panics_on_drop_with_script_and_reality() {
    let script = script(&["one", "longer two"]);
    let _ = script.next("first call");
    let message = super::panic_of(|| drop(script));
    let expected = "the script of FakeThing and reality differ
   # | script     | reality
   1 | one        | first call
   2 | longer two | (never asked)
steps are left over; a test that returned an error early does not show it
";
    assert_eq!(message, expected);
}

#[test]
fn a_missing_step_is_a_failure_and_fails_the_check() {
    let script = script(&["one"]);
    let _ = script.next("first call");
    let failure = script.next("second call").err().unwrap();
    assert_eq!(
        failure.to_string(),
        "SCRIPT_EXHAUSTED: FakeThing has no step for call 2; add one to its script"
    );
    let message = super::panic_of(|| script.assert_done());
    assert!(message.contains("   2 | (no step left) | second call"), "{message}");
    script.uncheck();
}

#[test]
fn a_script_does_not_panic_while_the_test_panics_already() {
    let message = super::panic_of(|| {
        let _unused = script(&["one"]);
        panic!("{}", "the test's own failure");
    });
    assert_eq!(message, "the test's own failure");
}

#[test]
fn an_unchecked_script_may_differ() {
    let script = script(&["one"]);
    script.uncheck();
}

//! The table of verdicts, one row a case.

use super::{Broken, Declares, Proof, Scenario, ScenarioFuture, Verdict};

#[derive(Debug, Clone, Copy)]
struct Wings;

struct Bird {
    declares_wings: bool,
    flies: fn() -> Proof,
}

impl Declares<Wings> for Bird {
    fn declares(&self, _need: Wings) -> bool {
        self.declares_wings
    }
}

fn fly(bird: &Bird) -> ScenarioFuture<'_> {
    Box::pin(async { (bird.flies)() })
}

fn scenario(needs: &'static [Wings]) -> Scenario<Bird, Wings> {
    Scenario { name: "flies", claim: "a bird flies", needs, run: fly }
}

fn held() -> Proof {
    Ok(())
}

fn fell() -> Proof {
    Err(Broken::Claim("fell".into()))
}

fn cannot_be_staged() -> Proof {
    Err(Broken::Unstageable("no cliff".into()))
}

fn panics() -> Proof {
    panic!("lost a feather")
}

async fn check(needs: &'static [Wings], bird: Bird, expected: &str) {
    let verdict = scenario(needs).judge(&bird).await;
    let shown = match verdict {
        Verdict::Held => "held".into(),
        Verdict::Skipped(reason) => format!("skipped: {reason}"),
        Verdict::Broke(what) => format!("broke: {what}"),
    };
    assert!(shown.contains(expected), "{shown} does not contain {expected}");
}

#[tokio::test]
async fn a_verdict_agrees_with_the_declared_capabilities() {
    let with = |flies| Bird { declares_wings: true, flies };
    let without = |flies| Bird { declares_wings: false, flies };
    check(&[Wings], with(held), "held").await;
    check(&[Wings], with(fell), "broke: fell").await;
    check(&[Wings], with(cannot_be_staged), "broke: the harness cannot stage it (no cliff)").await;
    check(&[Wings], without(fell), "skipped: Wings is declared as missing").await;
    check(&[Wings], without(cannot_be_staged), "skipped: Wings").await;
    check(&[Wings], without(held), "broke: held, although Wings").await;
    check(&[], without(held), "held").await;
    check(&[], without(cannot_be_staged), "broke: the harness cannot stage it").await;
}

#[tokio::test]
async fn a_panic_breaks_a_scenario() {
    let bird = Bird { declares_wings: true, flies: panics };
    check(&[], bird, "broke: panicked: lost a feather").await;
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("dropped too early");
    }
}

#[tokio::test]
async fn a_panic_of_a_dropped_subject_breaks_a_scenario() {
    fn run(_bird: &Bird) -> ScenarioFuture<'_> {
        Box::pin(async {
            let _subject = PanicsWhenDropped;
            Ok(())
        })
    }
    let scenario = Scenario { name: "lands", claim: "a bird lands", needs: &[], run };
    let verdict = scenario.judge(&Bird { declares_wings: true, flies: held }).await;
    assert_eq!(verdict, Verdict::Broke("panicked: dropped too early".into()));
}

#[tokio::test(start_paused = true)]
async fn a_scenario_without_end_is_broken() {
    fn run(_bird: &Bird) -> ScenarioFuture<'_> {
        Box::pin(std::future::pending())
    }
    let scenario = Scenario { name: "soars", claim: "a bird soars", needs: &[], run };
    let verdict = scenario.judge(&Bird { declares_wings: true, flies: held }).await;
    assert_eq!(verdict, Verdict::Broke("not over after 20s".into()));
}

#[test]
#[should_panic(expected = "flies: fell\n  promised: a bird flies")]
fn a_broken_scenario_fails_its_test() {
    super::check(&[scenario(&[])], "flies", &Bird { declares_wings: true, flies: fell });
}

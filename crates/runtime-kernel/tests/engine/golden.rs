//! The events of one whole run as they are stored and sent, and that the same script tells the same
//! bytes again.

use std::path::Path;

use runtime_kernel::engine::RunEnd;

use crate::{
    disturb::Play,
    scenario::{GOLDEN, Scenario},
};

const GOLDEN_RUN: &str = "tests/engine/golden/parallel_group.jsonl";

/// The events of a scenario, one JSON object a line.
async fn lines(scenario: &Scenario) -> String {
    let mut play = Play::of((scenario.stage)());
    let mut left = usize::MAX;
    while let RunEnd::Suspended(run) = play.poll_times(&mut left).await.expect("it ends") {
        play.catch_up().await;
        play.resume(&run);
    }
    play.catch_up().await;
    let line = |event: &std::sync::Arc<_>| serde_json::to_string(&**event).expect("JSON") + "\n";
    play.events.iter().map(line).collect()
}

#[tokio::test(start_paused = true)]
async fn the_same_script_tells_the_same_bytes() {
    for scenario in GOLDEN {
        let (first, second) = (lines(scenario).await, lines(scenario).await);
        assert!(first == second, "{}:\n{first}\n{second}", scenario.name);
    }
}

#[tokio::test(start_paused = true)]
async fn the_events_of_a_whole_run_are_as_they_were() {
    let scenario = GOLDEN.iter().find(|it| it.name == "parallel group").expect("it is golden");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN_RUN);
    let told = lines(scenario).await;
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(told == golden, "{GOLDEN_RUN} differs; if that is meant, it becomes:\n{told}");
}

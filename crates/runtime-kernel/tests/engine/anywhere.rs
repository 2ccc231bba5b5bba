//! Whatever a run is doing when it is dropped or cancelled, what must hold does.

use std::sync::Arc;

use in_memory_fakes::ModelCallEnd;
use runtime_kernel::engine::{
    ControlError, NotCancelled, RunEnd, RunLost, RunResult, SteeringOutcome, SteeringReceipt,
};
use runtime_types::ExecutionId;
use tokio::time::Instant;

use crate::{
    disturb::Play,
    oracle,
    scenario::{GOLDEN, Scenario},
    stage::ms,
};

/// Far more polls than any scenario takes.
const MANY: usize = 10_000;

#[tokio::test(start_paused = true)]
async fn a_run_that_is_not_disturbed_is_whole() {
    for scenario in GOLDEN {
        let mut play = Play::of((scenario.stage)());
        let mut left = MANY;
        let end = poll_on(&mut play, &mut left).await;
        let result = end.unwrap_or_else(|| panic!("{} does not end", scenario.name));
        assert!(MANY - left > 1, "{} took one poll", scenario.name);
        check_whole(play, &result, scenario).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_anywhere_leaves_nothing() {
    for scenario in GOLDEN {
        for polls in 0..MANY {
            let mut play = Play::of((scenario.stage)());
            if poll_on(&mut play, &mut polls.clone()).await.is_some() {
                assert!(polls > 1, "{} was never dropped", scenario.name);
                break;
            }
            play.drop_run();
            check_lost(play, &format!("{} after {polls}", scenario.name)).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_anywhere_ends_whole_within_the_grace() {
    for scenario in GOLDEN {
        for polls in 0..MANY {
            let mut play = Play::of((scenario.stage)());
            if poll_on(&mut play, &mut polls.clone()).await.is_some() {
                assert!(polls > 1, "{} was never cancelled", scenario.name);
                break;
            }
            let result = cancel(&mut play).await;
            check_whole(play, &result, scenario).await;
        }
    }
}

/// Polls on over all segments; `None` when the polls are used up first.
async fn poll_on(play: &mut Play, left: &mut usize) -> Option<Arc<RunResult>> {
    loop {
        match play.poll_times(left).await? {
            RunEnd::Finished(result) => return Some(result),
            RunEnd::Suspended(run) => {
                play.catch_up().await;
                play.resume(&run);
            }
        }
    }
}

async fn cancel(play: &mut Play) -> Arc<RunResult> {
    let (began, handle) = (Instant::now(), play.handle.clone());
    let (report, end) = play.poll_with(async { handle.cancel().await }).await;
    assert!(began.elapsed() <= ms(5_000), "the end took {:?}", began.elapsed());
    let result = match end {
        RunEnd::Finished(result) => result,
        RunEnd::Suspended(run) => {
            assert_eq!(report, Err(NotCancelled::Suspended));
            let at_work = play.agent.cancel_suspended(&run).await.expect("the same agent");
            play.events.clear();
            return at_work;
        }
    };
    let report = report.expect("the run lives");
    oracle::assert_report(&report, &result, &play.events);
    assert_eq!(report.still_running, [] as [&str; 0]);
    assert_eq!(play.handle.cancel().await.expect("it is over").status, result.status);
    result
}

async fn check_whole(mut play: Play, result: &RunResult, scenario: &Scenario) {
    play.catch_up().await;
    let last = play.events.last().map(|event| event.event.name());
    if last != Some("run_suspended") {
        oracle::assert_told_whole(&play.events, result.status);
        oracle::assert_questions_closed(&play.events);
    }
    oracle::assert_paired(result);
    oracle::assert_true(result, &play.staged.world);
    check_receipts(std::mem::take(&mut play.receipts), result).await;
    check_trace(&play).await;
    check_nothing_lives(&play, scenario.name).await;
}

async fn check_receipts(receipts: Vec<(&'static str, SteeringReceipt)>, result: &RunResult) {
    let history = serde_json::to_string(&result.history).expect("a history is JSON");
    for (said, receipt) in receipts {
        let id = receipt.steering_id;
        let heard = history.matches(&format!("\"{said}\"")).count();
        let returned = result.returned_steering.iter().filter(|it| it.steering_id == id).count();
        assert_eq!(heard + returned, 1, "{said:?} was lost or doubled");
        match receipt.outcome().await.expect("the run lives") {
            SteeringOutcome::Applied { .. } => assert_eq!(heard, 1, "{said:?} is not there"),
            SteeringOutcome::Returned => assert_eq!(returned, 1, "{said:?} did not come back"),
            SteeringOutcome::Kept => {}
        }
    }
}

async fn check_trace(play: &Play) {
    let losses = play.handle.trace_losses().await.expect("the run lives");
    assert_eq!(losses.events, 0);
    let Some(trace) = &play.staged.trace else { return };
    let kept = trace.records(&ExecutionId::new("run").expect("an id"));
    let kept: Vec<_> = kept.iter().map(|record| record.payload.clone()).collect();
    let told = play.events.iter().map(|event| serde_json::to_value(&**event).expect("JSON"));
    assert_eq!(kept, told.collect::<Vec<_>>());
}

async fn check_lost(mut play: Play, what: &str) {
    check_nothing_lives(&play, what).await;
    let handle = play.handle.clone();
    assert!(matches!(handle.result().await, Err(RunLost)), "{what}");
    assert_eq!(handle.cancel().await, Err(NotCancelled::Lost(RunLost)), "{what}");
    assert!(matches!(handle.suspend().await, Err(RunLost)), "{what}");
    assert!(matches!(handle.steer("hey").await, Err(ControlError::NotLive)), "{what}");
    let decided = handle.approve("run-1").await;
    assert!(matches!(decided, Err(ControlError::NotLive)), "{what}");
    play.catch_up().await;
    let last = play.events.last().map(|event| event.event.clone());
    assert!(last.is_none_or(|last| !last.is_terminal()), "{what}: a lost run told an end");
    for (_, receipt) in std::mem::take(&mut play.receipts) {
        let outcome = receipt.outcome().await;
        let is_told = matches!(
            outcome,
            Ok(SteeringOutcome::Applied { .. } | SteeringOutcome::Kept) | Err(RunLost)
        );
        assert!(is_told, "{what}: {outcome:?}");
    }
}

async fn check_nothing_lives(play: &Play, what: &str) {
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
    let alive = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert_eq!((alive, play.staged.world.at_work()), (0, 0), "{what}: tasks, tools at work");
    let calls = play.staged.model.calls();
    let open = calls.iter().filter(|call| call.end == ModelCallEnd::InFlight).count();
    assert_eq!(open, 0, "{what}: model calls in flight");
}

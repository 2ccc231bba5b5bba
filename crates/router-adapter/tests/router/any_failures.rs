//! The promises about failover, over scripts of failures that nobody chose.

use std::time::Duration;

use in_memory_fakes::ModelStep;
use proptest::prelude::*;
use runtime_ports::{
    CommitDisposition, Intelligence as _, PortFailure, PortFailureKind as Kind, TurnEnd,
};
use tokio::time::Instant;

use crate::{
    failover::{Script, Troupe},
    stage::{follow, start, within},
};

const SECONDS: u64 = 90;

const KINDS: [Kind; 10] = [
    Kind::Invalid,
    Kind::NotFound,
    Kind::Forbidden,
    Kind::RateLimited,
    Kind::RateLimited,
    Kind::Timeout,
    Kind::Unavailable,
    Kind::Unavailable,
    Kind::Protocol,
    Kind::ContextOverflow,
];

#[derive(Debug, Clone)]
enum Step {
    Answers,
    Fails { failure: PortFailure, is_sent: bool, shows: bool, takes: u64 },
}

impl Step {
    fn play(&self) -> ModelStep {
        match self {
            Self::Answers => ModelStep::text("done").usage(3, 1),
            Self::Fails { failure, is_sent: false, .. } => {
                ModelStep::fail_before_sending(failure.clone())
            }
            Self::Fails { failure, shows: true, takes, .. } => {
                let takes = Duration::from_secs(*takes);
                ModelStep::text("half").then_fail(failure.clone()).delay(takes)
            }
            Self::Fails { failure, takes, .. } => {
                ModelStep::fail(failure.clone()).delay(Duration::from_secs(*takes))
            }
        }
    }
}

fn any_failure() -> impl Strategy<Value = PortFailure> {
    use CommitDisposition::{Committed, NotCommitted, Unknown};
    let commit = prop_oneof![4 => Just(NotCommitted), 2 => Just(Unknown), 1 => Just(Committed)];
    let wait = prop::option::of(0u64..100);
    (prop::sample::select(&KINDS[..]), commit, any::<bool>(), wait).prop_map(
        |(kind, commit, retryable, wait)| {
            let failure = PortFailure::rejected(kind, "CODE", "message");
            let retry_after = wait.map(Duration::from_secs);
            PortFailure { commit, retryable, retry_after, ..failure }
        },
    )
}

fn any_step() -> impl Strategy<Value = Step> {
    let fails = (any_failure(), prop::bool::weighted(0.8), prop::bool::weighted(0.2), 0u64..40);
    let fails = fails.prop_map(|(failure, is_sent, shows, takes)| {
        let commit = if is_sent { failure.commit } else { CommitDisposition::NotCommitted };
        let failure = PortFailure { commit, ..failure };
        Step::Fails { failure, is_sent, shows, takes }
    });
    prop_oneof![1 => Just(Step::Answers), 4 => fails]
}

/// What one turn did: the calls of each provider in order of time are not told apart, their number
/// is.
async fn run(scripts: [Vec<Step>; 3]) -> Result<(), TestCaseError> {
    let script = |steps: &Vec<Step>| -> Script {
        let steps = steps.iter().map(Step::play);
        steps.chain((0..3).map(|_| ModelStep::text("done").usage(3, 1))).collect()
    };
    let troupe = Troupe::of([script(&scripts[0]), script(&scripts[1]), script(&scripts[2])]).await;
    troupe.models.iter().for_each(|model| model.unchecked());
    let began = Instant::now();
    let mut turn = troupe.router.start_agent_turn(within(SECONDS, start("hello"))).await.unwrap();
    let course = follow(turn.as_mut()).await;
    drop(turn);
    troupe.router.settled().await;
    let limit = Duration::from_secs(SECONDS + 1);
    prop_assert!(began.elapsed() <= limit, "{:?}", began.elapsed());

    let calls: usize = troupe.models.iter().map(|model| model.calls().len()).sum();
    prop_assert!(calls <= 3, "{} calls", calls);
    let sent: usize = troupe.requests().iter().sum();
    let receipt = troupe.receipt();
    prop_assert_eq!(receipt.requests.len(), sent, "every request is in the receipt");

    let failed = troupe.models.iter().zip(&scripts).flat_map(|(model, steps)| {
        steps.iter().take(model.calls().len()).filter_map(|step| match step {
            Step::Fails { failure, shows, is_sent, .. } => Some((failure, *shows && *is_sent)),
            Step::Answers => None,
        })
    });
    let failed: Vec<_> = failed.collect();
    let count = |commit| failed.iter().filter(|(failure, _)| failure.commit == commit).count();
    let committed = count(CommitDisposition::Committed);
    prop_assert!(committed <= 1 && count(CommitDisposition::Unknown) <= 2);
    if committed > 0 || failed.iter().any(|(_, shown)| *shown) {
        prop_assert!(course.failure.is_some(), "nothing follows what was done or shown");
    }
    let answered = course.failure.is_none();
    prop_assert_eq!(receipt.end == TurnEnd::Completed, answered);
    if answered && sent > troupe.requests()[0] {
        prop_assert!(receipt.losses.iter().any(|loss| loss.contains("went to")), "{:?}", receipt);
    }
    let repeated = count(CommitDisposition::Unknown) > 0 && answered;
    let stated = receipt.losses.iter().any(|loss| loss.contains("may have been billed"));
    prop_assert!(stated || !repeated, "{:?}", receipt);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn whatever_fails_the_promises_hold(
        scripts in prop::array::uniform3(prop::collection::vec(any_step(), 0..4)),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(scripts))?;
    }
}

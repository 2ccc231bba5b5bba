//! What calls at once leave and see.
//!
//! Knows nothing about locks.

use std::{ops::Range, time::Duration};

use runtime_types::ExecutionId;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    Proof,
    claim::{PATIENCE, claim, equal, success},
    trace::{
        TraceHarness, TracePorts,
        sample::{append_number, new_run, numbers, numbers_of, page},
    },
};

const WRITERS: usize = 8;
const EACH: usize = 6;

/// Appends these events one after the other, in a task of its own.
fn writer(
    writers: &mut JoinSet<Proof>,
    ports: &TracePorts,
    run: &ExecutionId,
    events: Range<usize>,
) {
    let (ports, run) = (ports.clone(), run.clone());
    writers.spawn(async move {
        for number in events {
            append_number(&ports, &run, number).await?;
        }
        Ok(())
    });
}

/// The events of writer `number`.
const fn own(number: usize) -> Range<usize> {
    number * EACH..(number + 1) * EACH
}

async fn all_succeed(calls: JoinSet<Proof>) -> Proof {
    for outcome in calls.join_all().await {
        success("one of many at once", outcome)?;
    }
    Ok(())
}

/// The order of each writer is kept, and nothing is missing.
fn in_the_order_of_each(seen: &[usize]) -> Proof {
    equal("the number of events", &seen.len(), &(WRITERS * EACH))?;
    for number in 0..WRITERS {
        let own = own(number);
        let kept: Vec<_> = seen.iter().copied().filter(|event| own.contains(event)).collect();
        equal("the events of one caller", &kept, &own.collect())?;
    }
    Ok(())
}

pub(crate) async fn appends_at_once_are_all_kept(harness: &dyn TraceHarness) -> Proof {
    let (staged, run) = (harness.stage().await?, new_run());
    let mut writers = JoinSet::new();
    for number in 0..WRITERS {
        writer(&mut writers, &staged.ports, &run, own(number));
    }
    all_succeed(writers).await?;
    in_the_order_of_each(&numbers(&staged.ports, &run).await?)
}

pub(crate) async fn runs_at_once_do_not_mix(harness: &dyn TraceHarness) -> Proof {
    let staged = harness.stage().await?;
    let runs: Vec<_> = (0..WRITERS).map(|_| new_run()).collect();
    let mut writers = JoinSet::new();
    for (number, run) in runs.iter().enumerate() {
        writer(&mut writers, &staged.ports, run, own(number));
    }
    all_succeed(writers).await?;
    for (number, run) in runs.iter().enumerate() {
        equal("the events", &numbers(&staged.ports, run).await?, &own(number).collect())?;
    }
    Ok(())
}

pub(crate) async fn a_reader_misses_nothing(harness: &dyn TraceHarness) -> Proof {
    let (staged, run) = (harness.stage().await?, new_run());
    let mut writers = JoinSet::new();
    for number in 0..WRITERS {
        writer(&mut writers, &staged.ports, &run, own(number));
    }
    let (mut seen, give_up) = (Vec::new(), Instant::now() + PATIENCE);
    while seen.len() < WRITERS * EACH {
        let after = seen.len() as u64;
        seen.extend(numbers_of(&page(&staged.ports, &run, after, 5).await?, after)?);
        claim(Instant::now() < give_up, || format!("only {} events can be read", seen.len()))?;
        sleep(Duration::from_millis(1)).await;
    }
    all_succeed(writers).await?;
    in_the_order_of_each(&seen)
}

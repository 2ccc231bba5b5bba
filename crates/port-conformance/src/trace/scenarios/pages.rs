//! Which events a page gives, of which run, to which process.
//!
//! Knows nothing about what an event is.

use runtime_ports::TraceRecord;
use runtime_types::ExecutionId;

use crate::{
    Broken, Proof,
    claim::{equal, success},
    trace::{
        StagedTrace, TraceHarness,
        sample::{append_number, new_run, numbers, numbers_of, of, page},
    },
};

const SIGNED: u64 = i64::MAX as u64;

/// A run of five events, 0 to 4.
async fn five(harness: &dyn TraceHarness) -> Result<(StagedTrace, ExecutionId), Broken> {
    let (staged, run) = (harness.stage().await?, new_run());
    for number in 0..5 {
        append_number(&staged.ports, &run, number).await?;
    }
    Ok((staged, run))
}

fn sequences(records: &[TraceRecord]) -> Vec<u64> {
    records.iter().map(|record| record.sequence).collect()
}

pub(crate) async fn runs_are_separate(harness: &dyn TraceHarness) -> Proof {
    let staged = harness.stage().await?;
    let names = ["run-1", "run-10", "RUN-1", "run_1", "run-1 ", "run-%", "run-\u{e9}"];
    let runs: Vec<_> = names.into_iter().map(|name| ExecutionId::new(name).ok()).collect();
    let runs: Vec<_> = runs.into_iter().flatten().collect();
    equal("the number of runs", &runs.len(), &names.len())?;
    for round in 0..3 {
        for (place, run) in runs.iter().enumerate().skip(round) {
            append_number(&staged.ports, run, 10 * place + round).await?;
        }
    }
    for (place, run) in runs.iter().enumerate() {
        let expected: Vec<_> = (0..3.min(place + 1)).map(|round| 10 * place + round).collect();
        equal("the events", &numbers(&staged.ports, run).await?, &expected)?;
    }
    Ok(())
}

pub(crate) async fn a_run_is_read_from_any_execution(harness: &dyn TraceHarness) -> Proof {
    let (staged, run) = five(harness).await?;
    let other = new_run();
    append_number(&staged.ports, &other, 9).await?;
    for asking in [&run, &other, &new_run()] {
        for (asked, expected) in [(&run, 0..5), (&other, 9..10), (&new_run(), 0..0)] {
            let read = staged.ports.reader.read(&of(asking), asked, 0, 100).await;
            let read = numbers_of(&success("reading", read)?, 0)?;
            equal("the events", &read, &expected.collect())?;
        }
    }
    Ok(())
}

pub(crate) async fn a_page_begins_after_its_sequence(harness: &dyn TraceHarness) -> Proof {
    let (staged, run) = five(harness).await?;
    for after in [0, 1, 2, 4, 5, 6, 1_000, SIGNED, SIGNED + 1, u64::MAX - 1, u64::MAX] {
        for limit in [100, usize::MAX] {
            let records = page(&staged.ports, &run, after, limit).await?;
            let expected = (1..=5).filter(|sequence| *sequence > after).collect();
            equal(&format!("the page after {after}"), &sequences(&records), &expected)?;
        }
    }
    Ok(())
}

pub(crate) async fn a_page_has_at_most_its_limit(harness: &dyn TraceHarness) -> Proof {
    let (staged, run) = five(harness).await?;
    let signed = usize::MAX / 2;
    for limit in [0, 1, 2, 4, 5, 6, 1_000, signed, signed + 1, usize::MAX - 1, usize::MAX] {
        for after in [0, 2, 5] {
            let records = page(&staged.ports, &run, after, limit).await?;
            let expected = (after + 1..=5).take(limit).collect();
            let what = format!("the page of {limit} after {after}");
            equal(&what, &sequences(&records), &expected)?;
        }
    }
    Ok(())
}

pub(crate) async fn pages_join_into_the_whole(harness: &dyn TraceHarness) -> Proof {
    let (staged, run) = (harness.stage().await?, new_run());
    for number in 0..23 {
        append_number(&staged.ports, &run, number).await?;
    }
    for size in [1, 2, 5, 22, 23, 24] {
        let (mut read, mut after) = (Vec::new(), 0);
        loop {
            let records = page(&staged.ports, &run, after, size).await?;
            let Some(last) = records.last() else { break };
            read.extend(numbers_of(&records, after)?);
            after = last.sequence;
        }
        equal(&format!("pages of {size}"), &read, &(0..23).collect())?;
    }
    Ok(())
}

pub(crate) async fn an_append_outlives_its_process(harness: &dyn TraceHarness) -> Proof {
    let (mut staged, run) = five(harness).await?;
    let next = staged.world.after_death(staged.ports).await?;
    equal("the events", &numbers(&next, &run).await?, &(0..5).collect())?;
    append_number(&next, &run, 5).await?;
    let last = staged.world.after_death(next).await?;
    append_number(&last, &run, 6).await?;
    equal("the events", &numbers(&last, &run).await?, &(0..7).collect())
}

pub(crate) async fn two_processes_see_one_trace(harness: &dyn TraceHarness) -> Proof {
    let (mut staged, run) = five(harness).await?;
    let second = staged.world.second_process().await?;
    equal("the events", &numbers(&second, &run).await?, &(0..5).collect())?;
    for number in 5..9 {
        let ports = if number % 2 == 0 { &staged.ports } else { &second };
        append_number(ports, &run, number).await?;
        for ports in [&staged.ports, &second] {
            equal("the events", &numbers(ports, &run).await?, &(0..=number).collect())?;
        }
    }
    Ok(())
}

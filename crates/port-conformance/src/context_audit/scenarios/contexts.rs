//! Whether contexts that have much in common stay what they were, and cost it once.
//!
//! Knows nothing about how a store finds what it has.

use runtime_ports::Transcript;

use crate::{
    Proof,
    claim::equal,
    context_audit::{
        AuditHarness, StagedAudit,
        sample::{Written, history, holds, message, said, snapshot},
    },
};

async fn keep(
    staged: &mut StagedAudit,
    contexts: impl IntoIterator<Item = Transcript>,
) -> Result<Vec<Written>, crate::Broken> {
    let mut written = Vec::new();
    for (number, messages) in contexts.into_iter().enumerate() {
        let record = Written::Snapshot(snapshot(&format!("s-{number}"), messages));
        record.write(&staged.session).await?;
        written.push(record);
    }
    Ok(written)
}

/// Everything is there, with so many messages stored.
async fn hold_with(staged: &mut StagedAudit, written: &[Written], messages: usize) -> Proof {
    holds(staged, written).await?;
    let stored = staged.world.kept().await?.stored_messages;
    equal("the number of stored messages", &stored, &messages)
}

pub(crate) async fn a_large_context_comes_back_whole(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let mut long = history(600);
    long.push(message(0, &"\u{b7}".repeat((1 << 17) + 1)));
    let written = keep(&mut staged, [long.prefix(599), long]).await?;
    hold_with(&mut staged, &written, 601).await
}

pub(crate) async fn a_message_is_kept_once(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let mut growing = Transcript::new();
    let mut contexts = Vec::new();
    for place in 0..40 {
        growing.push(message(place, &format!("message {place}")));
        contexts.push(growing.clone());
        // As another process would send it, and behind a beginning of its own.
        contexts.push(history(place + 1));
        let mut led: Transcript = said(["led by another"]);
        led.extend(history(place + 1).messages().cloned());
        contexts.push(led);
    }
    let written = keep(&mut staged, contexts).await?;
    hold_with(&mut staged, &written, 41).await
}

pub(crate) async fn a_message_that_is_repeated_stays_repeated(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let same = |count: usize| (0..count).map(|_| message(0, "yes")).collect::<Transcript>();
    let between = said(["yes", "sure?", "yes", "sure?", "yes"]);
    let written = keep(&mut staged, [same(40), same(1), same(41), between]).await?;
    hold_with(&mut staged, &written, 2).await
}

pub(crate) async fn contexts_that_part_do_not_mix(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let longer = |mut messages: Transcript, text: &str| {
        messages.push(message(messages.len(), text));
        messages
    };
    let contexts = [
        history(40),
        longer(history(40), "one way"),
        longer(history(40), "another way"),
        longer(history(20), "one way"),
        history(20),
        history(39),
        said(["b", "a"]),
        said(["c", "a"]),
        [message(0, "a"), message(0, "b")].into_iter().collect(),
        [message(0, "b"), message(0, "a")].into_iter().collect(),
        [message(1, "a"), message(0, "a")].into_iter().collect(),
    ];
    let written = keep(&mut staged, contexts).await?;
    holds(&mut staged, &written).await
}

//! Which requests name one task.
//!
//! Knows nothing about what the child does.

use runtime_ports::{CommitDisposition, PortFailureKind as Kind, SubagentRequest};

use crate::{
    Proof,
    claim::{BRIEFLY, SOON, failure, operation, within},
    subagents::{
        Child, SubagentHarness,
        sample::{request, sibling, staged},
    },
};

/// How many tasks are asked for before the first one is asked for again.
const MANY: usize = 1_000;

const NOT_COMMITTED: CommitDisposition = CommitDisposition::NotCommitted;

pub(crate) async fn the_same_request_runs_once(harness: &dyn SubagentHarness) -> Proof {
    let children = [("2*2", Child::answers("4")), ("2*2", Child::answers("another"))];
    let staged = staged(harness, &children).await?;
    let operation = operation();
    for _ in 0..3 {
        staged.answers(&operation, request("1", "2*2"), "4").await?;
        staged.answers(&sibling(&operation), request("1", "2*2"), "4").await?;
    }
    staged.took("2*2", 1)
}

pub(crate) async fn another_request_is_conflict(harness: &dyn SubagentHarness) -> Proof {
    let children = [("2*2", Child::answers("4")), ("3*3", Child::answers("9"))];
    let staged = staged(harness, &children).await?;
    let operation = operation();
    staged.answers(&operation, request("1", "2*2"), "4").await?;
    let longer = SubagentRequest { max_model_turns: 5, ..request("1", "2*2") };
    for other in [request("1", "3*3"), longer, request("1", "2*2 ")] {
        let outcome = staged.tried(&operation, other).await?;
        failure("another request", outcome, Kind::Conflict, NOT_COMMITTED)?;
    }
    staged.answers(&operation, request("1", "2*2"), "4").await?;
    staged.took("2*2", 1)?;
    staged.took("3*3", 0)
}

pub(crate) async fn another_request_meanwhile_is_conflict(harness: &dyn SubagentHarness) -> Proof {
    let slow = Child::answers("4").taking(BRIEFLY);
    let staged = staged(harness, &[("2*2", slow), ("3*3", Child::answers("9"))]).await?;
    let operation = operation();
    let first = staged.answers(&operation, request("1", "2*2"), "4");
    let other = async {
        staged.begins().await?;
        let other = staged.session.execute(&operation, request("1", "3*3"));
        let outcome = within("another request", SOON / 8, other).await?;
        failure("another request", outcome, Kind::Conflict, NOT_COMMITTED)
    };
    let (first, other) = tokio::join!(first, other);
    other?;
    staged.took("3*3", 0)?;
    first
}

pub(crate) async fn equal_prompts_of_two_requests_both_run(harness: &dyn SubagentHarness) -> Proof {
    let children = [("draw", Child::answers("a knave")), ("draw", Child::answers("a queen"))];
    let staged = staged(harness, &children).await?;
    let operation = operation();
    for (id, card) in [("1", "a knave"), ("2", "a queen"), ("1", "a knave")] {
        staged.answers(&operation, request(id, "draw"), card).await?;
    }
    staged.took("draw", 2)
}

pub(crate) async fn executions_do_not_mix(harness: &dyn SubagentHarness) -> Proof {
    let children = [("2*2", Child::answers("4")), ("3*3", Child::answers("9"))];
    let staged = staged(harness, &children).await?;
    let (one, other) = (operation(), operation());
    staged.answers(&one, request("1", "2*2"), "4").await?;
    staged.answers(&other, request("1", "3*3"), "9").await?;
    staged.answers(&one, request("1", "2*2"), "4").await?;
    staged.took("2*2", 1)
}

pub(crate) async fn ids_are_told_apart_by_their_bytes(harness: &dyn SubagentHarness) -> Proof {
    let long = "x".repeat(4_096);
    let longer = format!("{long}y");
    let ids = [
        "",
        " ",
        "  ",
        "a",
        "A",
        "a ",
        "a\n",
        "a\0",
        "a\0b",
        "\u{e1}",
        "a\u{301}",
        "../a",
        "a/../b",
        "a-1",
        "a:1",
        "🦀",
        "\u{202e}a",
        &long,
        &longer,
    ];
    let prompts: Vec<_> = (0..ids.len()).map(|number| format!("task {number}")).collect();
    let child = |prompt: &String| (prompt.clone(), Child::answers(prompt));
    let staged = harness.stage(prompts.iter().map(child).collect()).await?;
    let operation = operation();
    for _ in 0..2 {
        for (id, prompt) in ids.iter().zip(&prompts) {
            staged.answers(&operation, request(id, prompt), prompt).await?;
            staged.took(prompt, 1)?;
        }
    }
    Ok(())
}

pub(crate) async fn many_tasks_are_remembered(harness: &dyn SubagentHarness) -> Proof {
    let staged = staged(harness, &[("2*2", Child::answers("4"))]).await?;
    let operation = operation();
    for number in 0..MANY {
        staged.answers(&operation, request(&number.to_string(), "2*2"), "4").await?;
    }
    staged.answers(&operation, request("0", "2*2"), "4").await?;
    staged.took("2*2", MANY)
}

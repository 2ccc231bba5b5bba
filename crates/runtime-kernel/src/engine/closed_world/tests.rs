//! Every method of every port of the closed world.

use std::{fmt::Debug, time::Duration};

use runtime_ports::{
    CommandRequest, CommitDisposition, Digest, InteractionRequest, OperationContext, PortFailure,
    PortFailureKind,
};

use super::closed_world;

fn check<T: Debug>(answer: Result<T, PortFailure>, code: &str) {
    let failure = answer.unwrap_err();
    assert_eq!((failure.kind, &*failure.code), (PortFailureKind::Unavailable, code));
    assert_eq!((failure.commit, failure.retryable), (CommitDisposition::NotCommitted, false));
    assert!(failure.message.contains("give it a tool world"), "no hint: {}", failure.message);
}

#[tokio::test]
async fn every_port_says_that_it_is_missing() {
    let (id, execution) = ("call".parse().unwrap(), "run".parse().unwrap());
    let op = &OperationContext::root(id, execution, Duration::from_secs(60));
    let world = closed_world();

    let command = CommandRequest { command: "true".into(), cwd: None };
    check(world.workspace.describe(op).await, "NO_WORKSPACE");
    check(world.workspace.read(op, "a").await, "NO_WORKSPACE");
    check(world.workspace.write(op, "a", b"").await, "NO_WORKSPACE");
    check(world.workspace.list(op, "").await, "NO_WORKSPACE");
    check(world.workspace.search(op, "", "a", 1).await, "NO_WORKSPACE");
    check(world.workspace.execute(op, command).await, "NO_WORKSPACE");

    let question = InteractionRequest::question("q", "why?");
    check(world.interaction.prepare(op, question.clone()).await, "NO_INTERACTION");
    check(world.interaction.wait(op, "q").await, "NO_INTERACTION");
    check(world.interaction.request(op, question).await, "NO_INTERACTION");

    check(world.resources.load(op).await, "NO_RESOURCES");

    check(world.artifacts.put(op, b"").await, "NO_ARTIFACTS");
    check(world.artifacts.read(op, &Digest::of(b""), 0..1).await, "NO_ARTIFACTS");
}

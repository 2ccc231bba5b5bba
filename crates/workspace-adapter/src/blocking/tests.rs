//! Checks that the disposition of an interrupted call is true.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    time::Duration,
};

use runtime_ports::{CommitDisposition, OperationContext, PortFailureKind};
use runtime_types::{ExecutionId, OperationId};

use super::{Gate, blocking};

fn operation(timeout: Duration) -> OperationContext {
    let (id, execution) = (OperationId::new("op").unwrap(), ExecutionId::new("run").unwrap());
    OperationContext::root(id, execution, timeout)
}

#[test]
fn exactly_one_side_wins() {
    for _ in 0..2_000 {
        let gate = Gate::default();
        let (passed, closed) = std::thread::scope(|scope| {
            let worker = scope.spawn(|| gate.pass());
            (gate.close(), worker.join().unwrap())
        });
        assert_ne!(passed, closed);
    }
}

#[tokio::test]
async fn nothing_starts_when_interrupted_before() {
    let canceled = operation(Duration::from_secs(9));
    canceled.cancellation.cancel();
    let late = operation(Duration::ZERO);
    for (operation, kind) in
        [(canceled, PortFailureKind::Canceled), (late, PortFailureKind::Timeout)]
    {
        let failure = blocking::<(), _>(&operation, |_| panic!("ran")).await.unwrap_err();
        assert_eq!((failure.kind, failure.commit), (kind, CommitDisposition::NotCommitted));
    }
}

#[tokio::test]
async fn interrupted_before_the_gate_nothing_is_committed() {
    let operation = operation(Duration::from_millis(30));
    let effects = Arc::new(AtomicU32::new(0));
    let (release, held) = mpsc::channel::<()>();
    let (done, ended) = tokio::sync::oneshot::channel();
    let count = Arc::clone(&effects);
    let failure = blocking(&operation, move |gate| {
        let _ = held.recv();
        if gate.pass() {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let _ = done.send(());
        Ok(())
    })
    .await
    .unwrap_err();
    release.send(()).unwrap();
    ended.await.unwrap();
    assert_eq!(failure.kind, PortFailureKind::Timeout);
    assert_eq!(failure.commit, CommitDisposition::NotCommitted);
    assert_eq!(effects.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn interrupted_after_the_gate_the_end_is_awaited_or_unknown() {
    let check = async |takes: u64| {
        let operation = operation(Duration::from_millis(30));
        let work = move |gate: &Gate| {
            assert!(gate.pass());
            std::thread::sleep(Duration::from_millis(takes));
            Ok("done")
        };
        blocking(&operation, work).await
    };
    assert_eq!(check(80).await.unwrap(), "done");
    let failure = check(600).await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::Timeout);
    assert_eq!(failure.commit, CommitDisposition::Unknown);
}

#[tokio::test]
async fn a_panic_is_a_fault_with_a_true_disposition() {
    let check = async |passes: bool| {
        let work = move |gate: &Gate| -> Result<(), _> {
            assert!(!passes || gate.pass());
            panic!("a fault")
        };
        blocking(&operation(Duration::from_secs(9)), work).await.unwrap_err()
    };
    let (before, after) = (check(false).await, check(true).await);
    assert_eq!(before.kind, PortFailureKind::Internal);
    assert_eq!(before.commit, CommitDisposition::NotCommitted);
    assert_eq!(after.commit, CommitDisposition::Unknown);
}

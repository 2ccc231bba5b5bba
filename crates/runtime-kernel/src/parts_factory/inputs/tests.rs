//! Checks that an input is delivered once; what is promised of it is tried by the conformance suite.

use std::time::Duration;

use futures_util::FutureExt as _;

use super::*;

fn operation() -> OperationContext {
    let (id, execution) = (OperationId::new("call"), ExecutionId::new("run"));
    OperationContext::root(id.unwrap(), execution.unwrap(), Duration::from_secs(60))
}

fn input(answer: &str) -> Input {
    Input::new(&ExecutionId::new("run").unwrap(), "question", &InteractionResponse::text(answer))
}

/// What is told of an input, and whether it was delivered for that.
async fn submit(inputs: &Inputs, id: usize, answer: &str, end: Delivered) -> (Delivered, bool) {
    let mut was_delivered = false;
    let delivered = &mut was_delivered;
    let (operation, id) = (operation(), OperationId::new(id.to_string()).unwrap());
    let deliver = async {
        *delivered = true;
        end
    };
    let told = inputs.once(&operation, &id, input(answer), deliver).await;
    (told, was_delivered)
}

fn failed(commit: CommitDisposition) -> Delivered {
    let failure = PortFailure::not_sent(PortFailureKind::Unavailable, "DOWN", "it is down");
    Err(PortFailure { commit, ..failure })
}

#[tokio::test]
async fn an_input_that_may_have_arrived_is_not_delivered_again() {
    let inputs = Inputs::default();
    for commit in [CommitDisposition::Unknown, CommitDisposition::Committed] {
        let (id, end) = (commit as usize, failed(commit));
        assert_eq!(submit(&inputs, id, "blue", end.clone()).await, (end.clone(), true));
        assert_eq!(submit(&inputs, id, "blue", Ok(())).await, (end, false));
        let (other, was_delivered) = submit(&inputs, id, "red", Ok(())).await;
        assert!(other.is_err_and(|failure| failure.kind == PortFailureKind::Conflict));
        assert!(!was_delivered);
    }
}

#[tokio::test]
async fn an_input_that_was_refused_leaves_its_operation_free() {
    let inputs = Inputs::default();
    let end = failed(CommitDisposition::NotCommitted);
    assert_eq!(submit(&inputs, 1, "blue", end.clone()).await, (end, true));
    assert_eq!(submit(&inputs, 1, "red", Ok(())).await, (Ok(()), true));
    assert_eq!(submit(&inputs, 1, "red", Ok(())).await, (Ok(()), false));
}

#[tokio::test]
async fn an_input_whose_call_was_dropped_is_unknown() {
    let inputs = Inputs::default();
    let (operation, id) = (operation(), OperationId::new("1").unwrap());
    {
        let mut never =
            Box::pin(inputs.once(&operation, &id, input("blue"), std::future::pending()));
        assert!(never.as_mut().now_or_never().is_none());
    }
    let (told, was_delivered) = submit(&inputs, 1, "blue", Ok(())).await;
    assert!(told.is_err_and(|failure| failure.commit == CommitDisposition::Unknown));
    assert!(!was_delivered);
}

#[tokio::test]
async fn the_oldest_is_forgotten_and_nothing_else() {
    let inputs = Inputs::default();
    for id in 0..=REMEMBERED {
        assert_eq!(submit(&inputs, id, "blue", Ok(())).await, (Ok(()), true));
    }
    assert_eq!(inputs.known().by_operation.len(), REMEMBERED);
    assert_eq!(submit(&inputs, 1, "blue", Ok(())).await, (Ok(()), false));
}

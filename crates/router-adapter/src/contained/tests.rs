//! Holds the containment against panics at every point of a piece of work.

use std::{future::pending, panic::panic_any, time::Duration};

use super::{Panicked, contained};

/// Panics when it is dropped.
struct Trap;

impl Drop for Trap {
    fn drop(&mut self) {
        panic!("a trap was dropped");
    }
}

#[tokio::test]
async fn work_that_ends_well_gives_its_output() {
    assert_eq!(contained(async { 7 }).await, Ok(7));
}

#[tokio::test]
async fn a_panic_at_work_is_told() {
    assert_eq!(contained(async { panic!("at work") }).await, Err::<(), _>(Panicked));
    assert_eq!(contained(async { panic_any(Trap) }).await, Err::<(), _>(Panicked));
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_it_is_dropped_is_kept_in() {
    let trap = Trap;
    let work = async move {
        let _trap = trap;
        pending::<()>().await;
    };
    assert!(tokio::time::timeout(Duration::from_secs(1), contained(work)).await.is_err());
}

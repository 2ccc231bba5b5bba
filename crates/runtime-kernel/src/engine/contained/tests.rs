//! Work that panics when it is polled, when it is dropped, and in what it panics with.

use std::{future::pending, panic::panic_any};

use futures_util::FutureExt as _;

use super::{Panicked, contained};

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[tokio::test]
async fn work_gives_its_output() {
    let work = async {
        tokio::task::yield_now().await;
        1
    };
    assert_eq!(contained(work).await, Ok(1));
}

#[tokio::test]
async fn a_panic_of_any_kind_is_held_back() {
    let early: Result<(), _> = contained(async { panic!("early") }).await;
    let late: Result<(), _> = contained(async {
        tokio::task::yield_now().await;
        panic!("late")
    })
    .await;
    let explosive: Result<(), _> = contained(async { panic_any(Bomb) }).await;
    assert_eq!([early, late, explosive], [Err(Panicked); 3]);
}

#[tokio::test]
async fn a_panic_of_the_drop_is_held_back() {
    let mut never = contained(async {
        let bomb = Bomb;
        pending::<()>().await;
        drop(bomb);
    });
    assert!((&mut never).now_or_never().is_none());
    drop(never);

    let unpolled = Bomb;
    drop(contained(async move {
        let _bomb = unpolled;
    }));
}

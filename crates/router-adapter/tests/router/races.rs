//! Cancelling, finishing, dropping and completing at once, on several threads.
//!
//! One property: a turn leaves one receipt, its end agrees with what whoever cancelled was told,
//! and nothing stays behind.

use std::{collections::HashMap, time::Duration};

use futures_util::future::join_all;
use in_memory_fakes::FakeReceiptStore;
use router_adapter::Router;
use runtime_ports::{
    AgentTurnEvent, Intelligence as _, PortFailureKind, TurnEnd, TurnStart, UsageReceipt,
};
use serde_json::json;
use tokio::task::yield_now;
use uuid::Uuid;

use crate::{
    rogue::{answering, calling, rogue, saying},
    stage::{done, follow, router_over, start},
};

async fn router() -> (Router, FakeReceiptStore) {
    let session = rogue(|nth, _, _| {
        Box::pin(async move {
            for _ in 0..nth % 5 {
                yield_now().await;
            }
            Ok(if nth % 3 == 0 {
                answering(vec![calling("a", json!({})), calling("b", json!({}))])
            } else {
                saying("done")
            })
        })
    });
    let store = FakeReceiptStore::new();
    (router_over(session, &store).await, store)
}

fn by_turn(store: &FakeReceiptStore) -> HashMap<Uuid, UsageReceipt> {
    assert!(store.open_turns().is_empty(), "turns are open");
    let settled = store.settled();
    let count = settled.len();
    let map: HashMap<_, _> =
        settled.into_iter().map(|receipt| (receipt.operation_id, receipt)).collect();
    assert_eq!(map.len(), count);
    map
}

/// What the host does with the turn, by a number.
async fn host(router: Router, start: TurnStart, manner: usize) -> Option<(TurnEnd, Uuid)> {
    let id = start.operation_id;
    let mut turn = router.start_agent_turn(start).await.ok()?;
    match manner % 4 {
        0 => {
            follow(turn.as_mut()).await;
        }
        1 => {
            for _ in 0..manner % 7 {
                if let Ok(Some(AgentTurnEvent::ToolCall { call_id, .. })) = turn.next_event().await
                {
                    let _ = turn.respond(&call_id, done(&call_id)).await;
                }
            }
        }
        2 => {
            for _ in 0..manner % 5 {
                let _ = tokio::time::timeout(Duration::ZERO, turn.next_event()).await;
            }
            let receipt = turn.finish_unavailable().await.unwrap();
            assert_eq!(turn.finish_unavailable().await.unwrap(), receipt);
            return Some((receipt.end, id));
        }
        _ => {}
    }
    Some((turn.receipt()?.end, id))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_comes_first_there_is_one_end_and_all_agree_on_it() {
    let (router, store) = router().await;
    let (mut told, mut cancelled) = (Vec::new(), HashMap::new());
    for round in 0..60 {
        let plays = (0..40).map(|number| {
            let start = start("hello");
            let id = start.operation_id;
            let hosting = tokio::spawn(host(router.clone(), start, round * 40 + number));
            let cancelling = router.clone();
            let cancel = tokio::spawn(async move {
                for _ in 0..(round + number) % 11 {
                    yield_now().await;
                }
                cancelling.cancel(id).await.unwrap()
            });
            async move { (hosting.await.unwrap(), (id, cancel.await.unwrap())) }
        });
        for (host, (id, reached)) in join_all(plays).await {
            told.extend(host);
            cancelled.insert(id, reached);
        }
    }
    router.settled().await;
    let receipts = by_turn(&store);
    for (end, id) in told {
        assert_eq!(receipts[&id].end, end);
    }
    for (id, reached) in cancelled {
        let end = receipts.get(&id).map(|receipt| receipt.end);
        assert!(end.is_none() || reached == (end == Some(TurnEnd::Cancelled)), "{reached} {end:?}");
        assert!(!router.cancel(id).await.unwrap(), "it is not running any more");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_starts_under_one_id_at_most_one_is_taken() {
    let (router, store) = router().await;
    for round in 0..100 {
        let start = start("hello");
        let racing = (0..16).map(|number| {
            let (router, start) = (router.clone(), start.clone());
            tokio::spawn(async move {
                if number == round % 32 {
                    return router.cancel(start.operation_id).await.map(|_| false);
                }
                match router.start_agent_turn(start).await {
                    Ok(mut turn) => {
                        follow(turn.as_mut()).await;
                        Ok(true)
                    }
                    Err(refused) => {
                        let kind = refused.failure.kind;
                        let known = [PortFailureKind::Conflict, PortFailureKind::Canceled];
                        assert!(known.contains(&kind), "{refused:?}");
                        Ok(false)
                    }
                }
            })
        });
        let taken =
            join_all(racing).await.into_iter().filter(|one| *one.as_ref().unwrap() == Ok(true));
        let taken = taken.count();
        assert!(taken <= 1, "{taken} turns of one id");
    }
    router.settled().await;
    by_turn(&store);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancelled_parent_leaves_no_child_running_and_lets_none_start() {
    let (router, store) = router().await;
    let stuck = rogue(|_, operation, _| {
        Box::pin(async move {
            operation.cancellation.cancelled().await;
            Err(runtime_ports::Interruption::Canceled.in_flight())
        })
    });
    let router_of_stuck = router_over(stuck, &store).await;
    for round in 0..20 {
        let parent = Uuid::new_v4();
        let children = (0..50).map(|_| {
            let start = TurnStart { parent_operation_id: Some(parent), ..start("hello") };
            let router = router_of_stuck.clone();
            tokio::spawn(async move {
                match router.start_agent_turn(start).await {
                    Ok(mut turn) => follow(turn.as_mut()).await.failure().kind,
                    Err(refused) => refused.failure.kind,
                }
            })
        });
        let children: Vec<_> = children.collect();
        for _ in 0..round {
            yield_now().await;
        }
        router_of_stuck.cancel(parent).await.unwrap();
        for child in children {
            assert_eq!(child.await.unwrap(), PortFailureKind::Canceled);
        }
    }
    router_of_stuck.settled().await;
    drop(router);
    assert!(by_turn(&store).values().all(|receipt| receipt.end == TurnEnd::Cancelled));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_turns_run_at_once() {
    let (router, store) = router().await;
    let turns = (0..1_000).map(|_| {
        let router = router.clone();
        tokio::spawn(async move {
            let mut turn = router.start_agent_turn(start("hello")).await.unwrap();
            follow(turn.as_mut()).await.failure.is_none()
        })
    });
    let turns: Vec<_> = turns.collect();
    assert!(join_all(turns).await.into_iter().all(|completed| completed.unwrap()));
    router.settled().await;
    assert_eq!(by_turn(&store).len(), 1_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_turns_that_go_on_in_one_thread_at_once_one_is_refused() {
    let (router, store) = router().await;
    let mut turn = router.start_agent_turn(start("hello")).await.unwrap();
    follow(turn.as_mut()).await;
    let mut continuation = turn.continuation().cloned();
    assert!(continuation.is_some());
    for _ in 0..100 {
        let racing = (0..4).map(|_| {
            let start = TurnStart { continuation: continuation.clone(), ..start("more") };
            let router = router.clone();
            tokio::spawn(async move {
                match router.start_agent_turn(start).await {
                    Ok(mut turn) => {
                        follow(turn.as_mut()).await;
                        turn.continuation().cloned()
                    }
                    Err(refused) => {
                        assert_eq!(refused.failure.kind, PortFailureKind::Conflict);
                        None
                    }
                }
            })
        });
        let went_on = join_all(racing).await;
        continuation = went_on.into_iter().find_map(Result::unwrap);
        assert!(continuation.is_some(), "one of them went on");
    }
    router.settled().await;
    by_turn(&store);
}

#[test]
fn a_runtime_that_is_shut_down_leaves_turns_to_the_next_start_and_nobody_waiting() {
    let store = FakeReceiptStore::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut turns = runtime.block_on(async {
        let stuck = rogue(|_, _, _| Box::pin(std::future::pending()));
        let router = router_over(stuck, &store).await;
        let starts = (0..50).map(|_| router.start_agent_turn(start("hello")));
        join_all(starts).await.into_iter().map(Result::unwrap).collect::<Vec<_>>()
    });
    runtime.shutdown_background();
    let next = tokio::runtime::Runtime::new().unwrap();
    next.block_on(async {
        for turn in &mut turns {
            let failure = follow(turn.as_mut()).await.failure.unwrap().failure;
            assert_eq!(failure.code, "turn_owner_lost");
            assert!(turn.finish_unavailable().await.is_err());
        }
        let store = store.reopen_after_crash();
        router_over(rogue(|_, _, _| Box::pin(std::future::pending())), &store).await;
        assert_eq!(by_turn(&store).len(), 50);
    });
}

//! Whatever is published and taken in whatever order: gaps are in their place, and the end is kept.

use std::thread;

use futures_util::FutureExt as _;
use proptest::prelude::*;
use runtime_decision::Event;
use runtime_ports::{DeltaSink as _, ModelDelta};

use super::{deltas, last, told};
use crate::engine::{
    EventStream, WatchOptions, Watched,
    event_hub::{EventPublisher, event_hub},
};

#[derive(Debug, Clone, Copy)]
enum Step {
    Event,
    Delta,
    Take,
}

/// Counts what a watcher got, and holds it against the place at which it was published.
#[derive(Default)]
struct Account {
    passed: u64,
    events_missed: bool,
    last_event: u64,
    is_last: bool,
}

impl Account {
    /// `places` are those of the published events, deltas included, by (sequence, delta).
    fn take(&mut self, watched: &Watched, places: &[(u64, Option<u64>)]) {
        match watched {
            Watched::Missed(count) => self.passed += count,
            Watched::Event(event) => {
                let place = (event.sequence, event.delta);
                assert_eq!(places[usize::try_from(self.passed).unwrap()], place);
                self.passed += 1;
                self.is_last = event.event.is_last();
                if event.delta.is_none() {
                    self.events_missed |= event.sequence != self.last_event + 1;
                    self.last_event = event.sequence;
                }
            }
        }
    }
}

fn publish(publisher: &EventPublisher, step: Step, places: &mut Vec<(u64, Option<u64>)>) {
    let (sequence, delta) = places.last().copied().unwrap_or((0, None));
    match step {
        Step::Event => {
            publisher.publish_owned(told(sequence + 1, Event::RunResumed));
            places.push((sequence + 1, None));
        }
        Step::Delta => {
            deltas(publisher).delta(ModelDelta::Text("x"));
            places.push((sequence, Some(delta.unwrap_or(0) + 1)));
        }
        Step::Take => {}
    }
}

proptest! {
    #[test]
    fn gaps_are_in_their_place(
        steps in prop::collection::vec(
            prop_oneof![Just(Step::Event), Just(Step::Delta), Just(Step::Take)], 0..200,
        ),
        capacity in 1_usize..8,
    ) {
        let (publisher, hub) = event_hub();
        let mut stream = hub.subscribe(WatchOptions { deltas: true, capacity });
        let (mut account, mut places) = (Account::default(), Vec::new());
        let mut taken = 0;
        for step in steps {
            publish(&publisher, step, &mut places);
            let is_take = matches!(step, Step::Take);
            if let Some(Some(watched)) = is_take.then(|| stream.next().now_or_never()).flatten() {
                account.take(&watched, &places);
                taken += 1;
            }
        }
        let sequence = places.last().map_or(0, |place| place.0) + 1;
        publisher.publish_owned(last(sequence));
        places.push((sequence, None));
        let mut waiting = 0;
        while let Some(watched) = stream.next().now_or_never().expect("it has ended") {
            account.take(&watched, &places);
            waiting += usize::from(matches!(watched, Watched::Event(_)));
        }
        prop_assert!(account.is_last, "the last event came");
        prop_assert!(waiting <= capacity);
        prop_assert_eq!(usize::try_from(account.passed).unwrap(), places.len());
        let events = places.iter().filter(|place| place.1.is_none()).count();
        if taken == 0 {
            prop_assert_eq!(account.events_missed, events > capacity, "deltas go first");
        }
    }
}

/// Takes everything, on a thread of its own.
fn follow(mut stream: EventStream) -> thread::JoinHandle<(u64, bool)> {
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut account = (0, false);
        while let Some(watched) = runtime.block_on(stream.next()) {
            match watched {
                Watched::Missed(count) => account.0 += count,
                Watched::Event(event) => account = (account.0 + 1, event.event.is_last()),
            }
        }
        account
    })
}

#[test]
fn watchers_on_other_threads_account_for_everything() {
    const EVENTS: u64 = 20_000;
    let (publisher, hub) = event_hub();
    let capacities = [1, 3, 64, 1_024];
    let streams = capacities.map(|capacity| hub.subscribe(WatchOptions { deltas: true, capacity }));
    let watchers = streams.map(follow);
    let sink = deltas(&publisher);
    for sequence in 1..EVENTS {
        publisher.publish_owned(told(sequence, Event::RunResumed));
        sink.delta(ModelDelta::Text("x"));
    }
    publisher.publish_owned(last(EVENTS));
    for watcher in watchers {
        assert_eq!(watcher.join().unwrap(), (2 * EVENTS - 1, true));
    }
}

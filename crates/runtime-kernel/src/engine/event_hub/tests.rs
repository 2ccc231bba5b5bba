//! Watchers that keep up, that are slow, that leave and that come late; restarted counts of
//! deltas; many threads.

mod below;
mod properties;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures_util::{FutureExt as _, Stream as _, StreamExt as _};
use runtime_decision::{EVENT_VERSION, Event, RunEvent, RunIdentity};
use runtime_ports::{DeltaSink as _, ModelDelta};

use super::{DeltaEvents, EventHub, EventPublisher, WatchOptions, event_hub};
use crate::engine::{EventStream, TokioClock, Watched};

pub(in crate::engine) fn told(sequence: u64, event: Event) -> RunEvent {
    RunEvent {
        version: EVENT_VERSION,
        identity: Arc::new(RunIdentity::root("run", "task", "agent")),
        sequence,
        delta: None,
        at_ms: 0,
        cycle: None,
        event,
    }
}

pub(in crate::engine) fn last(sequence: u64) -> RunEvent {
    told(sequence, Event::RunCompleted { final_answer: "done".into() })
}

pub(super) fn deltas(publisher: &EventPublisher) -> DeltaEvents {
    let identity = Arc::new(RunIdentity::root("run", "task", "agent"));
    publisher.delta_events(identity, 2, Arc::new(TokioClock::starting_at(9)))
}

fn watch(hub: &EventHub, deltas: bool, capacity: usize) -> EventStream {
    hub.subscribe(WatchOptions { deltas, capacity })
}

/// Performs a script: `e` an event, `d` a delta, `L` the last event.
fn perform(publisher: &EventPublisher, script: &str) {
    let sink = deltas(publisher);
    let mut sequence = 0;
    for step in script.chars() {
        sequence += u64::from(step != 'd');
        match step {
            'e' => publisher.publish_owned(told(sequence, Event::RunResumed)),
            'L' => publisher.publish(&Arc::new(last(sequence))),
            _ => sink.delta(ModelDelta::Text("x")),
        }
    }
}

/// What a stream has for its watcher now: `3` the event of that sequence, `3.1` the first delta
/// after it, `-2` two left out, `|` the end.
fn shown(stream: &mut EventStream) -> String {
    let mut shown = Vec::new();
    while let Some(next) = stream.next().now_or_never() {
        match next {
            Some(Watched::Event(event)) => shown.push(match event.delta {
                Some(delta) => format!("{}.{delta}", event.sequence),
                None => event.sequence.to_string(),
            }),
            Some(Watched::Missed(count)) => shown.push(format!("-{count}")),
            None => {
                shown.push("|".to_owned());
                break;
            }
        }
    }
    shown.join(" ")
}

#[track_caller]
fn check(script: &str, capacity: usize, with_deltas: &str, without: &str) {
    let (publisher, hub) = event_hub();
    let mut streams = [watch(&hub, true, capacity), watch(&hub, false, capacity)];
    perform(&publisher, script);
    let all = streams.each_mut().map(shown);
    assert_eq!(all, [with_deltas, without], "{script} with room for {capacity}");
}

#[test]
fn a_watcher_that_keeps_up_gets_everything() {
    check("", 9, "", "");
    check("eede", 9, "1 2 2.1 3", "1 2 3");
    check("ddedd", 9, "0.1 0.2 1 1.1 1.2", "1");
    check("eL", 9, "1 2 |", "1 2 |");
}

#[test]
fn a_slow_watcher_misses_deltas_first_and_never_the_end() {
    check("eddd", 2, "1 -2 1.3", "1");
    check("edde", 2, "1 -2 2", "1 2");
    check("eeddd", 2, "1 2 -3", "1 2");
    check("eedde", 2, "-1 2 -2 3", "-1 2 3");
    check("eedeL", 3, "-1 2 -1 3 4 |", "-1 2 3 4 |");
    check("eeee", 1, "-3 4", "-3 4");
    check("eeedL", 1, "-4 4 |", "-3 4 |");
    check("edL", 0, "-2 2 |", "-1 2 |");
    check("d", 0, "0.1", "");
}

#[test]
fn a_delta_that_was_taken_makes_no_room() {
    let (publisher, hub) = event_hub();
    let mut stream = watch(&hub, true, 2);
    perform(&publisher, "d");
    assert_eq!(shown(&mut stream), "0.1");
    perform(&publisher, "eed");
    assert_eq!(shown(&mut stream), "1 2 -1");
}

#[test]
fn nothing_follows_the_last_event() {
    check("eLedL", 9, "1 2 |", "1 2 |");
    let (publisher, hub) = event_hub();
    perform(&publisher, "eL");
    assert_eq!(shown(&mut watch(&hub, true, 9)), "|");
    let suspended = told(1, Event::RunSuspended { pending_approvals: Vec::new() });
    let (publisher, hub) = event_hub();
    let mut stream = watch(&hub, true, 9);
    publisher.publish_owned(suspended);
    publisher.publish_owned(told(2, Event::RunResumed));
    assert_eq!(shown(&mut stream), "1 |");
}

#[test]
fn the_streams_end_when_the_run_is_dropped() {
    let (publisher, hub) = event_hub();
    let mut stream = watch(&hub, true, 2);
    perform(&publisher, "eddd");
    drop(publisher);
    assert_eq!(shown(&mut stream), "1 -2 1.3 |");
    assert_eq!(shown(&mut watch(&hub, true, 2)), "|");
}

#[test]
fn gaps_are_told_once_and_counted_in_all() {
    let (publisher, hub) = event_hub();
    let mut stream = watch(&hub, true, 1);
    perform(&publisher, "eddd");
    assert_eq!((shown(&mut stream).as_str(), stream.missed()), ("1 -3", 3));
    perform(&publisher, "ee");
    assert_eq!((shown(&mut stream).as_str(), stream.missed()), ("-1 2", 4));
    assert_eq!((shown(&mut stream).as_str(), stream.missed()), ("", 4));
}

#[test]
fn a_watcher_begins_where_it_comes() {
    let (publisher, hub) = event_hub();
    publisher.publish_owned(told(1, Event::RunResumed));
    let sink = deltas(&publisher);
    sink.delta(ModelDelta::Text("unseen"));
    let mut late = watch(&hub, true, 9);
    sink.delta(ModelDelta::Text("seen"));
    publisher.publish_owned(told(2, Event::RunResumed));
    sink.delta(ModelDelta::Text("seen"));
    assert_eq!(shown(&mut late), "1.2 2 2.1");
}

#[test]
fn a_publisher_knows_whether_anybody_wants_deltas() {
    let (publisher, hub) = event_hub();
    let is_watched = || publisher.is_watched_with_deltas();
    assert!(!is_watched());
    let plain = watch(&hub, false, 9);
    assert!(!is_watched());
    let curious = watch(&hub, true, 9);
    assert!(is_watched());
    drop(plain);
    assert!(is_watched());
    drop(curious);
    assert!(!is_watched());
}

#[test]
fn an_event_that_nobody_watches_is_kept_by_nobody() {
    let (publisher, hub) = event_hub();
    let event = Arc::new(told(1, Event::RunResumed));
    publisher.publish(&event);
    assert_eq!(Arc::strong_count(&event), 1);
    let stream = watch(&hub, false, 9);
    publisher.publish(&event);
    assert_eq!(Arc::strong_count(&event), 2);
    drop(stream);
    assert_eq!(Arc::strong_count(&event), 1);
}

#[test]
fn every_kind_of_delta_has_its_event() {
    let (publisher, hub) = event_hub();
    let mut stream = watch(&hub, true, 9);
    let sink = deltas(&publisher);
    sink.delta(ModelDelta::Text("t"));
    sink.delta(ModelDelta::Reasoning("r"));
    sink.delta(ModelDelta::ToolCall { index: 1, id: "c", name: "n" });
    sink.delta(ModelDelta::ToolArguments { index: 1, fragment: "{" });
    sink.delta(ModelDelta::Restarted);
    let expected = [
        Event::AssistantDelta { text: "t".into() },
        Event::ReasoningDelta { text: "r".into() },
        Event::ToolCallDelta { index: 1, tool_call_id: "c".into(), tool_name: "n".into() },
        Event::ToolArgumentsDelta { index: 1, fragment: "{".into() },
        Event::AnswerRestarted,
    ];
    for (place, event) in (1..).zip(expected) {
        let Some(Some(Watched::Event(got))) = stream.next().now_or_never() else {
            panic!("an event is there")
        };
        let (delta, at_ms, cycle) = (Some(place), 9, Some(2));
        assert_eq!(*got, RunEvent { delta, at_ms, cycle, ..told(0, event) });
    }
}

#[tokio::test]
async fn a_wait_that_was_dropped_loses_nothing_and_a_new_one_is_woken() {
    let (publisher, hub) = event_hub();
    let mut stream = watch(&hub, false, 9);
    assert!(stream.next().now_or_never().is_none());
    let waiting = tokio::spawn(async move {
        let first = stream.next().await;
        (first, stream.collect::<Vec<_>>().await.len())
    });
    tokio::task::yield_now().await;
    perform(&publisher, "eeL");
    let (first, more) = waiting.await.unwrap();
    assert!(matches!(first, Some(Watched::Event(event)) if event.sequence == 1));
    assert_eq!(more, 2);
}

#[tokio::test]
async fn one_that_waits_is_woken_when_the_run_is_dropped() {
    let (publisher, hub) = event_hub();
    let mut stream = watch(&hub, false, 9);
    let waiting = tokio::spawn(async move { stream.next().await });
    tokio::task::yield_now().await;
    drop(publisher);
    assert_eq!(waiting.await.unwrap(), None);
}

/// Watches and leaves at the very moment when it is woken.
struct Meddler {
    hub: EventHub,
    stream: Mutex<Option<EventStream>>,
}

impl Wake for Meddler {
    fn wake(self: Arc<Self>) {
        drop(self.stream.lock().unwrap().take());
        drop(self.hub.subscribe(WatchOptions::default()));
    }
}

#[test]
fn whoever_is_woken_may_watch_and_leave_at_once() {
    let (publisher, hub) = event_hub();
    let stream = Mutex::new(Some(watch(&hub, true, 9)));
    let meddler = Arc::new(Meddler { hub, stream });
    let waker = Waker::from(Arc::clone(&meddler));
    let mut held = meddler.stream.lock().unwrap();
    let stream = std::pin::Pin::new(held.as_mut().unwrap());
    assert_eq!(stream.poll_next(&mut Context::from_waker(&waker)), Poll::Pending);
    drop(held);
    perform(&publisher, "e");
    assert!(!publisher.is_watched_with_deltas(), "it has left");
}

/// Notes that it was woken; panics then, if it is to.
struct Noting {
    was_woken: AtomicBool,
    panics: bool,
}

impl Noting {
    fn new(panics: bool) -> Arc<Self> {
        Arc::new(Self { was_woken: AtomicBool::new(false), panics })
    }

    fn await_next(self: &Arc<Self>, stream: &mut EventStream) {
        let waker = Waker::from(Arc::clone(self));
        let polled = std::pin::Pin::new(stream).poll_next(&mut Context::from_waker(&waker));
        assert_eq!(polled, Poll::Pending);
    }
}

impl Wake for Noting {
    fn wake(self: Arc<Self>) {
        self.was_woken.store(true, Ordering::SeqCst);
        assert!(!self.panics, "SECRET of a watcher");
    }
}

#[test]
fn one_that_panics_when_it_is_woken_harms_nobody() {
    for word in ["d", "e", "L"] {
        let (publisher, hub) = event_hub();
        let (mut bad, mut good) = (watch(&hub, true, 9), watch(&hub, true, 9));
        let (panicking, noting) = (Noting::new(true), Noting::new(false));
        panicking.await_next(&mut bad);
        noting.await_next(&mut good);
        perform(&publisher, word);
        assert!(panicking.was_woken.load(Ordering::SeqCst), "{word}");
        assert!(noting.was_woken.load(Ordering::SeqCst), "{word}");
        for stream in [&mut bad, &mut good] {
            assert!(matches!(stream.next().now_or_never(), Some(Some(Watched::Event(_)))));
        }
        drop(publisher);
        assert_eq!(bad.next().now_or_never(), Some(None), "{word}");
    }
}

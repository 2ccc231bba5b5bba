//! What a run below tells reaches those who watch a run above it, and leaves that run as it is.

use std::sync::Arc;

use runtime_decision::{Event, RunEvent, RunIdentity};
use runtime_ports::{DeltaSink as _, ModelDelta};

use super::{deltas, last, perform, shown, told, watch};
use crate::engine::event_hub::{event_hub, event_hub_below};

fn child(sequence: u64) -> Arc<RunEvent> {
    let identity = Arc::new(RunIdentity::root("below", "task", "agent"));
    Arc::new(RunEvent { identity, ..told(sequence, Event::RunResumed) })
}

#[test]
fn those_above_see_what_a_run_below_tells() {
    let (parent, hub) = event_hub();
    let (below, own) = event_hub_below(parent.hubs_for_below());
    let (lowest, _) = event_hub_below(below.hubs_for_below());
    let (mut above, mut between) = (watch(&hub, false, 9), watch(&own, false, 9));
    perform(&parent, "e");
    below.publish(&child(41));
    lowest.publish_owned(told(71, Event::RunResumed));
    perform(&below, "eL");
    perform(&parent, "eL");
    assert_eq!(shown(&mut above), "1 41 71 1 2 1 2 |");
    assert_eq!(shown(&mut between), "41 71 1 2 |");
}

#[test]
fn the_end_of_a_run_below_ends_nothing_above_and_nothing_follows_the_end_above() {
    let (parent, hub) = event_hub();
    let (below, _) = event_hub_below(parent.hubs_for_below());
    let mut stream = watch(&hub, true, 9);
    below.publish(&Arc::new(last(1)));
    drop(below);
    let (late, _) = event_hub_below(parent.hubs_for_below());
    assert_eq!(shown(&mut stream), "1");
    perform(&parent, "eL");
    late.publish(&child(41));
    assert_eq!(shown(&mut stream), "1 2 |");
}

#[test]
fn the_deltas_of_a_run_below_count_there_and_not_above() {
    let (parent, hub) = event_hub();
    let (below, _) = event_hub_below(parent.hubs_for_below());
    let mut plain = watch(&hub, false, 9);
    assert!(!below.is_watched_with_deltas());
    let mut curious = watch(&hub, true, 9);
    assert!(below.is_watched_with_deltas());
    perform(&parent, "e");
    let sink = deltas(&below);
    sink.delta(ModelDelta::Text("a"));
    sink.delta(ModelDelta::Text("b"));
    deltas(&parent).delta(ModelDelta::Text("c"));
    assert_eq!(shown(&mut curious), "1 0.1 0.2 1.1");
    assert_eq!(shown(&mut plain), "1");
}

#[test]
fn what_a_slow_watcher_misses_of_runs_below_is_counted() {
    let (parent, hub) = event_hub();
    let (below, _) = event_hub_below(parent.hubs_for_below());
    let mut stream = watch(&hub, false, 2);
    (1..=5).for_each(|sequence| below.publish(&child(sequence)));
    perform(&parent, "eL");
    assert_eq!(shown(&mut stream), "-5 1 2 |");
}

#[test]
fn nobody_above_costs_nothing() {
    let (parent, _hub) = event_hub();
    let (below, _) = event_hub_below(parent.hubs_for_below());
    let event = child(1);
    below.publish(&event);
    assert_eq!(Arc::strong_count(&event), 1);
}

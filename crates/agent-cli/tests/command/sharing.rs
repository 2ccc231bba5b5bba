//! Decides whether several processes share the receipts without losing any, and whether what a
//! dead one left open is settled by the next.

use std::collections::BTreeSet;

use rustix::process::Signal;

use crate::{
    model_server::{ModelServer, Reply},
    place::{Place, Running},
};

fn start(place: &Place, server: &ModelServer) -> Running {
    place.agent(&["run", "--model", "m", "do it"]).with_server(server).start()
}

#[test]
fn runs_at_the_same_time_lose_no_receipt() {
    let place = Place::notes();
    let runs: Vec<Running> =
        (0..6).map(|_| place.agent(&["run", "count the lines of every file"]).start()).collect();
    for run in runs {
        let ended = run.ended();
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    let receipts = place.receipts();
    let turns: BTreeSet<_> =
        receipts.iter().map(|receipt| receipt["operationId"].to_string()).collect();
    assert_eq!((receipts.len(), turns.len()), (18, 18), "three requests each");
}

#[test]
fn an_open_turn_of_a_living_run_is_left_alone() {
    let place = Place::notes();
    let server = ModelServer::playing([Reply::stall_after("It begins")]);
    let living = start(&place, &server);
    server.until_requests(1);
    let other = place.run(&["list the files"]);
    assert_eq!(other.code, Some(0), "{other:?}");
    assert_eq!(place.receipts().len(), 2, "the living one has none yet");
    living.signal(Signal::INT);
    assert_eq!(living.ended().code, Some(130));
    let ends: Vec<_> = place.receipts().iter().map(|receipt| receipt["end"].clone()).collect();
    assert_eq!(ends, ["completed", "completed", "cancelled"]);
}

#[test]
fn what_a_killed_run_left_open_is_settled_by_the_next() {
    let place = Place::notes();
    let look = Reply::call("list_files", serde_json::json!({}));
    let server = ModelServer::playing([look, Reply::stall_after("It begins")]);
    let killed = start(&place, &server);
    server.until_requests(2);
    killed.signal(Signal::KILL);
    assert_eq!(killed.ended().code, None);
    assert_eq!(place.receipts().len(), 1, "that of the first request");
    let next = place.run(&["list the files"]);
    assert_eq!(next.code, Some(0), "{next:?}");
    let receipts = place.receipts();
    let ends = |model: &str| -> Vec<String> {
        let of_model = receipts.iter().filter(|receipt| receipt["providerModel"] == model);
        of_model.map(|receipt| receipt["end"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ends("m"), ["completed", "interrupted"]);
    assert_eq!(ends("offline"), ["completed", "completed"]);
    let left_behind = receipts.iter().find(|receipt| receipt["end"] == "interrupted").unwrap();
    assert_eq!(left_behind["isLowerBound"], true);
    place.run(&["list the files"]);
    assert_eq!(place.receipts().len(), 6, "it is settled once");
}

//! Decides whether every API that an adapter speaks is examined, and the right one found.

use serde_json::Value;

use super::{
    departures, examine,
    server::{DoctorServer, Temper},
};
use crate::place::Place;

const ALL: &[&str] = &["/chat", "/responses", "/messages", "GenerateContent", "generateContent"];
const MESSAGES: &[&str] = &["/messages"];
const GEMINI: &[&str] = &["GenerateContent", "generateContent"];

fn report(stdout: &str) -> Value {
    serde_json::from_str(stdout.lines().last().unwrap()).unwrap()
}

#[test]
fn every_api_is_examined_when_it_is_named() {
    for api in ["chat", "responses", "messages", "gemini"] {
        let server = DoctorServer::start(Temper { speaks: ALL, ..Temper::default() });
        let (_, ended) = examine(&server, &["--api", api, "--json"]);
        assert_eq!(ended.code, Some(0), "{api}: {ended:?}");
        assert_eq!(departures(&ended), [] as [&str; 0], "{api}: {ended:?}");
        assert_eq!(report(&ended.stdout)["api"], api);
        assert!(server.requests() <= 45, "{api}: {} requests", server.requests());
    }
}

#[test]
fn the_api_is_found_when_none_is_named() {
    let check = |speaks: &'static [&'static str], api: &str, told: &str| {
        let server = DoctorServer::start(Temper { speaks, ..Temper::default() });
        let (_, ended) = examine(&server, &["--json"]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(report(&ended.stdout)["api"], api, "{ended:?}");
        assert!(ended.stderr.contains(told), "no {told:?} in {ended:?}");
    };
    check(MESSAGES, "messages", "it speaks the api messages, which is examined");
    check(GEMINI, "gemini", "it speaks the api gemini, which is examined");
    check(
        ALL,
        "chat",
        "it speaks the apis chat, responses, messages, gemini; chat is examined, --api names \
         another",
    );
}

#[test]
fn the_report_begins_with_the_api() {
    let server = DoctorServer::start(Temper { speaks: MESSAGES, ..Temper::default() });
    let (_, ended) = examine(&server, &[]);
    let first = ended.stdout.lines().next().unwrap();
    assert!(first.starts_with("the model m of http://127.0.0.1:"), "{first}");
    assert!(first.ends_with("/v1, by the api messages"), "{first}");
}

#[test]
fn a_vendor_gets_a_section_instead_of_a_profile() {
    let server = DoctorServer::start(Temper { speaks: GEMINI, ..Temper::default() });
    let url = server.base_url();
    let place = Place::empty();
    let ended = place.agent(&["doctor", "--base-url", &url, "--profile-out", "found.toml"]).ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stderr.contains("holds a section for the configuration file: the api gemini has no"),
        "{ended:?}"
    );
    let section = place.file("found.toml").unwrap();
    place.configure(&section);
    let ended = place.agent(&["run", "--model", "examined/m", "Say hello."]).ended();
    assert_eq!((ended.code, ended.stdout.trim()), (Some(0), "ready"), "{ended:?}");
}

#[test]
fn a_vendor_that_departs_is_told_as_it_is() {
    let temper = Temper {
        speaks: MESSAGES,
        refuses: &["thinking", "output_config", "image", "stop_sequences"],
        usage: false,
        ..Temper::default()
    };
    let server = DoctorServer::start(temper);
    let (_, ended) = examine(&server, &["--json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(
        departures(&ended),
        [
            "usage deviates_handled: none: what it costs is unknown",
            "thinking will_not_work: http 400: INVALID_REQUEST",
            "more fields will_not_work: refused: stop texts",
            "JSON schema will_not_work: http 400: INVALID_REQUEST",
            "images will_not_work: http 400: INVALID_REQUEST",
            "result images will_not_work: http 400: INVALID_REQUEST",
        ]
    );
    assert_eq!(report(&ended.stdout)["profile"], Value::Null);
}

#[test]
fn pictures_in_results_go_where_they_are_seen() {
    let check = |temper: Temper, came: &[&str], place_of: &str| {
        let server = DoctorServer::start(temper);
        let (place, ended) = examine(&server, &["--json", "--profile-out", "found.toml"]);
        let found: Vec<String> = departures(&ended)
            .into_iter()
            .filter(|line| line.starts_with("result images"))
            .collect();
        assert_eq!(found, came, "{ended:?}");
        assert!(place.file("found.toml").unwrap().contains(place_of));
    };
    check(Temper::default(), &[], "result_images = \"in_the_result\"");
    check(
        Temper { colour: "A colour.", ..Temper::default() },
        &[
            "result images deviates_handled: taken, and not told as red; they are sent behind the results",
        ],
        "result_images = \"behind_the_results\"",
    );
    check(
        Temper { refuses: &["image"], ..Temper::default() },
        &[
            "result images deviates_handled: http 400: INVALID_REQUEST; they are sent behind the results",
        ],
        "result_images = \"behind_the_results\"",
    );
}

#[test]
fn items_keep_their_status_where_it_is_taken() {
    for (refuses, expected) in
        [(&[][..], "item_status = true"), (&["status"][..], "item_status = false")]
    {
        let server = DoctorServer::start(Temper { refuses, ..Temper::default() });
        let arguments = ["--api", "responses", "--profile-out", "found.toml"];
        let (place, ended) = examine(&server, &arguments);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(place.file("found.toml").unwrap().contains(expected), "{expected}: {ended:?}");
    }
}

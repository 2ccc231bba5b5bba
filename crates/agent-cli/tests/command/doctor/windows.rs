//! Decides whether the real window of a model is found, and what that costs is told before.

use openai_adapter::ServerProfile;

use super::{
    departures, examine,
    server::{DoctorServer, Temper},
};

fn check(temper: Temper, most: &str, expected: &[&str], context: Option<u64>) {
    let server = DoctorServer::start(temper);
    let arguments = ["--json", "--window-up-to", most, "--profile-out", "found.toml"];
    let (place, ended) = examine(&server, &arguments);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let found: Vec<String> =
        departures(&ended).into_iter().filter(|line| line.starts_with("window ")).collect();
    assert_eq!(found, expected, "{ended:?}");
    let profile = ServerProfile::from_toml(&place.file("found.toml").unwrap()).unwrap();
    assert_eq!(profile.context_tokens, context);
    assert!(ended.stderr.contains("looking for the window takes up to "), "{ended:?}");
}

#[test]
fn a_prompt_that_is_cut_in_silence_is_found() {
    // As a server does whose window was set up small, and which says nothing of it.
    let cut =
        "window deviates_handled: cut to 12000 tokens without a word; cut answers are refused";
    let temper = Temper { cuts_to: Some(12_000), ..Temper::default() };
    check(temper, "32768", &[cut], Some(12_288));
}

#[test]
fn a_window_that_refuses_is_narrowed_down() {
    check(Temper::default(), "16384", &[], Some(7_936));
}

#[test]
fn a_window_that_is_larger_than_what_was_tried_is_not_made_up() {
    check(Temper::default(), "4096", &[], None);
}

#[test]
fn nothing_is_looked_for_unasked() {
    let server = DoctorServer::start(Temper::default());
    let (_, ended) = examine(&server, &["--json"]);
    assert!(!ended.stdout.contains("\"probe\":\"window\""), "{ended:?}");
    let longest = server.bodies().iter().map(|body| body.to_string().len()).max().unwrap();
    assert!(longest < 80_000, "a prompt of {longest} bytes");
}

//! Decides whether `agent doctor` ends in good time, with a word of advice, whatever it is pointed at.

use std::{
    io::Write,
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use super::{
    raw_server::RawServer,
    server::{DoctorServer, Temper},
};
use crate::place::{Ended, Place};

fn doctor(url: &str, arguments: &[&str]) -> Ended {
    let all = [&["doctor", "--base-url", url, "--model", "m"], arguments].concat();
    Place::empty().agent(&all).ended()
}

/// How it must end, and what must be said on either stream.
fn check(url: &str, arguments: &[&str], code: i32, parts: &[&str]) {
    let begun = Instant::now();
    let ended = doctor(url, arguments);
    assert_eq!(ended.code, Some(code), "{ended:?}");
    let said = format!("{} {}", ended.stdout, ended.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "it took {:?}", begun.elapsed());
}

fn url(server: &RawServer) -> String {
    format!("http://{}/v1", server.address)
}

#[test]
fn a_server_that_closes_at_once() {
    let server = RawServer::start("");
    check(&url(&server), &[], 5, &["broke before the answer", "if it is right, try again"]);
}

#[test]
fn a_server_that_speaks_no_http() {
    let server = RawServer::start("220 mail.example ESMTP\r\n");
    check(&url(&server), &[], 5, &["agent: "]);
}

#[test]
fn a_stream_without_an_end() {
    let flood = |connection: &mut TcpStream| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let mut goes_on = connection.write_all(head.as_bytes()).is_ok();
        let line = format!("data: {}\n\n", "{\"choices\":[{\"delta\":{\"content\":\"more \"}}]}");
        let lines = line.repeat(2_000);
        while goes_on {
            goes_on = connection.write_all(lines.as_bytes()).is_ok();
        }
    };
    let server = RawServer::on("127.0.0.1:0", flood).unwrap();
    check(&url(&server), &["--api", "chat"], 5, &["answer will not work", "no agent can work"]);
}

#[test]
fn a_redirect_is_not_followed_and_no_key_goes_along() {
    let elsewhere = RawServer::start("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
    let target = elsewhere.address;
    let redirect = move |connection: &mut TcpStream| {
        let answer = format!(
            "HTTP/1.1 307 Moved\r\nlocation: http://{target}/v1/x\r\ncontent-length: 0\r\n\r\n"
        );
        let _ = connection.write_all(answer.as_bytes());
    };
    let server = RawServer::on("127.0.0.1:0", redirect).unwrap();
    let place = Place::empty();
    for api in ["chat", "messages", "gemini"] {
        place.configure(&format!(
            "[[providers]]\nname = 'mine'\nbase_url = '{}'\napi = '{api}'\napi_key_env = 'MY_KEY'\n",
            url(&server)
        ));
        let agent = place.agent(&["doctor", "--model", "mine/m"]);
        let ended = agent.env("MY_KEY", "sk-canary-of-mine").ended();
        assert_ne!(ended.code, Some(0), "{ended:?}");
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(said.contains("set the final address as base url"), "{api}: {said}");
        assert!(!said.contains("canary"), "{said}");
    }
    assert!(server.heads().contains("sk-canary-of-mine"), "{}", server.heads());
    assert_eq!(elsewhere.heads(), "");
}

#[test]
fn tls_where_there_is_none() {
    let server = RawServer::start("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    let url = url(&server).replace("http:", "https:");
    check(&url, &[], 5, &["cannot reach https://127.0.0.1:"]);
}

#[test]
fn an_address_without_its_version() {
    let server = RawServer::start("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    let bare = format!("http://{}", server.address);
    let advice = format!("most servers have a version in their address: try {bare}/v1");
    check(&bare, &[], 4, &[&advice]);
    check(&format!("{bare}/"), &[], 4, &[&advice]);
    check(&bare, &["--api", "gemini"], 4, &[&format!("{advice}beta")]);
    let all = ["doctor", "--base-url", &bare];
    let ended = Place::empty().agent(&all).ended();
    assert!(ended.stderr.contains(&advice), "{ended:?}");
    let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>";
    let server = RawServer::start(page);
    check(&format!("http://{}", server.address), &[], 5, &["a web page answered", "/v1"]);
}

#[test]
fn a_key_that_is_missing_is_advised_in_the_variables_of_the_api() {
    let server = RawServer::start("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n");
    for (api, advice) in [
        ("chat", "set OPENAI_BASE_URL with OPENAI_API_KEY"),
        ("messages", "set ANTHROPIC_BASE_URL with ANTHROPIC_API_KEY"),
        ("gemini", "set GEMINI_BASE_URL with GEMINI_API_KEY"),
    ] {
        check(&url(&server), &["--api", api], 4, &[advice]);
    }
}

#[test]
fn a_slash_at_the_end_and_version_six_change_nothing() {
    let server = DoctorServer::start(Temper::default());
    let with_slash = format!("{}/", server.base_url());
    check(&with_slash, &[], 0, &["an agent can work with this server"]);
    let page = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
    let write = move |connection: &mut TcpStream| {
        let _ = connection.write_all(page.as_bytes());
    };
    // Not every machine has the address.
    let Some(server) = RawServer::on("[::1]:0", write) else { return };
    check(&format!("http://{}/v1", server.address), &[], 4, &["http 404"]);
}

#[test]
fn a_file_that_cannot_be_made_is_told_before_anything_is_sent() {
    let server = DoctorServer::start(Temper::default());
    let url = server.base_url();
    for file in ["no/such/folder/x.toml", "/proc/x.toml", "."] {
        let ended = doctor(&url, &["--profile-out", file]);
        assert_eq!(ended.code, Some(3), "{file}: {ended:?}");
        assert!(ended.stderr.contains(file), "{file}: {ended:?}");
        assert!(
            ended.stderr.contains("name a file in a folder that can be")
                || ended.stderr.contains("name another file"),
            "{file}: {ended:?}"
        );
    }
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_file_for_which_nothing_was_found_is_removed() {
    let server = RawServer::start("");
    let place = Place::empty();
    let url = url(&server);
    let arguments = ["doctor", "--base-url", &url, "--model", "m", "--profile-out", "out.toml"];
    let ended = place.agent(&arguments).ended();
    assert_eq!(ended.code, Some(5), "{ended:?}");
    assert_eq!(place.file("out.toml"), None);
}

#[test]
fn no_colours_come_through_a_pipe() {
    let server = DoctorServer::start(Temper::default());
    let ended = doctor(&server.base_url(), &[]);
    assert!(!ended.stdout.contains('\u{1b}') && !ended.stderr.contains('\u{1b}'), "{ended:?}");
}

#[test]
fn a_server_that_hangs_after_its_list_is_left_with_ctrl_c_and_no_file_stays() {
    let server = DoctorServer::start(Temper { silent: true, ..Temper::default() });
    let place = Place::empty();
    let url = server.base_url();
    let arguments = ["doctor", "--base-url", &url, "--model", "m", "--profile-out", "out.toml"];
    let running = place.agent(&arguments).start();
    server.until_requests(2);
    thread::sleep(Duration::from_millis(50));
    running.signal(rustix::process::Signal::INT);
    let ended = running.ended();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert_eq!(place.file("out.toml"), None);
}

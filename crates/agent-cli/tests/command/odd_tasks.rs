//! Decides whether tasks in any script and of any length arrive as they were given.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

use serde_json::json;

use crate::{
    model_server::{ModelServer, Reply},
    place::Place,
};

#[test]
fn an_empty_task_is_an_error_of_the_command_line() {
    for task in ["", "  \n "] {
        let ended = Place::empty().run(&[task]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains("the task is empty; say what to do"), "{ended:?}");
    }
}

#[test]
fn a_task_that_is_no_text_is_an_error_of_the_command_line() {
    let place = Place::empty();
    let mut command = place.agent(&["run"]).into_command();
    let status = command.arg(OsStr::from_bytes(b"\xff\xfe")).output().unwrap().status;
    assert_eq!(status.code(), Some(2));
}

#[test]
fn text_of_any_script_goes_through_unharmed() {
    let answer = "Grüße, 你好, नमस्ते, 👨\u{200d}👩\u{200d}👧\n\tund so weiter\n";
    let content = json!({ "path": "grüße 你.txt", "content": answer });
    let replies = [Reply::call("write_file", content), Reply::text(answer)];
    let server = ModelServer::playing(replies);
    let place = Place::empty();
    let task = "schreibe 你好 👨\u{200d}👩\u{200d}👧";
    let ended = place.run_with(&server, &["--yes", "--model", "m", task]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), answer), "{ended:?}");
    assert_eq!(place.file("grüße 你.txt").as_deref(), Some(answer));
    assert_eq!(server.requests()[0].body["messages"][1]["content"], task);
    assert!(ended.stderr.contains("[1] write_file grüße 你.txt ("), "{ended:?}");
}

#[test]
fn a_long_task_and_a_long_answer_arrive_whole() {
    let task = "many words ".repeat(10_000);
    let answer = format!("{}end\n", "an answer ".repeat(20_000));
    let server = ModelServer::playing([Reply::text(&answer)]);
    let place = Place::empty();
    let ended = place.run_with(&server, &["--model", "m", &task]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stdout == answer, "{} bytes", ended.stdout.len());
    assert!(server.requests()[0].body["messages"][1]["content"] == json!(task));
}

#[test]
fn a_task_may_begin_with_a_dash_behind_two_of_them() {
    let place = Place::notes();
    assert_eq!(place.run(&["--", "- list the files"]).code, Some(0));
}

#[test]
fn a_folder_with_odd_names_is_worked_in() {
    let place = Place::empty();
    place.put("näme \u{1b}[2J\nzwei/ok.txt", "a\n");
    let ended = place.run(&["--folder", "näme \u{1b}[2J\nzwei", "list the files"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.starts_with("folder  /") && !ended.stderr.contains('\x1b'), "{ended:?}");
    assert!(ended.stdout.contains("- ok.txt (2 bytes)"), "{ended:?}");
}

//! Decides whether streams that are closed, full or broken end nothing that should go on.

use std::{
    fs::File,
    io::{Read, pipe},
    process::Stdio,
};

use crate::{
    output::{Output, end_of},
    place::{Agent, Place},
};

/// Starts the command with a reader that goes away after the first byte, as `head` does.
fn read_one_byte(agent: Agent) -> (Option<i32>, String) {
    let (mut reader, writer) = pipe().unwrap();
    let mut command = agent.into_command();
    let mut child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    drop(command);
    let progress = Output::of(child.stderr.take().unwrap());
    reader.read_exact(&mut [0]).unwrap();
    drop(reader);
    let code = end_of(&mut child).code();
    (code, progress.ended())
}

#[test]
fn a_reader_that_saw_enough_costs_neither_the_work_nor_the_receipt() {
    let place = Place::notes();
    // The answer is longer than a pipe holds.
    let long = "x".repeat(200);
    for number in 0..400 {
        place.put(&format!("many/{number}{long}.txt"), "x\n");
    }
    let task = "count the lines of every file and write the totals to TOTALS.md";
    for (count, arguments) in
        [&["run", "--yes", task][..], &["run", "--yes", "--json", task]].into_iter().enumerate()
    {
        let (code, progress) = read_one_byte(place.agent(arguments));
        assert_eq!(code, Some(0), "{progress}");
        assert!(!progress.contains("panicked"), "{progress}");
        assert!(place.file("TOTALS.md").is_some());
        assert!(place.receipts().len() > 10 * (count + 1), "one for each request");
    }
    let (code, progress) = read_one_byte(place.agent(&["receipts"]));
    assert_eq!((code, progress.as_str()), (Some(0), ""));
}

#[test]
fn streams_that_are_closed_from_the_start_end_nothing() {
    let place = Place::notes();
    let closed = || {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        writer
    };
    let mut command = place.agent(&["run", "--yes", "write \"x\" to a.txt"]).into_command();
    let mut child = command.stdout(closed()).stderr(closed()).spawn().unwrap();
    assert_eq!(end_of(&mut child).code(), Some(0));
    assert_eq!(place.file("a.txt").as_deref(), Some("x\n"));
    let mut command = place.agent(&["receipts", "--nonsense"]).into_command();
    let mut child = command.stdout(closed()).stderr(closed()).spawn().unwrap();
    assert_eq!(end_of(&mut child).code(), Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    let place = Place::notes();
    for arguments in
        [&["run", "list the files"][..], &["run", "--json", "list the files"], &["receipts"]]
    {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut command = place.agent(arguments).into_command();
        let mut child = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let progress = Output::of(child.stderr.take().unwrap());
        let code = end_of(&mut child).code();
        let progress = progress.ended();
        assert_ne!(code, Some(0), "{progress}");
        assert!(progress.contains("agent: standard output"), "{progress}");
    }
}

#[test]
fn input_that_is_broken_is_nobody_to_ask() {
    let place = Place::notes();
    let (reader, writer) = pipe().unwrap();
    drop(writer);
    let folder = File::open(place.folder()).unwrap();
    for input in [Stdio::from(reader), Stdio::from(folder), Stdio::null()] {
        let ended = place.agent(&["run", "write \"x\" to a.txt"]).stdin(input).ended();
        assert_eq!(ended.code, Some(6), "{ended:?}");
    }
    let (reader, mut writer) = pipe().unwrap();
    std::io::Write::write_all(&mut writer, b"y\ny\n").unwrap();
    let ended = place.agent(&["run", "write \"x\" to a.txt"]).stdin(reader).ended();
    assert_eq!(ended.code, Some(6), "a pipe is no person: {ended:?}");
    assert_eq!(place.file("a.txt"), None);
}

//! Decides whether a task is carried through, step by step, by the results that tools gave.

use std::collections::BTreeMap;

use runtime_ports::{ModelContent, ModelMessage, ModelRole, Transcript};
use serde_json::{Value, json};

use crate::{exchange::Situation, plan::next_step, step::Step};

/// A folder in memory behind the standard tools' result shapes.
struct Folder {
    files: BTreeMap<&'static str, Result<String, &'static str>>,
    refuses_writes: bool,
}

impl Folder {
    fn of(files: &[(&'static str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| (*path, Ok((*text).to_owned())));
        Self { files: files.collect(), refuses_writes: false }
    }

    fn serve(&self, tool: &str, arguments: &Value) -> (String, bool) {
        let path = arguments["path"].as_str().unwrap_or("");
        match tool {
            "list_files" => (self.list(path).to_string(), false),
            "read_file" => self.read(path),
            "search_files" => {
                let found = json!({
                    "matches": ["a.txt:1:milk"],
                    "skipped": ["b.bin: skipped (binary file)"],
                    "truncated": true,
                });
                (found.to_string(), false)
            }
            "write_file" if self.refuses_writes => {
                (json!({ "ok": false, "error": "nobody approved it" }).to_string(), true)
            }
            "write_file" => (json!({ "path": path }).to_string(), false),
            other => panic!("{other} is no tool of this folder"),
        }
    }

    fn list(&self, folder: &str) -> Value {
        let below = self.files.keys().filter(|path| path.starts_with(folder));
        let entries = below.map(|path| json!({ "path": path, "kind": "file", "bytes": 1 }));
        json!({ "path": folder, "entries": entries.collect::<Vec<_>>() })
    }

    fn read(&self, path: &str) -> (String, bool) {
        match self.files.get(path) {
            None => (json!({ "ok": false, "error": "no such file" }).to_string(), true),
            Some(Err(reason)) => (json!({ "path": path, "skipped": reason }).to_string(), false),
            Some(Ok(text)) => {
                let (lines, bytes) = (text.lines().count(), text.len());
                let reply =
                    json!({ "path": path, "lines": lines, "bytes": bytes, "content": text });
                (reply.to_string(), false)
            }
        }
    }
}

/// Runs a task to its answer; gives the calls in order and the answer.
fn run(task: &str, folder: &Folder) -> (Vec<(String, Value)>, String) {
    let mut transcript = Transcript::from(vec![ModelMessage::text(ModelRole::User, task)]);
    let mut calls = Vec::new();
    for _ in 0..50 {
        let step = next_step(&Situation::of(&transcript));
        let Step::Calls(wanted) = step else {
            let Step::Answer(text) = step else { unreachable!() };
            return (calls, text);
        };
        for (tool, arguments) in wanted {
            let id = format!("c{}", calls.len());
            let (content, failed) = folder.serve(tool, &arguments);
            let name = tool.to_owned();
            calls.push((name.clone(), arguments.clone()));
            let call = ModelContent::ToolUse { id: id.clone(), name: name.clone(), arguments };
            let result = ModelContent::ToolResult { tool_use_id: id, name, content, failed };
            let message = |role, content| ModelMessage { role, content: vec![content] };
            transcript.push(message(ModelRole::Assistant, call));
            transcript.push(message(ModelRole::Tool, result));
        }
    }
    panic!("the task did not end");
}

fn names(calls: &[(String, Value)]) -> Vec<&str> {
    calls.iter().map(|(name, _)| name.as_str()).collect()
}

const COUNT: &str =
    "Count the lines of every file in this folder and write the totals to TOTALS.md";

#[test]
fn counting_lists_reads_every_file_and_writes_the_table() {
    let mut folder = Folder::of(&[("a.txt", "1\n2\n"), ("b/c.txt", "x"), ("TOTALS.md", "old")]);
    folder.files.insert("p.png", Err("binary, 9 bytes"));
    let (calls, answer) = run(COUNT, &folder);
    assert_eq!(names(&calls), ["list_files", "read_file", "read_file", "read_file", "write_file"]);
    let written = calls[4].1["content"].as_str().unwrap();
    let table = "| File | Lines |\n|---|---:|\n| a.txt | 2 |\n| b/c.txt | 1 |\n| **Total** | **3** |\n\nSkipped:\n- p.png: binary, 9 bytes\n";
    assert_eq!(written, table);
    assert!(answer.starts_with(table.trim_end()), "{answer}");
    assert!(answer.ends_with(&format!("Wrote {} bytes to TOTALS.md.", table.len())), "{answer}");
}

#[test]
fn a_binary_file_is_named_as_skipped_and_not_shown() {
    let mut folder = Folder::of(&[]);
    folder.files.insert("p.png", Err("binary file"));
    assert_eq!(run("read p.png", &folder).1, "p.png:\nskipped (binary file)");
}

#[test]
fn the_plan_depends_on_the_results() {
    let (few, _) = run(COUNT, &Folder::of(&[("only.txt", "1")]));
    assert_eq!(names(&few), ["list_files", "read_file", "write_file"]);
    let names_of_20: Vec<&'static str> =
        (0..20).map(|n| -> &'static str { format!("f{n:02}").leak() }).collect();
    let files: Vec<_> = names_of_20.iter().map(|name| (*name, "a\n")).collect();
    let (many, answer) = run("count the lines of all files", &Folder::of(&files));
    assert_eq!(many.len(), 21);
    assert!(answer.contains("| **Total** | **20** |"), "{answer}");
}

#[test]
fn a_refused_write_is_reported_with_the_result() {
    let folder = Folder { refuses_writes: true, ..Folder::of(&[("a.txt", "1\n")]) };
    let (_, answer) = run(COUNT, &folder);
    assert!(answer.contains("| a.txt | 1 |"), "{answer}");
    assert!(answer.ends_with("Could not write TOTALS.md: nobody approved it"), "{answer}");
}

#[test]
fn every_task_of_the_handful_ends_in_an_answer_from_its_results() {
    let folder = Folder::of(&[("a.txt", "buy milk\nand eggs\n"), ("docs/b.md", "\n# Plan\n")]);
    for (task, calls, part) in [
        ("list the files", vec!["list_files"], "2 items in the folder:\n- a.txt (1 bytes)"),
        ("list the docs folder", vec!["list_files"], "1 item in the folder docs:"),
        ("read a.txt", vec!["read_file"], "a.txt:\nbuy milk\nand eggs"),
        ("read gone.txt", vec!["read_file"], "Could not read gone.txt: no such file"),
        (
            "search for milk",
            vec!["search_files"],
            "At least 1 line with \"milk\" in the folder:\n- a.txt:1:milk\n- b.bin: skipped (binary file)",
        ),
        ("how many words are in a.txt?", vec!["read_file"], "| a.txt | 4 |"),
        ("count the files", vec!["list_files"], "2 files:\n- a.txt\n- docs/b.md"),
        (
            "summarise this folder",
            vec!["list_files", "read_file", "read_file"],
            "(2 lines): # Plan",
        ),
        ("write \"x\" to n.txt", vec!["write_file"], "Wrote 2 bytes to n.txt."),
        ("sing", vec![], "does not understand"),
    ] {
        let (made, answer) = run(task, &folder);
        assert_eq!(names(&made), calls, "{task}");
        assert!(answer.contains(part), "{task}: {answer}");
    }
}

#[test]
fn a_second_task_begins_afresh() {
    let mut transcript = Transcript::from(vec![ModelMessage::text(ModelRole::User, "list files")]);
    let arguments = json!({ "path": "", "recursive": false });
    let call = ModelContent::ToolUse { id: "1".into(), name: "list_files".into(), arguments };
    transcript.push(ModelMessage { role: ModelRole::Assistant, content: vec![call] });
    let result = ModelContent::ToolResult {
        tool_use_id: "1".into(),
        name: "list_files".into(),
        content: json!({ "entries": [] }).to_string(),
        failed: false,
    };
    transcript.push(ModelMessage { role: ModelRole::Tool, content: vec![result] });
    assert!(matches!(next_step(&Situation::of(&transcript)), Step::Answer(_)));
    transcript.push(ModelMessage::text(ModelRole::User, "list files"));
    assert!(matches!(next_step(&Situation::of(&transcript)), Step::Calls(_)));
}

#[test]
fn words_of_a_file_that_was_shown_in_part_are_a_lower_bound() {
    let task = ModelMessage::text(ModelRole::User, "how many words are in big.txt?");
    let mut transcript = Transcript::from(vec![task]);
    let arguments = json!({ "path": "big.txt" });
    let call = ModelContent::ToolUse { id: "1".into(), name: "read_file".into(), arguments };
    let content = json!({ "lines": 9, "bytes": 90, "truncated": true, "content": "a b c" });
    let result = ModelContent::ToolResult {
        tool_use_id: "1".into(),
        name: "read_file".into(),
        content: content.to_string(),
        failed: false,
    };
    transcript.push(ModelMessage { role: ModelRole::Assistant, content: vec![call] });
    transcript.push(ModelMessage { role: ModelRole::Tool, content: vec![result] });
    let Step::Answer(answer) = next_step(&Situation::of(&transcript)) else { panic!() };
    assert!(answer.contains("| big.txt | at least 3 |"), "{answer}");
    assert!(answer.contains("| **Total** | **at least 3** |"), "{answer}");
}

//! Decides whether the offline model does its handful of tasks end to end, in more than one
//! wording.

use crate::place::Place;

/// Runs a task on the notes; every part must be in the answer.
fn check(task: &str, parts: &[&str]) -> Place {
    let place = Place::notes();
    let ended = place.run(&["--yes", task]);
    assert_eq!(ended.code, Some(0), "{task}: {ended:?}");
    for part in parts {
        assert!(ended.stdout.contains(part), "{task}: no {part:?} in {}", ended.stdout);
    }
    place
}

#[test]
fn lists() {
    let top = ["- ideas.md (212 bytes)", "- recipes/", "- shopping.txt"];
    check("list the files", &top);
    check("What is in this folder?", &top);
    check("show the files in recipes/", &["- recipes/soup.md", "- recipes/pancakes.md"]);
    let place = check("list all files and save the list to index.md", &["index.md"]);
    assert!(place.file("index.md").unwrap().contains("ideas.md"));
}

#[test]
fn reads() {
    for task in ["read shopping.txt", "show me shopping.txt", "what does shopping.txt say?"] {
        check(task, &["milk\neggs\nflour\napples"]);
    }
    check("read \"recipes/soup.md\"", &["Roast the pumpkin first"]);
}

#[test]
fn searches() {
    let hits = ["shopping.txt:1:milk", "recipes/pancakes.md:"];
    for task in ["search for \"milk\"", "which files mention milk?", "find 'milk' in this folder"] {
        check(task, &hits);
    }
    check("search for \"unicorns\"", &["does not occur"]);
}

#[test]
fn counts() {
    check("how many words are in shopping.txt?", &["| shopping.txt | 4 |"]);
    check("count the files", &["6 files"]);
    check("count the bytes of shopping.txt", &["| shopping.txt | 23 |"]);
    let place = check("tally the lines of all files and put them into sums.md", &["**28**"]);
    assert!(place.file("sums.md").unwrap().contains("| **Total** | **28** |"));
}

#[test]
fn summarises() {
    for task in ["summarise this folder", "give me an overview of the folder"] {
        check(task, &["# Summary", "- ideas.md (7 lines): # Ideas"]);
    }
    let place = check("write a summary of the folder to SUMMARY.md", &["SUMMARY.md"]);
    assert!(place.file("SUMMARY.md").unwrap().starts_with("# Summary\n"));
}

#[test]
fn writes() {
    let place = check("write \"buy milk\" to todo.txt", &["todo.txt"]);
    assert_eq!(place.file("todo.txt").as_deref(), Some("buy milk\n"));
    let place = check("save 'zwei Äpfel' in deep/er/list.txt", &["deep/er/list.txt"]);
    assert_eq!(place.file("deep/er/list.txt").as_deref(), Some("zwei Äpfel\n"));
}

#[test]
fn leaves_out_what_git_ignores_and_names_binaries_as_skipped() {
    let place = Place::notes();
    place.put("drafts/secret-plan.md", "milk\n");
    for task in ["list the files", "search for \"milk\"", "count the lines of every file"] {
        let ended = place.run(&[task]);
        assert!(!ended.stdout.contains("drafts"), "{task}: {ended:?}");
    }
    check("search for \"milk\"", &["balcony.png: skipped (binary"]);
    check("read balcony.png", &["balcony.png:\nskipped (binary file)"]);
    check("count the lines of every file", &["Skipped:\n- balcony.png: binary file"]);
    check("summarise this folder", &["Skipped:\n- balcony.png: binary file"]);
}

#[test]
fn says_so_when_it_does_not_understand() {
    let not_understood = "The offline model does not understand this task.";
    check("compose a sonnet about tomatoes", &[not_understood, "--model", "OPENAI_API_KEY"]);
}

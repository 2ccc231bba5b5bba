//! Decides whether tasks are understood in more than one wording, and refused otherwise.

use crate::task::{Scope, Task, Unit};

fn folder(name: &str) -> Scope {
    Scope::Folder { path: name.into(), ending: None }
}

fn files(names: &[&str]) -> Scope {
    Scope::Files(names.iter().map(|name| (*name).into()).collect())
}

fn check(text: &str, expected: Task) {
    assert_eq!(Task::of(text), expected, "{text}");
}

#[test]
fn counts_are_understood() {
    let count = |unit, scope, target: Option<&str>| Task::Count {
        unit,
        scope,
        target: target.map(str::to_owned),
    };
    check(
        "Count the lines of every file in this folder and write the totals to TOTALS.md",
        count(Unit::Lines, folder(""), Some("TOTALS.md")),
    );
    check("How many lines does each file have?", count(Unit::Lines, folder(""), None));
    check("how many words are in plan.txt?", count(Unit::Words, files(&["plan.txt"]), None));
    check("count the files in docs/", count(Unit::Files, folder("docs"), None));
    check("Count lines in a.txt and b.txt.", count(Unit::Lines, files(&["a.txt", "b.txt"]), None));
    check(
        "Please tally the bytes of the files in the docs folder, save it in sizes.md",
        count(Unit::Bytes, folder("docs"), Some("sizes.md")),
    );
    check("give me the total number of lines", count(Unit::Lines, folder(""), None));
    check("How many lines are in recipes?", count(Unit::Lines, folder("recipes"), None));
    check("count the words in total", count(Unit::Words, folder(""), None));
    check("count lines in \"two words.txt\"", count(Unit::Lines, files(&["two words.txt"]), None));
    check("count the lines of a.txt to n.md", count(Unit::Lines, files(&["a.txt"]), Some("n.md")));
    for text in ["Count the lines of every .md file", "how many lines do all *.md files have?"] {
        let ending = Some(".md".into());
        let scope = Scope::Folder { path: String::new(), ending };
        check(text, count(Unit::Lines, scope, None));
    }
}

#[test]
fn lists_are_understood() {
    let list = |folder: &str, target: Option<&str>| Task::List {
        folder: folder.into(),
        target: target.map(str::to_owned),
    };
    check("list the files", list("", None));
    check("What is in this folder?", list("", None));
    check("Show me the files in docs/", list("docs", None));
    check("list the folder notes", list("notes", None));
    check("ls", list("", None));
    check("list the recipes", list("recipes", None));
    check("list the files in \"dir ä\"", list("dir ä", None));
    check("List all files and write the list to INDEX.md", list("", Some("INDEX.md")));
}

#[test]
fn reads_are_understood() {
    let read = |names: &[&str]| Task::Read { files: names.iter().map(|n| (*n).into()).collect() };
    check("read plan.txt", read(&["plan.txt"]));
    check("Show me notes/plan.txt, please.", read(&["notes/plan.txt"]));
    check("What does plan.txt say?", read(&["plan.txt"]));
    check("print \"my.file.md\"", read(&["my.file.md"]));
    check("cat a.txt b.txt", read(&["a.txt", "b.txt"]));
    check("read \"two words.txt\"", read(&["two words.txt"]));
    check("read \"🍕 pizza.txt\"", read(&["🍕 pizza.txt"]));
}

#[test]
fn searches_are_understood() {
    let search = |query: &str, folder: &str, target: Option<&str>| Task::Search {
        query: query.into(),
        folder: folder.into(),
        target: target.map(str::to_owned),
    };
    check("search for \"Milk and eggs\"", search("Milk and eggs", "", None));
    check("find 'milk' in notes/", search("milk", "notes", None));
    check("grep milk", search("milk", "", None));
    check("search for PUMPKIN", search("PUMPKIN", "", None));
    check("find \"plan.txt\"", search("plan.txt", "", None));
    check("Which files mention milk?", search("milk", "", None));
    check("Search the notes for milk", search("milk", "", None));
    check("find \"x\" and save it to hits.txt", search("x", "", Some("hits.txt")));
}

#[test]
fn summaries_are_understood() {
    let summarise =
        |scope, target: Option<&str>| Task::Summarise { scope, target: target.map(str::to_owned) };
    check("summarise this folder", summarise(folder(""), None));
    check("Write a summary of the folder to SUMMARY.md", summarise(folder(""), Some("SUMMARY.md")));
    check("Give me an overview of docs/", summarise(folder("docs"), None));
    check("summarize plan.txt", summarise(files(&["plan.txt"]), None));
    check(
        "summarise recipes/ to recipes/SUM.md",
        summarise(folder("recipes"), Some("recipes/SUM.md")),
    );
}

#[test]
fn texts_are_written_as_given() {
    let write =
        |path: &str, content: &str| Task::Write { path: path.into(), content: content.into() };
    check(
        "write \"buy Milk, don't forget\" to todo.txt",
        write("todo.txt", "buy Milk, don't forget"),
    );
    check("Save 'x' as a/b.md", write("a/b.md", "x"));
    check("write \"x\" to \"my new file.txt\"", write("my new file.txt", "x"));
    check("write \"a.txt\" to b.txt", write("b.txt", "a.txt"));
}

#[test]
fn anything_else_is_refused_not_guessed() {
    for text in [
        "",
        "sing me a song",
        "delete everything",
        "translate plan to German",
        "42",
        "🦀",
        "count the lines and then summarise the folder",
    ] {
        check(text, Task::Unknown);
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_rules_panic(text in "(\\PC|[\"'`/. ]|write|count|to|folder|a.b){0,60}") {
        let _ = Task::of(&text);
    }
}

//! Handles that are dropped, in all the shapes code takes, and those that somebody keeps.

use super::*;
use crate::tidy::tests::found;

const ADAPTER: &str = "crates/x-adapter/src/a.rs";
const NONE: [&str; 0] = [];

/// Lines of the problems of a function with this body, which begins at line two.
fn lines(body: &str) -> Vec<String> {
    let places = found(check, ADAPTER, &format!("fn a() {{\n{body}\n}}"));
    places.into_iter().map(|place| place.rsplit(':').next().expect("a line").to_owned()).collect()
}

#[test]
fn a_dropped_handle_is_found_in_every_shape() {
    for body in [
        "tokio::spawn(b);",
        "tokio::task::spawn(b);",
        "::tokio::task::spawn_blocking(b);",
        "task::spawn_blocking(move || { c() });",
        "task::spawn_local(b);",
        "spawn(b);",
        "std::thread::spawn(b);",
        "thread::Builder::new().name(c).spawn(b)?;",
        "Handle::current().spawn(b);",
        "self.runtime.spawn_blocking(b);",
        "tokio::task::Builder::new().spawn(b).unwrap();",
        "let _ = tokio::spawn(b);",
        "let _task = tokio::spawn(b);",
        "let _: JoinHandle<()> = tokio::spawn(b);",
        "_ = tokio::spawn(b);",
        "drop(tokio::spawn(b));",
        "std::mem::forget(tokio::spawn(b));",
        "(tokio::spawn(b));",
        "tokio::spawn(b).id();",
        "if c { tokio::spawn(b) } else { d };",
        "if c { d } else { tokio::spawn(b) };",
        "if c { tokio::spawn(b); }",
        "match c { D => tokio::spawn(b), E => return };",
        "match c { D => { tokio::spawn(b); } E => {} }",
        "e(|| { tokio::spawn(b); });",
        "let e = async move { tokio::spawn(b); };",
        "tokio::select! { c = d => { tokio::spawn(b); } }",
        "tokio::select! { c = d => { select! { e = f => { spawn(b); } } } }",
    ] {
        assert_eq!(lines(body), ["2"], "{body}");
    }
}

#[test]
fn a_handle_that_somebody_has_is_free() {
    for body in [
        "tokio::spawn(b)",
        "let task = tokio::spawn(b);",
        "self.task = Some(tokio::spawn(b));",
        "tokio::spawn(b).await;",
        "let _ = tokio::task::spawn_blocking(b).await;",
        "tokio::spawn(b).await.unwrap();",
        "std::thread::spawn(b).join().unwrap();",
        "self.tasks.push(tokio::spawn(b));",
        "let mut tasks = JoinSet::new(); tasks.spawn(b);",
        "self.owners.spawn(b);",
        "let child = Command::new(c).spawn()?;",
        "return tokio::spawn(b);",
        "vec![tokio::spawn(b)].c();",
    ] {
        assert_eq!(lines(body), NONE, "{body}");
    }
}

#[test]
fn a_comment_directly_above_says_who_ends_it() {
    assert_eq!(lines("// owned by the turn\ntokio::spawn(b);"), NONE);
    assert_eq!(lines("// ends with the process,\n// soon after\ntokio::spawn(b);"), NONE);
    assert_eq!(lines("tokio::spawn(b); // ends with the process"), NONE);
    assert_eq!(lines("// owned by c\nlet _ =\n    tokio::spawn(b);"), NONE);
    assert_eq!(lines("// it ends soon\ntokio::spawn(b);"), ["3"]);
    assert_eq!(lines("// ends with\ntokio::spawn(b);"), ["3"]);
    assert_eq!(lines("// ends with c\n\ntokio::spawn(b);"), ["4"]);
    assert_eq!(lines("// owned by c\ntokio::spawn(b);\ntokio::spawn(d);"), ["4"]);
}

#[test]
fn a_new_name_does_not_hide_a_spawn() {
    for text in [
        "use tokio::spawn as go;",
        "use tokio::task::{self, spawn_blocking as go};",
        "use tokio as t;",
    ] {
        assert_eq!(found(check, ADAPTER, text), [format!("{ADAPTER}:1")], "{text}");
    }
    assert_eq!(found(check, ADAPTER, "use tokio::task as t;"), Vec::<String>::new());
    assert_eq!(lines("t::spawn(b);"), ["2"]);
}

#[test]
fn tests_are_free() {
    let text = "fn a() { tokio::spawn(b); }";
    for path in ["crates/x-adapter/src/a/tests.rs", "crates/x-adapter/tests/a.rs", "tests/src/a.rs"]
    {
        assert_eq!(found(check, path, text), Vec::<String>::new(), "{path}");
    }
    let inside = format!("#[cfg(test)]\nmod tests {{ {text} }}");
    assert_eq!(found(check, ADAPTER, &inside), Vec::<String>::new());
}

//! Each way to reach the world, and what a pure machine may well use.

use super::*;
use crate::tidy::tests::found;

const DECISION: &str = "crates/runtime-decision/src/a.rs";

fn problems(text: &str) -> usize {
    found(check, DECISION, text).len()
}

#[test]
fn every_word_is_refused() {
    for (words, _) in WORDS {
        for word in words {
            let text = match *word {
                "async" => "async fn a() {}".to_owned(),
                "await" => "fn a() { select!(b.await) }".to_owned(),
                word => format!("fn a() {{ call!({word}) }}"),
            };
            assert_eq!(problems(&text), 1, "{text}");
        }
    }
}

#[test]
fn every_module_of_the_world_is_refused_however_it_is_reached() {
    for module in MODULES.iter().filter(|module| **module != "*") {
        for text in [
            format!("use std::{module}::A;"),
            format!("use std::{module};"),
            format!("use std::{{fmt, {module}::A}};"),
            format!("use std::{{fmt, {module}::{{self, A}}}};"),
            format!("fn a() {{ std::{module}::a(); }}"),
            format!("fn a() -> ::std::{module}::A {{ b() }}"),
            format!("fn a() {{ vec![std::{module}::a()] }}"),
        ] {
            assert_eq!(problems(&text), 1, "{text}");
        }
    }
}

#[test]
fn the_standard_library_keeps_its_name() {
    assert_eq!(problems("use std as s;"), 1);
    assert_eq!(problems("use std::*;"), 1);
    assert_eq!(problems("use std::{self as s};"), 1);
    assert_eq!(problems("use std::{time as t};\nfn a() { t::Instant::now() }"), 1);
}

#[test]
fn values_are_free() {
    let text = "/// Knows no tokio, async or Instant.\nuse std::{collections::BTreeMap, fmt, \
                time::Duration};\nfn now(now: u64) -> BTreeMap<u64, Duration> { b(now) }";
    assert_eq!(problems(text), 0);
}

#[test]
fn tests_and_other_crates_are_free() {
    assert_eq!(problems("#[cfg(test)]\nmod tests {\n    use std::fs;\n    use rand::a;\n}"), 0);
    let text = "use std::fs;";
    assert_eq!(found(check, "crates/runtime-decision/src/a/tests.rs", text).len(), 0);
    assert_eq!(found(check, "crates/x-adapter/src/a.rs", text).len(), 0);
}

#[test]
fn the_line_is_given() {
    assert_eq!(found(check, DECISION, "fn a() {\n    std::fs::a();\n}"), [format!("{DECISION}:2")]);
}

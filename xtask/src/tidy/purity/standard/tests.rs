//! The lists of what is free do not contradict each other.

use super::*;

fn path(text: &str) -> WrittenPath {
    let segments = text.split("::").map(str::to_owned).collect();
    WrittenPath { segments, line: 1, is_import: false }
}

#[test]
fn all_that_is_free_passes_below_every_root() {
    for root in ROOTS {
        for module in WHOLE.split_whitespace() {
            for text in [format!("{root}::{module}"), format!("{root}::{module}::a::B")] {
                assert_eq!(refusal(&path(&text)), None, "{text}");
            }
        }
        for (module, items, _) in IN_PART {
            assert!(refusal(&path(&format!("{root}::{module}"))).is_some(), "{module}");
            for item in items {
                assert_eq!(refusal(&path(&format!("{root}::{module}::{item}::a"))), None);
            }
        }
    }
}

#[test]
fn what_has_a_remedy_is_not_free() {
    for name in INSTEAD.iter().flat_map(|(names, _)| *names) {
        let says = refusal(&path(&format!("std::{name}::a"))).expect("refused");
        assert!(!says.contains("standard.rs"), "{says}");
    }
    assert_eq!(refusal(&path("crate::fs::a")), None);
}

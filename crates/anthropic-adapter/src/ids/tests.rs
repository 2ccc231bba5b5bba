//! What becomes of names that this API does not take.

use super::{call_id, tool_name};

#[test]
fn a_name_that_fits_is_kept() {
    for id in ["toolu_01A09q90qw90lq917835lq9", "call-1", "a"] {
        assert_eq!(call_id(id), id);
        assert_eq!(tool_name(id), id);
    }
}

#[test]
fn a_foreign_id_becomes_one_that_is_taken_always_the_same() {
    let long = "x".repeat(65);
    let foreign = ["call|fc:1", "Bash:12", "", " ", "é", &long];
    let mut seen = std::collections::BTreeSet::new();
    for id in foreign {
        let written = call_id(id).into_owned();
        assert!(
            written.len() <= 64 && written.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
        );
        assert_eq!(call_id(id), written, "the same again");
        assert!(seen.insert(written), "two ids became one");
    }
}

#[test]
fn a_name_that_a_model_made_up_is_made_plain() {
    assert_eq!(tool_name("fs.read file"), "fs_read_file");
    assert_eq!(tool_name(""), "unnamed");
    assert_eq!(tool_name(&"é".repeat(200)).len(), 128);
}

//! Added, removed and changed lines, with the item they belong to.

use super::*;

const AGREED: &str = "struct A\n    a: u8\n    b: u8\nstruct B\n    c: u8\n";

#[test]
fn equal_listings_have_no_difference() {
    assert_eq!(between(AGREED, AGREED), "");
}

#[test]
fn a_changed_line_stands_under_its_item() {
    let found = AGREED.replace("b: u8", "b: u16");
    assert_eq!(between(AGREED, &found), "  struct A\n-     b: u8\n+     b: u16\n");
    let found = AGREED.replace("c: u8", "c: u16").replace("    a: u8\n", "");
    let expected = "  struct A\n-     a: u8\n  struct B\n-     c: u8\n+     c: u16\n";
    assert_eq!(between(AGREED, &found), expected);
}

#[test]
fn a_whole_item_needs_no_context() {
    let found = format!("{AGREED}struct C\n    d: u8\n");
    assert_eq!(between(AGREED, &found), "+ struct C\n+     d: u8\n");
    assert_eq!(between(&found, AGREED), "- struct C\n-     d: u8\n");
}

#[test]
fn a_missing_listing_is_all_new() {
    assert_eq!(between("", "struct A\n"), "+ struct A\n");
}

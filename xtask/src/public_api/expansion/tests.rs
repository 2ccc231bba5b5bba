//! Macros of the kinds that crates define their items with.

use super::*;
use crate::public_api::tokens::text;

fn expanded(rules: &str, call: &str) -> Option<String> {
    let rules = Rules::parse(rules.parse().expect("tokens"));
    rules.expand(call.parse().expect("tokens")).map(text)
}

#[test]
fn variables_and_doc_comments_are_put_in_place() {
    let rules = "($(#[$doc:meta])* $name:ident) => { $(#[$doc])* pub struct $name(Arc<str>); }";
    let expected = "#[doc = \" One.\"] #[derive(Debug)] pub struct A(Arc<str>);";
    assert_eq!(expanded(rules, "/// One.\n#[derive(Debug)] A").as_deref(), Some(expected));
    assert_eq!(expanded(rules, "A").as_deref(), Some("pub struct A(Arc<str>);"));
}

#[test]
fn repetitions_nest_and_keep_their_separators() {
    let rules = "($($name:ident { $($field:ident: $kind:ty),* $(,)? })*) => \
                 { $(struct $name { $($field: Option<$kind>),* })* }";
    let call = "A { a: Vec<u8>, b: &'static str, } B {}";
    let expected = "struct A { a: Option<Vec<u8>>, b: Option<&'static str> } struct B { }";
    assert_eq!(expanded(rules, call).as_deref(), Some(expected));
}

#[test]
fn the_first_arm_that_fits_is_taken() {
    let rules = "(one) => { struct One; }; ($name:ident) => { struct $name; };";
    assert_eq!(expanded(rules, "one").as_deref(), Some("struct One;"));
    assert_eq!(expanded(rules, "two").as_deref(), Some("struct two;"));
}

#[test]
fn a_call_that_fits_no_arm_is_told() {
    assert_eq!(expanded("(one) => { struct One; }", "two"), None);
    assert_eq!(expanded("(one) => { struct One; }", "one two"), None);
    assert_eq!(expanded("($a:ident) => { struct $a; }", "3"), None);
    assert_eq!(expanded("([$a:ident]) => { struct $a; }", "(A)"), None);
}

#[test]
fn the_crate_of_the_macro_is_the_crate() {
    let rules = "($a:ty) => { impl $crate::B for $a {} }";
    assert_eq!(expanded(rules, "A").as_deref(), Some("impl crate::B for A { }"));
}

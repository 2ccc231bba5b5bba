//! Snippets and the paths in them, in the order in which they are read.

use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    let found = paths(text.parse().expect("tokens"));
    let told: Vec<_> = found.iter().map(|path| path.segments.join("::")).collect();
    assert_eq!(told.join(" "), expected, "{text}");
}

#[test]
fn use_trees_are_spelled_out() {
    check("use a::b;", "a::b");
    check("use ::a::b as c;", "a::b c");
    check("use a::{b, c::{self, d as e}, f::*};", "a::b a::c a::c::d a::f::*");
    check("use {a, b::c};", "a b::c");
}

#[test]
fn expressions_and_types_give_the_names_before_generics_and_calls() {
    check("a::b::<c::d>::e(f::g)", "a::b c::d f::g");
    check("<a::b as c>::d", "a::b c");
    check("a.b::<c>().d", "a c");
    check("a..b::c", "a b::c");
    check("a..=b::c", "a b::c");
    check("a: ::b::c", "a b::c");
    check("-> ::b::c", "b::c");
    check("&'a b::c", "b::c");
    check("r#a::r#b", "a::b");
}

#[test]
fn variables_of_a_macro_are_unknown() {
    check("$a::b::c", "$::b::c");
    check("a::$b::c", "a::$ $::c");
    check("$crate::a", "crate::a");
}

#[test]
fn an_import_is_told_from_a_variable() {
    let imports = |text: &str| {
        let found = paths(text.parse().expect("tokens"));
        let core = found.into_iter().find(|path| path.segments == ["core"]);
        core.expect("the path is there").is_import
    };
    for text in ["use core;", "use ::core;", "use core as c;", "use a::{b}; use core::{self};"] {
        assert!(imports(text), "{text}");
    }
    for text in ["core.a()", "f(core)", "{ core }"] {
        assert!(!imports(text), "{text}");
    }
}

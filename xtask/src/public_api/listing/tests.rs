//! Small crates and their listings.

use super::*;
use crate::public_api::tests::tree;

fn listed(text: &str) -> Vec<String> {
    let tree = tree(&[("src/lib.rs", text)]).expect("the tree loads");
    list(&tree).lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn only_what_others_reach_is_listed() {
    let text = "pub struct A;\nstruct B;\npub(crate) struct C;\nmod a { pub struct D; }\n\
                pub mod b { pub fn e() {} fn f() {} }\n#[doc(hidden)] pub struct G;";
    assert_eq!(listed(text), ["pub struct x::A", "pub fn x::b::e()"]);
}

#[test]
fn reexports_are_followed_to_the_item() {
    let text = "mod a { pub struct A { pub b: u8 } pub struct B; }\npub use a::{A, B as C};";
    assert_eq!(listed(text), ["pub struct x::A", "    pub b: u8", "pub struct x::C"]);
    let glob = "mod a { pub struct A; struct B; }\npub use a::*;";
    assert_eq!(listed(glob), ["pub struct x::A"]);
    let outside = "pub use other::{One, Two as Three};\npub use third::*;";
    assert_eq!(
        listed(outside),
        ["pub use third::* in x", "pub use other::One as x::One", "pub use other::Two as x::Three"]
    );
}

#[test]
fn an_item_is_listed_once_under_its_shortest_path() {
    let text = "pub mod a { pub struct A { pub b: u8 } }\npub use a::A;";
    assert_eq!(listed(text), ["pub struct x::A", "    pub b: u8", "pub use x::A as x::a::A"]);
}

#[test]
fn impls_anywhere_belong_to_their_type() {
    let text = "mod a { pub struct A(u8); impl A { pub fn b(&self) {} fn c() {} } }\n\
                mod d { use super::a::A; use std::fmt; impl fmt::Debug for A {} impl super::A { \
                pub fn a() {} } }\npub use a::A;\nstruct P; impl P { pub fn q() {} }";
    assert_eq!(
        listed(text),
        [
            "pub struct x::A",
            "    (private fields)",
            "    impl fmt::Debug for A",
            "    pub fn a()",
            "    pub fn b(&self)",
        ]
    );
}

#[test]
fn impls_for_the_types_of_others_are_listed_and_sealed_ones_are_not() {
    let text = "pub struct A;\npub trait B {}\ntrait Sealed {}\nimpl From<A> for Uuid {}\n\
                impl<T: B + ?Sized> B for Arc<T> {}\nimpl Sealed for A {}";
    assert_eq!(
        listed(text),
        [
            "impl From<A> for Uuid",
            "impl<T: B + ?Sized> B for Arc<T>",
            "pub struct x::A",
            "pub trait x::B",
        ]
    );
}

#[test]
fn own_macros_are_seen_through_and_foreign_ones_shown() {
    let text = "macro_rules! id { ($a:ident) => { pub struct $a(u8); impl $a { pub fn new() {} } } }\n\
                id!(A);\nforeign!(B);\n#[macro_export] macro_rules! c { () => {} }";
    assert_eq!(
        listed(text),
        [
            "macro call in x: foreign!(B)",
            "pub struct x::A",
            "    (private fields)",
            "    pub fn new()",
            "macro x::c!",
        ]
    );
}

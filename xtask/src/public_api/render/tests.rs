//! One item of each kind, with what others see of it and without what they do not.

use super::*;

fn shown(code: &str) -> Vec<String> {
    let item: Item = syn::parse_str(code).expect("an item");
    let entry = entry(&item, "x::A").expect("an entry");
    [entry.head].into_iter().chain(entry.lines).collect()
}

#[test]
fn structs_show_public_fields_and_that_there_are_others() {
    let code = "#[derive(Debug, Clone)] #[must_use] #[non_exhaustive] pub struct A<T: B> where T: C, \
                { #[serde(default)] pub a: Vec<T>, b: u8 }";
    assert_eq!(
        shown(code),
        [
            "pub struct x::A<T: B> where T: C",
            "derives Clone, Debug",
            "#[non_exhaustive]",
            "pub a: Vec<T>",
            "(private fields)",
        ]
    );
    assert_eq!(
        shown("pub struct A(u8, pub u16);"),
        ["pub struct x::A", "pub 1: u16", "(private fields)"]
    );
    assert_eq!(shown("pub struct A;"), ["pub struct x::A"]);
}

#[test]
fn enums_show_every_variant() {
    let code = "pub enum A { /// Doc.\n B, #[serde(skip)] C(u8), #[non_exhaustive] D { /// Doc.\n e: T }, F = 3 }";
    assert_eq!(
        shown(code),
        ["pub enum x::A", "B", "C(u8)", "#[non_exhaustive] D { e: T }", "F = 3"]
    );
}

#[test]
fn traits_show_signatures_and_what_is_provided() {
    let code = "pub trait A: Send + Sync { const B: u8; type C: D; async fn e(&self, f: &G) -> \
                Result<(), H>; fn i(&self) -> u8 { 1 } }";
    assert_eq!(
        shown(code),
        [
            "pub trait x::A: Send + Sync",
            "const B: u8;",
            "type C: D;",
            "async fn e(&self, f: &G) -> Result<(), H>;",
            "fn i(&self) -> u8; (provided)",
        ]
    );
}

#[test]
fn functions_constants_and_aliases_are_one_line() {
    let code = "pub async fn a<T>(mut b: T, c: &mut dyn D,) -> T where T: E, { b }";
    assert_eq!(shown(code), ["pub async fn x::A<T>(b: T, c: &mut dyn D) -> T where T: E"]);
    assert_eq!(shown("pub const A: u64 = 250;"), ["pub const x::A: u64 = 250"]);
    let long = format!("pub const A: &str = \"{}\";", "x".repeat(60));
    assert_eq!(shown(&long), ["pub const x::A: &str"]);
    assert_eq!(shown("pub type A<'a> = Box<dyn B + 'a>;"), ["pub type x::A<'a> = Box<dyn B + 'a>"]);
    assert_eq!(shown("#[macro_export] macro_rules! a { () => {} }"), ["macro x::A!"]);
}

#[test]
fn impls_show_public_functions_or_the_trait() {
    let lines = |code: &str| impl_lines(&syn::parse_str(code).expect("an impl"));
    let code = "impl A { pub const B: u8 = 1; pub fn c(mut self) -> Self { self } fn d() {} \
                pub(crate) fn e() {} }";
    assert_eq!(lines(code), ["pub const B: u8 = 1", "pub fn c(self) -> Self"]);
    assert_eq!(lines("impl<T: B> A<T> { pub fn c() {} }"), ["impl<T: B> A<T>: pub fn c()"]);
    assert_eq!(lines("impl fmt::Debug for A { fn fmt(&self) {} }"), ["impl fmt::Debug for A"]);
    assert_eq!(
        lines("impl FromStr for A { type Err = E; fn f() {} }"),
        ["impl FromStr for A { Err = E }"]
    );
}

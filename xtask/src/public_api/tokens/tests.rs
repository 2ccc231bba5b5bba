//! Spellings that people would write, from tokens in any spelling.

use super::*;

fn same(code: &str) {
    let tokens: TokenStream = code.parse().expect("tokens");
    assert_eq!(text(tokens), code);
}

fn becomes(code: &str, expected: &str) {
    let tokens: TokenStream = code.parse().expect("tokens");
    assert_eq!(text(tokens), expected);
}

#[test]
fn code_is_spelt_as_people_write_it() {
    same("pub fn a<'a, T: ?Sized>(&'a mut self, b: &[u8]) -> Result<Vec<Option<T>>, E>");
    same("fn a(&self, b: impl Fn(&str) -> bool + Send + 'static) -> (A, B)");
    same("type A = Pin<Box<dyn Future<Output = anyhow::Result<T>> + Send + 'a>>");
    same("async fn a(self: Box<Self>) -> <T as Trait>::Out");
    same("const A: [u8; 4] = [1, 2, 3, 4]");
    same("Some { a: u8, b: *const T }");
    same("where T: for<'a> Fn(&'a T) -> !, U: ::std::fmt::Debug");
    same("#[cfg(unix)]");
    same("-1");
    same("&&str");
}

#[test]
fn layout_and_trailing_commas_do_not_matter() {
    becomes("fn a(\n    b: u8,\n    c: u8,\n)", "fn a(b: u8, c: u8)");
    becomes("A<\n    B,\n    C,\n>", "A<B, C>");
    becomes("fn a<T,>(b:u8,)->C", "fn a<T>(b: u8) -> C");
    same("-> (A,)");
}

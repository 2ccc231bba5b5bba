//! What counts as test code, and what the token list holds.

use super::*;

fn file(path: &str, text: &str) -> TextFile {
    TextFile { path: path.to_owned(), text: text.to_owned() }
}

fn test_lines(path: &str, text: &str) -> Vec<usize> {
    let file = file(path, text);
    let source = Source::parse(&file).expect("the snippet parses");
    (1..=text.lines().count()).filter(|line| source.is_test(*line)).collect()
}

#[test]
fn test_code_is_told_by_place_or_attribute() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n#[test]\nfn c() {}\n";
    assert_eq!(test_lines("crates/x/src/lib.rs", text), [2, 3, 4, 5, 6, 7]);
    assert_eq!(test_lines("crates/x/src/a/tests.rs", "fn a() {}"), [1]);
    assert_eq!(test_lines("crates/x/tests/a.rs", "fn a() {}"), [1]);
    assert_eq!(test_lines("tests/src/lib.rs", "fn a() {}"), [1]);
}

#[test]
fn only_what_needs_the_test_flag_is_test_code() {
    let lines = |cfg: &str| test_lines("src/a.rs", &format!("#[cfg({cfg})]\nfn a() {{}}")).len();
    assert_eq!(lines("test"), 2);
    assert_eq!(lines("all(unix, test)"), 2);
    assert_eq!(lines("any(test, all(test, unix))"), 2);
    assert_eq!(lines("not(test)"), 0);
    assert_eq!(lines("any(test, unix)"), 0);
}

#[test]
fn tokens_inside_macro_calls_are_seen_with_their_lines() {
    let file = file("src/a.rs", "fn a() {\n    call!(one,\n        r#type \"text\");\n}");
    let source = Source::parse(&file).expect("the snippet parses");
    let words: Vec<_> = source
        .tokens
        .iter()
        .filter_map(|token| match &token.kind {
            Kind::Word(word) | Kind::Text(word) => Some((word.as_str(), token.line)),
            _ => None,
        })
        .collect();
    assert_eq!(words, [("fn", 1), ("a", 1), ("call", 2), ("one", 2), ("type", 3), ("text", 3)]);
}

#[test]
fn a_file_that_is_no_rust_is_a_problem_with_its_line() {
    let file = file("src/a.rs", "fn a() {}\nfn fn\n");
    let problem = Source::parse(&file).err().expect("it does not parse");
    assert_eq!((problem.place.as_str(), problem.rule), ("src/a.rs:2", "syntax"));
}

//! Checks that texts are cut between characters and results fit.

use serde_json::json;

use super::{fitted, head, head_and_tail};

#[test]
fn texts_are_cut_between_characters() {
    assert_eq!(head("a€b", 9), "a€b");
    assert_eq!(head("a€b", 3), "a");
    assert_eq!(head("a€b", 4), "a€");
    assert_eq!(head_and_tail("123456", 6), "123456");
    assert_eq!(head_and_tail("1234567", 6), "123\n[1 bytes left out]\n567");
    assert_eq!(head_and_tail("€€€€", 8), "€\n[6 bytes left out]\n€");
    assert_eq!(head_and_tail("12", 0), "\n[2 bytes left out]\n");
}

#[test]
fn the_first_budget_that_fits_is_taken() {
    let text = "\u{1}".repeat(1_000);
    let result = fitted(100, |budget| json!(head(&text, budget)));
    assert!(result.to_string().len() <= 100, "{result}");
    assert!(!result.as_str().unwrap().is_empty());
    let hopeless = fitted(3, |_| json!("too long whatever is cut"));
    assert_eq!(hopeless, json!("too long whatever is cut"));
}

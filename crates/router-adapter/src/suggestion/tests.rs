//! Holds suggestions to being near, few, and never the unknown name itself.

use super::unknown_model;

fn offered(requested: &str, known: &[&str]) -> String {
    unknown_model(requested, known.iter().copied()).message
}

#[test]
fn the_nearest_known_names_are_offered() {
    let known = ["writer", "reader", "painter", "translator"];
    let message = offered("writr", &known);
    assert!(message.contains("the nearest known: writer"), "{message}");
    assert!(!message.contains("translator"), "{message}");
    assert!(offered("READER", &known).contains("known: reader"));
    assert!(offered("", &["one"]).contains("one"));
    assert_eq!(offered("x", &[]), "no model of this name; none is set up");
}

#[test]
fn the_unknown_name_is_not_repeated() {
    let long = "z".repeat(100_000);
    assert!(!offered(&long, &["writer"]).contains("zz"));
}

//! Packages that are refused, with their names and licences in the message.

use super::*;

fn says(licence: Option<&str>) -> Option<String> {
    let allowed = ["MIT".to_owned(), "Apache-2.0".to_owned()];
    let package = Licensed { package: "some-crate 1.2.3".to_owned(), licence };
    check(&[package], &allowed).pop().map(|problem| problem.to_string())
}

#[test]
fn an_accepted_licence_passes() {
    assert_eq!(says(Some("GPL-3.0-only OR MIT")), None);
}

#[test]
fn a_refusal_names_package_and_licence() {
    let refused = says(Some("GPL-3.0-only")).expect("refused");
    assert!(refused.starts_with("some-crate 1.2.3: [licence] `GPL-3.0-only` is not on"));
    let broken = says(Some("MIT OR")).expect("refused");
    assert!(broken.contains("`MIT OR` is no SPDX expression"), "{broken}");
    let none = says(None).expect("refused");
    assert!(none.contains("names no licence"), "{none}");
}

#[test]
fn the_list_of_the_repository_parses_and_has_no_copyleft() {
    let list: AllowList = toml::from_str(include_str!("../../licences.toml")).expect("valid");
    assert!(list.allowed.iter().any(|name| name == "MIT"));
    assert!(!list.allowed.iter().any(|name| name.contains("GPL")));
}

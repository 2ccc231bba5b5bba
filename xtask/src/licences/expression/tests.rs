//! Precedence, parentheses, exceptions, the old form, and what is refused.

use super::*;

fn holds(text: &str) -> bool {
    let accepted = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "ISC"];
    parse(text).expect("an expression").holds(&|name| accepted.contains(&name))
}

#[test]
fn one_of_several_is_enough_for_or() {
    assert!(holds("MIT"));
    assert!(holds("GPL-3.0-only OR MIT"));
    assert!(holds("MIT OR Apache-2.0 OR LGPL-2.1-or-later"));
    assert!(!holds("GPL-3.0-only OR LGPL-2.1+"));
}

#[test]
fn all_are_needed_for_and() {
    assert!(holds("Apache-2.0 AND ISC"));
    assert!(!holds("Apache-2.0 AND OpenSSL"));
}

#[test]
fn and_binds_tighter_than_or_unless_parentheses_say_otherwise() {
    assert!(holds("MIT OR ISC AND GPL-3.0-only"));
    assert!(!holds("(MIT OR ISC) AND GPL-3.0-only"));
    assert!(holds("((MIT))"));
}

#[test]
fn an_exception_belongs_to_its_licence() {
    assert!(holds("Apache-2.0 WITH LLVM-exception"));
    assert!(!holds("Apache-2.0 WITH Other-exception"));
    assert!(!holds("MIT AND GPL-2.0-only WITH Classpath-exception-2.0"));
    assert!(holds("GPL-2.0-only WITH Classpath-exception-2.0 OR MIT"));
}

#[test]
fn the_old_slash_is_an_or() {
    assert!(holds("MIT/GPL-3.0-only"));
    assert!(holds("GPL-3.0-only / MIT"));
    assert!(!holds("GPL-3.0-only/LGPL-2.1-only"));
}

#[test]
fn what_is_no_expression_is_refused() {
    for text in ["", "MIT OR", "OR MIT", "MIT ISC", "(MIT", "MIT)", "()", "MIT WITH", "MIT, ISC"] {
        assert!(parse(text).is_err(), "{text}");
    }
}

//! Paths, imports and globs, seen from the root of a small crate.

use super::*;
use crate::public_api::tests::tree;

fn resolved(text: &str, path: &str) -> Vec<String> {
    let tree = tree(&[("src/lib.rs", text)]).expect("the tree loads");
    let path: Vec<String> = path.split("::").map(str::to_owned).collect();
    let shown = |target: Target| match target {
        Target::Module(module) => format!("module {module}"),
        Target::Item(module, at) => {
            let name = item_name(&tree.modules[module].items[at]).expect("a name");
            format!("{name} in {module}")
        }
        Target::Outside(path) => format!("outside {path}"),
    };
    tree.resolve(0, &path).into_iter().map(shown).collect()
}

#[test]
fn own_items_come_first() {
    let text = "mod a { pub struct A; pub mod b { pub struct B; } }\nstruct C;\nuse a::*;";
    assert_eq!(resolved(text, "C"), ["C in 0"]);
    assert_eq!(resolved(text, "a"), ["module 1"]);
    assert_eq!(resolved(text, "a::A"), ["A in 1"]);
    assert_eq!(resolved(text, "crate::a::b::B"), ["B in 2"]);
    assert_eq!(resolved(text, "self::a::b::super::A"), ["A in 1"]);
    assert_eq!(resolved(text, "b::B"), ["B in 2"]);
}

#[test]
fn imports_and_reexports_are_followed() {
    let text = "mod a { mod b { pub struct B; } pub use b::B as C; pub use self::C as D; }\n\
                use a::{C, D as E};";
    assert_eq!(resolved(text, "C"), ["B in 2"]);
    assert_eq!(resolved(text, "E"), ["B in 2"]);
    assert_eq!(resolved(text, "a::D"), ["B in 2"]);
}

#[test]
fn a_group_may_import_the_module_itself() {
    let text = "mod a { pub struct A; }\nmod c { use crate::a::{self, A}; pub struct C; }";
    assert_eq!(resolved(text, "c::a::A"), ["A in 1"]);
    assert_eq!(resolved(text, "c::A"), ["A in 1"]);
}

#[test]
fn what_the_crate_does_not_have_is_outside() {
    let text = "use other::Thing as T;\nuse other;\nmod a { pub use other::deep::*; }";
    assert_eq!(resolved(text, "T"), ["outside other::Thing"]);
    assert_eq!(resolved(text, "other::Thing"), ["outside other::Thing"]);
    assert_eq!(resolved(text, "std::fmt::Debug"), ["outside std::fmt::Debug"]);
}

#[test]
fn globs_that_chase_each_other_end() {
    let text = "mod a { pub use super::b::*; }\nmod b { pub use super::a::*; }";
    assert_eq!(resolved(text, "a::Missing"), [""; 0]);
}

#[test]
fn a_type_and_a_function_may_share_a_name() {
    let text = "mod a { pub struct run; pub fn run() {} }";
    assert_eq!(resolved(text, "a::run").len(), 2);
}

//! Where modules are looked for, what is left out, and what stops the walk.

use crate::public_api::tests::tree;

fn items(files: &[(&str, &str)]) -> Vec<usize> {
    let tree = tree(files).expect("the tree loads");
    tree.modules.iter().map(|module| module.items.len()).collect()
}

#[test]
fn modules_are_files_folders_or_blocks() {
    let files = [
        ("src/lib.rs", "mod a;\nmod b;\nmod c { mod d; }\n"),
        ("src/a.rs", "mod e;\n"),
        ("src/a/e.rs", "struct E;\nstruct F;\n"),
        ("src/b/mod.rs", "mod g;\n"),
        ("src/b/g.rs", ""),
        ("src/c/d.rs", "struct D;"),
    ];
    assert_eq!(items(&files), [3, 1, 2, 1, 0, 1, 1]);
}

#[test]
fn test_code_is_left_out() {
    let text = "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nfn a() {}\nfn b() {}\n";
    assert_eq!(items(&[("src/lib.rs", text)]), [1]);
}

#[test]
fn a_call_of_an_own_macro_becomes_its_items() {
    let text = "macro_rules! pair { ($a:ident, $b:ident) => { pub struct $a; pub struct $b; } }\n\
                pair!(A, B);\nother!(C);\n";
    assert_eq!(items(&[("src/lib.rs", text)]), [4]);
}

#[test]
fn what_cannot_be_followed_stops_the_walk() {
    let fails = |text: &str| {
        let error = tree(&[("src/lib.rs", text)]).err().expect("it stops");
        format!("{error:#}")
    };
    assert!(fails("mod missing;").contains("`mod missing` has no file"));
    assert!(fails("#[path = \"b.rs\"] mod a;").contains("path of its own"));
    assert!(fails("fn").contains("src/lib.rs"));
    let text = "macro_rules! one { (a) => { struct A; } }\none!(b);";
    assert!(fails(text).contains("cannot see through a call of `one!`"));
}

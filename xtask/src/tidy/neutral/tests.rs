//! Every name in every place it could hide, and the crates it does not matter in.

use super::*;
use crate::tidy::tests::found;

const KERNEL: &str = "crates/runtime-kernel/src/a.rs";

#[test]
fn every_name_is_found_as_word_string_or_doc() {
    for name in NAMES {
        let upper = name.to_uppercase();
        for text in [
            format!("use {name}::Client;"),
            format!("struct {upper}Session;"),
            format!("const A: &str = \"to {upper} now\";"),
            format!("/// Asks {name}.\nfn a() {{}}"),
            format!("fn a() {{ call!({name}); }}"),
        ] {
            assert_eq!(found(check, KERNEL, &text).len(), 1, "{text}");
        }
    }
}

#[test]
fn spelling_does_not_hide_a_name() {
    let text = "struct OpenAi;\nfn open_ai() {}\nconst A: &str = \"open-ai\";";
    assert_eq!(found(check, KERNEL, text).len(), 3);
}

#[test]
fn the_line_of_the_word_is_given() {
    assert_eq!(found(check, KERNEL, "fn a() {}\n\nfn codex() {}"), [format!("{KERNEL}:3")]);
}

#[test]
fn adapters_and_neutral_words_are_free() {
    assert_eq!(found(check, "crates/x-adapter/src/a.rs", "fn openai() {}"), Vec::<String>::new());
    assert_eq!(found(check, KERNEL, "fn open() { let sql = 1; }"), Vec::<String>::new());
    for name in NEUTRAL_CRATES {
        let path = format!("crates/{name}/src/a.rs");
        assert_eq!(found(check, &path, "fn claude() {}").len(), 1, "{name}");
    }
}

//! Decides what the decision machine may not touch: clocks, randomness, IO, async, tokio.
//!
//! Time, ids and chance are inputs of `runtime-decision`; a replay must see the same world. Hash
//! maps count as randomness, since their order differs from process to process. Tests are free.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;

use crate::{
    problem::Problem,
    source::{Kind, Source},
};

const FOLDER: &str = "crates/runtime-decision/src/";

/// A word that may not appear, and why.
const WORDS: [(&[&str], &str); 6] = [
    (&["Instant", "SystemTime", "UNIX_EPOCH"], "a clock; time is an input"),
    (
        &["rand", "getrandom", "fastrand", "thread_rng", "new_v1", "new_v4", "now_v6", "now_v7"],
        "chance; ids are derived from the run id and a counter",
    ),
    (&["HashMap", "HashSet", "RandomState"], "in random order; take a BTreeMap or BTreeSet"),
    (&["async", "await", "Future", "futures", "futures_util", "async_trait"], "async"),
    (&["tokio", "tokio_util", "OperationContext", "CancellationToken"], "the driver's business"),
    (&["println", "print", "eprintln", "eprint", "dbg"], "output; emit an event"),
];

/// Modules of the standard library that reach the world.
const MODULES: [&str; 8] = ["env", "fs", "io", "net", "os", "process", "thread", "*"];

/// Looks for them in the decision crate.
pub(crate) fn check(source: &Source<'_>) -> Vec<Problem> {
    let path = source.file.path.as_str();
    if !path.starts_with(FOLDER) {
        return Vec::new();
    }
    let words = source.tokens.iter().filter_map(|token| {
        let Kind::Word(word) = &token.kind else { return None };
        let (_, why) = WORDS.iter().find(|(words, _)| words.contains(&word.as_str()))?;
        Some((token.line, format!("`{word}` is {why}")))
    });
    let modules = standard_modules(source.syntax.to_token_stream());
    let modules = modules.into_iter().filter(|(_, name)| MODULES.contains(&name.as_str()));
    let modules = modules.map(|(line, name)| (line, format!("`std::{name}` is the world outside")));
    words
        .chain(modules)
        .filter(|(line, _)| !source.is_test(*line))
        .map(|(line, says)| Problem::at(path, line, "pure-decision", says))
        .collect()
}

/// Line and name of what follows `std`: the module in a path, each one in a group; `*` for a glob
/// and for `std` under another name.
fn standard_modules(stream: TokenStream) -> Vec<(usize, String)> {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut modules = Vec::new();
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => modules.extend(standard_modules(group.stream())),
            TokenTree::Ident(word) if word == "std" => modules.extend(after(&trees[at + 1..])),
            _ => {}
        }
    }
    modules
}

fn after(trees: &[TokenTree]) -> Vec<(usize, String)> {
    let line = |tree: &TokenTree| tree.span().start().line;
    match trees {
        [TokenTree::Ident(word), ..] if word == "as" => vec![(line(&trees[0]), "*".to_owned())],
        [TokenTree::Punct(first), TokenTree::Punct(second), next, ..]
            if first.as_char() == ':' && second.as_char() == ':' =>
        {
            match next {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    heads(group.stream())
                }
                other => vec![(line(other), other.to_string())],
            }
        }
        _ => Vec::new(),
    }
}

/// The first token of each entry of a use group.
fn heads(stream: TokenStream) -> Vec<(usize, String)> {
    let mut first = true;
    let mut heads = Vec::new();
    for tree in stream {
        if first {
            let name = tree.to_string();
            let renamed = name == "self";
            let name = if renamed { "*".to_owned() } else { name };
            heads.push((tree.span().start().line, name));
        }
        first = matches!(&tree, TokenTree::Punct(mark) if mark.as_char() == ',');
    }
    heads
}

#[cfg(test)]
mod tests;

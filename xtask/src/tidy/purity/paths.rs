//! Decides which paths a stream of tokens names: in code, in use trees, in macro calls alike.
//!
//! Knows how a path is written, and nothing of what it means.

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};

/// A path as it is written, use trees spelled out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WrittenPath {
    /// Its names. `*` is the last one of a glob, `$` stands for what a macro fills in; a last
    /// `self` is left out.
    pub(super) segments: Vec<String>,
    /// Line of the last name, counted from one.
    pub(super) line: usize,
    /// Whether a use or a new name is made of it, rather than an expression that may be a variable.
    pub(super) is_import: bool,
}

/// Every path, in order of appearance; one without `::` too.
pub(super) fn paths(stream: TokenStream) -> Vec<WrittenPath> {
    let mut found = Vec::new();
    walk(stream, &mut found);
    found
}

fn walk(stream: TokenStream, found: &mut Vec<WrittenPath>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut at = 0;
    while at < trees.len() {
        match &trees[at] {
            TokenTree::Group(group) => walk(group.stream(), found),
            TokenTree::Ident(word) if !is_keyword(word) && begins(&trees, at) => {
                let start = Start { at, prefix: Vec::new(), is_import: follows_use(&trees, at) };
                at = read(&trees, start, found);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

/// Whether a name is the first of its path: no field, method, lifetime, or later segment.
fn begins(trees: &[TokenTree], at: usize) -> bool {
    if at >= 2 && is_separator(&trees[at - 2..]) {
        let before = at.checked_sub(3).map(|place| &trees[place]);
        return match before {
            // `::std` after a keyword, such as `use` or `impl`.
            Some(TokenTree::Ident(word)) => is_keyword(word),
            Some(TokenTree::Punct(mark)) => mark.as_char() != '>' || is_arrow(trees, at - 3),
            _ => true,
        };
    }
    let before = at.checked_sub(1).map(|place| &trees[place]);
    match before {
        Some(TokenTree::Punct(mark)) => match mark.as_char() {
            '.' => is_range(trees, at - 1),
            '\'' => false,
            _ => true,
        },
        _ => true,
    }
}

/// `->` or `=>`, in which `>` closes no generics.
fn is_arrow(trees: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).map(|place| &trees[place]);
    matches!(before, Some(TokenTree::Punct(mark)) if matches!(mark.as_char(), '-' | '='))
}

/// `..`, after which a path may begin.
fn is_range(trees: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).map(|place| &trees[place]);
    matches!(before, Some(TokenTree::Punct(mark))
        if matches!(mark.as_char(), '.' | '=') && mark.spacing() == Spacing::Joint)
}

/// A keyword that stands before a path and is no part of it.
fn is_keyword(word: &Ident) -> bool {
    const KEYWORDS: &str = "as break const dyn else fn for if impl in let loop match move mut pub \
                            ref return static type unsafe use where while yield";
    KEYWORDS.split_whitespace().any(|keyword| word == keyword)
}

fn follows_use(trees: &[TokenTree], at: usize) -> bool {
    let name = if at >= 2 && is_separator(&trees[at - 2..]) { at - 2 } else { at };
    let before = name.checked_sub(1).map(|place| &trees[place]);
    matches!(before, Some(TokenTree::Ident(word)) if word == "use")
}

struct Start {
    at: usize,
    prefix: Vec<String>,
    is_import: bool,
}

/// Reads one path or use tree from its first name on; gives the place behind it.
fn read(trees: &[TokenTree], start: Start, found: &mut Vec<WrittenPath>) -> usize {
    let Start { mut at, prefix: mut segments, is_import } = start;
    let mut line = trees[at].span().start().line;
    segments.push(name(trees, at));
    at += 1;
    while is_separator(&trees[at..]) {
        let Some(next) = trees.get(at + 2) else { break };
        match next {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                read_group(group.stream(), &segments, found);
                return at + 3;
            }
            // The rest, such as `::<T>` and `::(`, belongs to the expression around.
            TokenTree::Punct(mark) if mark.as_char() == '<' => break,
            TokenTree::Group(_) | TokenTree::Literal(_) => break,
            TokenTree::Ident(_) | TokenTree::Punct(_) => {
                line = next.span().start().line;
                segments.push(next.to_string().trim_start_matches("r#").to_owned());
                at += 3;
            }
        }
    }
    let renamed = matches!(trees.get(at), Some(TokenTree::Ident(word)) if word == "as");
    if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
        segments.pop();
    }
    found.push(WrittenPath { segments, line, is_import: is_import || renamed });
    at
}

/// The name at a place; that of a macro's variable is not known.
fn name(trees: &[TokenTree], at: usize) -> String {
    let before = at.checked_sub(1).map(|place| &trees[place]);
    let word = trees[at].to_string();
    match before {
        Some(TokenTree::Punct(mark)) if mark.as_char() == '$' && word != "crate" => "$".to_owned(),
        _ => word.trim_start_matches("r#").to_owned(),
    }
}

fn read_group(stream: TokenStream, prefix: &[String], found: &mut Vec<WrittenPath>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let is_comma =
        |tree: &TokenTree| matches!(tree, TokenTree::Punct(mark) if mark.as_char() == ',');
    for entry in trees.split(is_comma).filter(|entry| !entry.is_empty()) {
        read(entry, Start { at: 0, prefix: prefix.to_vec(), is_import: true }, found);
    }
}

fn is_separator(trees: &[TokenTree]) -> bool {
    let [TokenTree::Punct(first), TokenTree::Punct(second), ..] = trees else { return false };
    first.as_char() == ':' && first.spacing() == Spacing::Joint && second.as_char() == ':'
}

#[cfg(test)]
mod tests;

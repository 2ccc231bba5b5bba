//! Decides how code is spelt in a listing: one line, the same spacing whatever the source had.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

use crate::source::brackets;

const PAIRS: [&str; 7] = ["::", "->", "=>", "..", "||", "==", "!="];
const NO_SPACE_BEFORE: [&str; 8] = [",", ";", ".", ")", "]", ">", ":", "::"];
const NO_SPACE_AFTER: [&str; 12] = ["(", "[", "<", "&", "#", "!", ".", "'", "::", "?", "*", "-"];
const BEFORE_A_TYPE: [&str; 5] = [":", "->", "=", "+", "|"];
const OPENERS: [&str; 3] = ["(", "<", "!"];

/// One line of text for a piece of code.
pub(super) fn text(code: impl ToTokens) -> String {
    let mut line = String::new();
    let mut previous = String::new();
    for piece in pieces(code.to_token_stream(), false) {
        if wants_space(&previous, &piece) {
            line.push(' ');
        }
        line.push_str(&piece);
        previous = piece;
    }
    line
}

fn wants_space(previous: &str, next: &str) -> bool {
    let word = ends_in_word(previous);
    if previous.is_empty() || NO_SPACE_AFTER.contains(&previous) {
        return false;
    }
    if BEFORE_A_TYPE.contains(&previous) && (next == "::" || next == "[") {
        return true;
    }
    if OPENERS.contains(&next) {
        return !(word || previous == ">" || (next == "(" && previous == ")"));
    }
    !NO_SPACE_BEFORE.contains(&next)
}

fn ends_in_word(piece: &str) -> bool {
    piece.ends_with(|mark: char| mark.is_alphanumeric() || mark == '_')
}

/// Tokens as text, pairs such as `->` joined, superfluous trailing commas dropped.
fn pieces(stream: TokenStream, drop_last_comma: bool) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut joint = false;
    for tree in stream {
        match tree {
            TokenTree::Group(group) => push_group(&group, &mut pieces),
            TokenTree::Punct(mark) => {
                push_mark(mark.as_char(), joint, &mut pieces);
                joint = mark.spacing() == Spacing::Joint;
                continue;
            }
            other => pieces.push(other.to_string()),
        }
        joint = false;
    }
    if drop_last_comma && pieces.last().is_some_and(|last| last == ",") {
        pieces.pop();
    }
    pieces
}

fn push_mark(mark: char, joint: bool, pieces: &mut Vec<String>) {
    if mark == '>' && pieces.last().is_some_and(|last| last == ",") {
        pieces.pop();
    }
    let pair = pieces.last().map(|last| format!("{last}{mark}"));
    match pair.filter(|pair| joint && PAIRS.contains(&pair.as_str())) {
        Some(pair) => *pieces.last_mut().expect("a pair has a first half") = pair,
        None => pieces.push(mark.to_string()),
    }
}

fn push_group(group: &Group, pieces: &mut Vec<String>) {
    // A tuple of one keeps the comma that makes it a tuple.
    let tuple = group.delimiter() == Delimiter::Parenthesis
        && !pieces.last().is_some_and(|last| ends_in_word(last) || last == ">");
    let (open, close) = brackets(group.delimiter());
    pieces.extend(open.map(String::from));
    pieces.extend(self::pieces(group.stream(), !tuple));
    pieces.extend(close.map(String::from));
}

#[cfg(test)]
mod tests;

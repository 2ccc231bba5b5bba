//! Decides what counts as test code, and flattens a Rust file into tokens with line numbers.
//!
//! Rules that read tokens also see inside macro calls, which the syntax tree keeps shut.

use std::ops::RangeInclusive;

use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};
use syn::{
    Attribute, Item, Meta, Token,
    punctuated::Punctuated,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::{problem::Problem, workspace::TextFile};

/// A Rust file, parsed once for all rules.
pub(crate) struct Source<'a> {
    /// The file.
    pub(crate) file: &'a TextFile,
    /// Its syntax tree.
    pub(crate) syntax: syn::File,
    /// Its tokens, groups opened up.
    pub(crate) tokens: Vec<Lexeme>,
    test_lines: Vec<RangeInclusive<usize>>,
}

/// A token and the line it begins at.
#[derive(Debug, Clone)]
pub(crate) struct Lexeme {
    /// What it is.
    pub(crate) kind: Kind,
    /// Counted from one.
    pub(crate) line: usize,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or keyword.
    Word(String),
    /// The value of a string literal, that of a doc comment included.
    Text(String),
    /// One character of punctuation, or one bracket.
    Mark(char),
    /// Any other literal.
    Other,
}

impl<'a> Source<'a> {
    /// Parses a file; one that is no Rust is itself a problem.
    pub(crate) fn parse(file: &'a TextFile) -> Result<Self, Problem> {
        let refuse = |error: syn::Error| {
            let line = error.span().start().line;
            Problem::at(&file.path, line, "syntax", error.to_string())
        };
        let stream: TokenStream = file.text.parse().map_err(|e: proc_macro2::LexError| {
            Problem::at(&file.path, e.span().start().line, "syntax", e.to_string())
        })?;
        let syntax = syn::parse_file(&file.text).map_err(refuse)?;
        let mut tests = TestLines { lines: Vec::new() };
        tests.visit_file(&syntax);
        let tokens = flatten(stream);
        Ok(Self { file, syntax, tokens, test_lines: tests.lines })
    }

    /// Whether a line belongs to a test: by the file's place, or by an attribute around it.
    pub(crate) fn is_test(&self, line: usize) -> bool {
        is_test_path(&self.file.path) || self.test_lines.iter().any(|range| range.contains(&line))
    }
}

fn is_test_path(path: &str) -> bool {
    let folder = |name: &str| path.split('/').rev().skip(1).any(|part| part == name);
    path.ends_with("/tests.rs") || folder("tests") || folder("benches") || folder("examples")
}

/// The tokens of a stream in order of appearance, its groups opened up.
pub(crate) fn flatten(stream: TokenStream) -> Vec<Lexeme> {
    let mut tokens = Vec::new();
    push_all(stream, &mut tokens);
    tokens
}

fn push_all(stream: TokenStream, tokens: &mut Vec<Lexeme>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Ident(word) => tokens.push(Lexeme::new(Kind::Word(plain(&word)), line)),
            TokenTree::Punct(mark) => tokens.push(Lexeme::new(Kind::Mark(mark.as_char()), line)),
            TokenTree::Literal(literal) => tokens.push(Lexeme::new(literal_kind(&literal), line)),
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                tokens.extend(open.map(|mark| Lexeme::new(Kind::Mark(mark), line)));
                push_all(group.stream(), tokens);
                let end = group.span_close().start().line;
                tokens.extend(close.map(|mark| Lexeme::new(Kind::Mark(mark), end)));
            }
        }
    }
}

impl Lexeme {
    fn new(kind: Kind, line: usize) -> Self {
        Self { kind, line }
    }

    /// Whether this is the word.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Word(text) if text == word)
    }

    /// Whether this is the mark.
    pub(crate) fn is_mark(&self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }
}

fn plain(word: &proc_macro2::Ident) -> String {
    word.to_string().trim_start_matches("r#").to_owned()
}

fn literal_kind(literal: &Literal) -> Kind {
    match syn::parse_str::<syn::Lit>(&literal.to_string()) {
        Ok(syn::Lit::Str(text)) => Kind::Text(text.value()),
        _ => Kind::Other,
    }
}

/// The two brackets of a group; an invisible group has none.
pub(crate) fn brackets(delimiter: Delimiter) -> (Option<char>, Option<char>) {
    match delimiter {
        Delimiter::Parenthesis => (Some('('), Some(')')),
        Delimiter::Brace => (Some('{'), Some('}')),
        Delimiter::Bracket => (Some('['), Some(']')),
        Delimiter::None => (None, None),
    }
}

struct TestLines {
    lines: Vec<RangeInclusive<usize>>,
}

impl<'ast> Visit<'ast> for TestLines {
    fn visit_item(&mut self, item: &'ast Item) {
        if item_attributes(item).is_some_and(is_test_only) {
            let span = item.span();
            self.lines.push(span.start().line..=span.end().line);
        } else {
            visit::visit_item(self, item);
        }
    }
}

/// Whether code under these attributes is built for tests only.
pub(crate) fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        let named = path.segments.last().is_some_and(|segment| segment.ident == "test");
        let cfg = path.is_ident("cfg");
        named || (cfg && attribute.parse_args::<Meta>().is_ok_and(|meta| implies_test(&meta)))
    })
}

fn implies_test(predicate: &Meta) -> bool {
    let parts = |list: &syn::MetaList| {
        list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default()
    };
    match predicate {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => parts(list).iter().any(implies_test),
        Meta::List(list) if list.path.is_ident("any") => {
            let parts = parts(list);
            !parts.is_empty() && parts.iter().all(implies_test)
        }
        _ => false,
    }
}

/// The attributes of an item, if its kind has any.
pub(crate) fn item_attributes(item: &Item) -> Option<&[Attribute]> {
    match item {
        Item::Const(item) => Some(&item.attrs),
        Item::Enum(item) => Some(&item.attrs),
        Item::ExternCrate(item) => Some(&item.attrs),
        Item::Fn(item) => Some(&item.attrs),
        Item::ForeignMod(item) => Some(&item.attrs),
        Item::Impl(item) => Some(&item.attrs),
        Item::Macro(item) => Some(&item.attrs),
        Item::Mod(item) => Some(&item.attrs),
        Item::Static(item) => Some(&item.attrs),
        Item::Struct(item) => Some(&item.attrs),
        Item::Trait(item) => Some(&item.attrs),
        Item::TraitAlias(item) => Some(&item.attrs),
        Item::Type(item) => Some(&item.attrs),
        Item::Union(item) => Some(&item.attrs),
        Item::Use(item) => Some(&item.attrs),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

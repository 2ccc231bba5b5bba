//! Decides what a `macro_rules!` of the crate turns a call into, so that the listing has its items.
//!
//! Knows patterns without backtracking, which is what item macros use; a call that does not fit is
//! reported, never skipped.

use std::{collections::BTreeMap, rc::Rc};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser};

/// The arms of a macro.
pub(super) struct Rules {
    arms: Vec<(Vec<Pattern>, TokenStream)>,
}

enum Pattern {
    Token(TokenTree),
    Group(Delimiter, Vec<Pattern>),
    Variable(String, String),
    Repeat { patterns: Vec<Pattern>, separator: Option<TokenTree>, at_most_once: bool },
}

#[derive(Clone)]
enum Bound {
    One(TokenStream),
    Many(Rc<Vec<Bindings>>),
}

type Bindings = BTreeMap<String, Bound>;
type Trees = Vec<TokenTree>;

impl Rules {
    /// Reads the inside of `macro_rules! name { … }`.
    pub(super) fn parse(definition: TokenStream) -> Self {
        let groups: Vec<Group> = definition
            .into_iter()
            .filter_map(|tree| match tree {
                TokenTree::Group(group) => Some(group),
                _ => None,
            })
            .collect();
        let arms = groups.chunks_exact(2);
        Self { arms: arms.map(|arm| (patterns(arm[0].stream()), arm[1].stream())).collect() }
    }

    /// What a call becomes; nothing when no arm fits.
    pub(super) fn expand(&self, call: TokenStream) -> Option<TokenStream> {
        let call: Trees = call.into_iter().collect();
        self.arms.iter().find_map(|(patterns, body)| {
            let mut bindings = Bindings::new();
            let rest = matched(patterns, call.clone(), &mut bindings)?;
            rest.is_empty().then(|| transcribed(body.clone(), &bindings))
        })
    }
}

fn patterns(stream: TokenStream) -> Vec<Pattern> {
    let trees: Trees = stream.into_iter().collect();
    let mut patterns = Vec::new();
    let mut rest = &trees[..];
    while let Some((first, after)) = rest.split_first() {
        let (pattern, left) = pattern(first, after);
        patterns.push(pattern);
        rest = left;
    }
    patterns
}

fn pattern<'a>(first: &TokenTree, after: &'a [TokenTree]) -> (Pattern, &'a [TokenTree]) {
    match (first, after) {
        (TokenTree::Punct(mark), [TokenTree::Group(group), rest @ ..]) if mark.as_char() == '$' => {
            let (separator, operator, rest) = repetition(rest);
            let patterns = patterns(group.stream());
            (Pattern::Repeat { patterns, separator, at_most_once: operator == '?' }, rest)
        }
        (
            TokenTree::Punct(mark),
            [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Ident(kind), rest @ ..],
        ) if mark.as_char() == '$' => (Pattern::Variable(name.to_string(), kind.to_string()), rest),
        (TokenTree::Group(group), _) => {
            (Pattern::Group(group.delimiter(), patterns(group.stream())), after)
        }
        (token, _) => (Pattern::Token(token.clone()), after),
    }
}

/// The separator and the operator after `$(…)`.
fn repetition(rest: &[TokenTree]) -> (Option<TokenTree>, char, &[TokenTree]) {
    let operator = |tree: &TokenTree| match tree {
        TokenTree::Punct(mark) if "*+?".contains(mark.as_char()) => Some(mark.as_char()),
        _ => None,
    };
    match rest {
        [first, left @ ..] if operator(first).is_some() => {
            (None, operator(first).unwrap_or('*'), left)
        }
        [separator, second, left @ ..] => {
            (Some(separator.clone()), operator(second).unwrap_or('*'), left)
        }
        other => (None, '*', other),
    }
}

/// What is left of the call after the patterns.
fn matched(patterns: &[Pattern], mut call: Trees, bindings: &mut Bindings) -> Option<Trees> {
    for pattern in patterns {
        call = match pattern {
            Pattern::Token(token) => without_first(call, |first| same(first, token))?,
            Pattern::Group(delimiter, inner) => {
                let Some(TokenTree::Group(group)) = call.first().cloned() else { return None };
                let content = group.stream().into_iter().collect();
                let rest = matched(inner, content, bindings)?;
                (rest.is_empty() && group.delimiter() == *delimiter).then_some(())?;
                call.split_off(1)
            }
            Pattern::Variable(name, kind) => {
                let (value, rest) = fragment(kind, call)?;
                bindings.insert(name.clone(), Bound::One(value));
                rest
            }
            Pattern::Repeat { patterns, separator, at_most_once } => {
                let (rounds, rest) = repeated(patterns, separator.as_ref(), *at_most_once, call)?;
                let rounds = Rc::new(rounds);
                let names = variables(patterns);
                bindings.extend(names.map(|name| (name, Bound::Many(Rc::clone(&rounds)))));
                rest
            }
        };
    }
    Some(call)
}

fn without_first(mut call: Trees, fits: impl Fn(&TokenTree) -> bool) -> Option<Trees> {
    call.first().is_some_and(fits).then(|| call.split_off(1))
}

fn same(left: &TokenTree, right: &TokenTree) -> bool {
    left.to_string() == right.to_string()
}

fn repeated(
    patterns: &[Pattern],
    separator: Option<&TokenTree>,
    at_most_once: bool,
    mut call: Trees,
) -> Option<(Vec<Bindings>, Trees)> {
    let mut rounds = Vec::new();
    while !call.is_empty() && (rounds.is_empty() || !at_most_once) {
        let between = separator.filter(|_| !rounds.is_empty());
        let next = match between {
            Some(token) => without_first(call.clone(), |first| same(first, token)),
            None => Some(call.clone()),
        };
        let mut bindings = Bindings::new();
        let Some(rest) = next.and_then(|next| matched(patterns, next, &mut bindings)) else {
            break;
        };
        rounds.push(bindings);
        call = rest;
    }
    Some((rounds, call))
}

fn variables(patterns: &[Pattern]) -> Box<dyn Iterator<Item = String> + '_> {
    Box::new(patterns.iter().flat_map(|pattern| match pattern {
        Pattern::Token(_) => Box::new(std::iter::empty()),
        Pattern::Group(_, inner) | Pattern::Repeat { patterns: inner, .. } => variables(inner),
        Pattern::Variable(name, _) => {
            Box::new(std::iter::once(name.clone())) as Box<dyn Iterator<Item = String> + '_>
        }
    }))
}

/// Takes one fragment of a kind from the front of a call.
fn fragment(kind: &str, call: Trees) -> Option<(TokenStream, Trees)> {
    let tokens: TokenStream = call.into_iter().collect();
    match kind {
        "block" => take::<syn::Block>(tokens),
        "expr" => take::<syn::Expr>(tokens),
        "ident" => take::<syn::Ident>(tokens),
        "item" => take::<syn::Item>(tokens),
        "lifetime" => take::<syn::Lifetime>(tokens),
        "literal" => take::<syn::Lit>(tokens),
        "meta" => take::<syn::Meta>(tokens),
        "path" => take::<syn::Path>(tokens),
        "tt" => take::<TokenTree>(tokens),
        "ty" => take::<syn::Type>(tokens),
        "vis" => take::<syn::Visibility>(tokens),
        _ => None,
    }
}

fn take<T: Parse + ToTokens>(tokens: TokenStream) -> Option<(TokenStream, Trees)> {
    let both = |input: ParseStream<'_>| Ok((input.parse::<T>()?, input.parse::<TokenStream>()?));
    let (value, rest) = both.parse2(tokens).ok()?;
    Some((value.to_token_stream(), rest.into_iter().collect()))
}

fn transcribed(body: TokenStream, bindings: &Bindings) -> TokenStream {
    let trees: Trees = body.into_iter().collect();
    let mut out = TokenStream::new();
    let mut rest = &trees[..];
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, after) {
            (TokenTree::Punct(mark), [TokenTree::Ident(name), left @ ..])
                if mark.as_char() == '$' =>
            {
                match bindings.get(&name.to_string()) {
                    Some(Bound::One(tokens)) => out.extend(tokens.clone()),
                    _ => out.extend([TokenTree::Ident(name.clone())]),
                }
                rest = left;
            }
            (TokenTree::Punct(mark), [TokenTree::Group(group), left @ ..])
                if mark.as_char() == '$' =>
            {
                let (separator, _, left) = repetition(left);
                out.extend(rounds_of(group, separator.as_ref(), bindings));
                rest = left;
            }
            (TokenTree::Group(group), _) => {
                let inner = transcribed(group.stream(), bindings);
                out.extend([TokenTree::Group(Group::new(group.delimiter(), inner))]);
            }
            (other, _) => out.extend([other.clone()]),
        }
    }
    out
}

fn rounds_of(group: &Group, separator: Option<&TokenTree>, bindings: &Bindings) -> TokenStream {
    let words = crate::source::flatten(group.stream());
    let many = words.iter().find_map(|token| match &token.kind {
        crate::source::Kind::Word(name) => match bindings.get(name) {
            Some(Bound::Many(rounds)) => Some(Rc::clone(rounds)),
            _ => None,
        },
        _ => None,
    });
    let mut out = TokenStream::new();
    for (at, round) in many.iter().flat_map(|rounds| rounds.iter()).enumerate() {
        out.extend(separator.filter(|_| at > 0).cloned());
        let mut inner = bindings.clone();
        inner.extend(round.clone());
        out.extend(transcribed(group.stream(), &inner));
    }
    out
}

#[cfg(test)]
mod tests;

//! Decides what the decision machine may not touch: clocks, randomness, IO, async, tokio.
//!
//! Time, ids and chance are inputs of `runtime-decision`; a replay must see the same world. Of the
//! standard library it may use what a list names, of the ports their values. Reads paths and words
//! as tokens, so that a macro call hides nothing; refuses to follow what a macro of another crate
//! makes, for which there is the list of dependencies in `cargo xtask arrows`. Tests are free.

mod paths;
mod standard;
mod values;

pub(crate) use values::NoValues;

use paths::WrittenPath;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{
    Attribute,
    visit::{self, Visit},
};

use crate::{
    problem::Problem,
    source::{Kind, Lexeme, Source, flatten},
};

const RULE: &str = "pure-decision";
const FOLDER: &str = "crates/runtime-decision/";

const CLOCK: &str = "a clock; take the time from the input's `at`";
const CHANCE: &str = "chance; derive ids from the run id and a counter";
const ORDER: &str = "in random order; take a BTreeMap or BTreeSet";
const ASYNC: &str =
    "a wait, and only the driver waits; emit an effect and take its outcome as an input";
const DRIVER: &str = "the driver's; emit an effect and take its outcome as an input";
const OUTPUT: &str = "output; emit an event";
const OUTSIDE: &str = "the world outside; take it as an input";
const SHARED: &str = "state that is in no snapshot; take a `const`, or a field of the machine";

/// Words that may not appear, and what they are.
const WORDS: [(&[&str], &str); 8] = [
    (&["Instant", "SystemTime", "UNIX_EPOCH", "now_utc", "now_local"], CLOCK),
    (
        &["rand", "getrandom", "fastrand", "thread_rng", "new_v1", "new_v4", "now_v6", "now_v7"],
        CHANCE,
    ),
    (&["HashMap", "HashSet", "RandomState", "DefaultHasher", "hash_map", "hash_set"], ORDER),
    (&["async", "await", "Future", "IntoFuture", "AsyncFn", "AsyncFnMut", "AsyncFnOnce"], ASYNC),
    (&["futures", "futures_util", "async_trait"], ASYNC),
    (&["tokio", "tokio_util", "tracing", "OperationContext", "CancellationToken"], DRIVER),
    (&["println", "print", "eprintln", "eprint", "dbg"], OUTPUT),
    (&["unsafe"], "beyond what this check can read; write it in safe code"),
];

/// Macros of the standard library that need no path; as plain words their names are free.
const MACROS: [(&str, &str); 4] = [
    ("env", OUTSIDE),
    ("option_env", OUTSIDE),
    ("include", "code that this check does not read; write a module"),
    ("thread_local", SHARED),
];

/// Looks for them in a file of the decision crate.
pub(crate) fn check(source: &Source<'_>, no_values: &NoValues) -> Vec<Problem> {
    let path = source.file.path.as_str();
    let Some(inside) = path.strip_prefix(FOLDER) else { return Vec::new() };
    if inside == "build.rs" {
        let says = "a build script reads the machine that builds; write its result into the source";
        return vec![Problem::of(path, RULE, says)];
    }
    if !inside.starts_with("src/") {
        return Vec::new();
    }
    let mut problems: Vec<_> = findings(source, no_values)
        .into_iter()
        .filter(|(line, _)| !source.is_test(*line))
        .map(|(line, says)| Problem::at(path, line, RULE, says))
        .collect();
    problems.dedup();
    problems
}

/// Line and complaint, in order of the lines.
fn findings(source: &Source<'_>, no_values: &NoValues) -> Vec<(usize, String)> {
    let mut attributes = Attributes::default();
    attributes.visit_file(&source.syntax);
    let code = paths::paths(source.syntax.to_token_stream());
    let mut found = judge(&code, &source.tokens, no_values);
    for (line, text) in attributes.code {
        let Ok(stream) = text.parse::<TokenStream>() else { continue };
        let inside = judge(&paths::paths(stream.clone()), &flatten(stream), no_values);
        found.extend(inside.into_iter().map(|(_, says)| (line, says)));
    }
    let says = "`#[path]` leads to a file that this check does not read; remove it";
    found.extend(attributes.elsewhere.into_iter().map(|line| (line, says.to_owned())));
    found.sort();
    found
}

fn judge(paths: &[WrittenPath], tokens: &[Lexeme], no_values: &NoValues) -> Vec<(usize, String)> {
    let refusal = |path| standard::refusal(path).or_else(|| no_values.refusal(path));
    let refused: Vec<_> =
        paths.iter().filter_map(|path| refusal(path).map(|says| (path, says))).collect();
    // A word that is part of a refused path has been told with it.
    let told = |line: usize, word: &str| {
        let word = word.trim_start_matches(':');
        refused.iter().any(|(path, _)| path.line == line && path.segments.iter().any(|s| s == word))
    };
    let words = (0..tokens.len()).filter_map(|at| {
        let (word, what) = word_at(tokens, at)?;
        let line = tokens[at].line;
        (!told(line, word)).then(|| (line, format!("`{word}` is {what}")))
    });
    let paths = refused.iter().map(|(path, says)| (path.line, says.clone()));
    paths.chain(words).collect()
}

/// The word at a place among the tokens and what it is, if it may not stand there.
fn word_at(tokens: &[Lexeme], at: usize) -> Option<(&str, &'static str)> {
    let before = |steps: usize| at.checked_sub(steps).map(|place| &tokens[place]);
    let marked = |steps, mark| before(steps).is_some_and(|token| token.is_mark(mark));
    let word = match &tokens[at].kind {
        Kind::Word(word) => word.as_str(),
        Kind::Text(text) if text.contains(":p}") || text.contains(":#p}") => {
            return Some(("{:p}", "chance, an address; name a thing by its id"));
        }
        _ => return None,
    };
    if let Some((_, what)) = WORDS.iter().find(|(words, _)| words.contains(&word)) {
        return Some((word, what));
    }
    if let Some((_, what)) = MACROS.iter().find(|(name, _)| *name == word) {
        return is_macro_call(&tokens[at + 1..]).then_some((word, what));
    }
    match word {
        "now" if marked(1, ':') && marked(2, ':') => Some(("::now", CLOCK)),
        "static" if !marked(1, '\'') => Some((word, SHARED)),
        "crate" if before(1).is_some_and(|token| token.is_word("extern")) => {
            Some(("extern crate", "a second name for a crate; write its own in the path"))
        }
        _ => None,
    }
}

fn is_macro_call(rest: &[Lexeme]) -> bool {
    let [bang, open, ..] = rest else { return false };
    bang.is_mark('!') && ['(', '[', '{'].into_iter().any(|mark| open.is_mark(mark))
}

/// What attributes hide from a look at the tokens.
#[derive(Default)]
struct Attributes {
    /// Lines of those that put a module's file elsewhere.
    elsewhere: Vec<usize>,
    /// Line and text of code that is written as a string.
    code: Vec<(usize, String)>,
}

/// Keys of `#[serde(...)]` whose string is code, not a name.
const CODE_KEYS: [&str; 11] = [
    "with",
    "default",
    "serialize_with",
    "deserialize_with",
    "skip_serializing_if",
    "from",
    "into",
    "try_from",
    "remote",
    "getter",
    "bound",
];

impl<'ast> Visit<'ast> for Attributes {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let line = attribute.pound_token.span.start().line;
        let named = |name: &str| attribute.path().is_ident(name);
        let tokens = flatten(attribute.meta.to_token_stream());
        for values in tokens.windows(3) {
            let [Lexeme { kind: Kind::Word(key), .. }, sign, value] = values else { continue };
            let Kind::Text(text) = &value.kind else { continue };
            if !sign.is_mark('=') {
                continue;
            }
            if key == "path" && (named("path") || named("cfg_attr")) {
                self.elsewhere.push(line);
            }
            if CODE_KEYS.contains(&key.as_str()) && (named("serde") || named("cfg_attr")) {
                self.code.push((value.line, text.clone()));
            }
        }
        visit::visit_attribute(self, attribute);
    }
}

#[cfg(test)]
mod tests;

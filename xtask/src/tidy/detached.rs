//! Decides which tasks and threads may outlive the statement that starts them.
//!
//! A handle that is dropped detaches its task. Where that is right, a comment directly above says
//! who ends it: `// owned by <what>` or `// ends with <what>`. Sees a handle dropped by a
//! statement, under a name that begins with `_`, or by `drop`; a handle that is kept and dropped
//! later, and a set of tasks, are their owner's business.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Block, Expr, ExprCall, ExprMethodCall, Local, Macro, Pat, Stmt, UseRename,
    parse::Parser,
    spanned::Spanned,
    visit::{self, Visit},
};

use super::marker::is_marked;
use crate::{problem::Problem, source::Source};

const RULE: &str = "detached-task";
const SPAWNS: [&str; 3] = ["spawn", "spawn_blocking", "spawn_local"];
/// What a `spawn` as a method is looked for on; a set of tasks keeps what it starts.
const STARTERS: [&str; 6] = ["Handle", "Runtime", "Builder", "handle", "runtime", "builder"];
const MARKERS: [&str; 2] = ["owned by ", "ends with "];

/// Looks at every statement in code that runs outside tests.
pub(crate) fn check(source: &Source<'_>) -> Vec<Problem> {
    let path = source.file.path.as_str();
    if !path.starts_with("crates/") {
        return Vec::new();
    }
    let mut seen = Detached::default();
    seen.visit_file(&source.syntax);
    let lines: Vec<&str> = source.file.text.lines().collect();
    let dropped = seen.dropped.iter().filter(|at| {
        let [spawn, statement] = [at.spawn, at.statement];
        ![spawn, statement].into_iter().any(|line| is_marked(&lines, line, &MARKERS))
    });
    let dropped = dropped.map(|at| (at.spawn, DROPPED));
    let renamed = seen.renamed.iter().map(|line| (*line, RENAMED));
    let found = dropped.chain(renamed).filter(|(line, _)| !source.is_test(*line));
    found.map(|(line, says)| Problem::at(path, line, RULE, says)).collect()
}

const DROPPED: &str = "the handle is dropped, so nobody waits for what was started; keep it, put \
                       it in a set of tasks, or say in the line above who ends it: `// owned by …` \
                       or `// ends with …`";
const RENAMED: &str = "under another name a spawn escapes this check";

/// Lines of a spawn and of the statement that drops its handle.
struct At {
    spawn: usize,
    statement: usize,
}

#[derive(Default)]
struct Detached {
    dropped: Vec<At>,
    renamed: Vec<usize>,
}

impl Detached {
    /// Follows the value that a statement throws away to the calls that made it.
    fn discard(&mut self, value: &Expr, statement: usize) {
        match value {
            Expr::Call(call) if is_spawn(call) => self.note(call.func.span(), statement),
            Expr::Call(call) if names(&call.func, &["drop", "forget"]) => {
                call.args.iter().for_each(|dropped| self.discard(dropped, statement));
            }
            Expr::MethodCall(call) if is_spawn_method(call) => {
                self.note(call.method.span(), statement);
            }
            Expr::MethodCall(call) if call.method == "join" => {}
            // What another method of the handle gives, such as its id, is not the handle.
            Expr::MethodCall(call) => self.discard(&call.receiver, statement),
            Expr::Assign(assign) if matches!(*assign.left, Expr::Infer(_)) => {
                self.discard(&assign.right, statement);
            }
            Expr::Try(inner) => self.discard(&inner.expr, statement),
            Expr::Paren(inner) => self.discard(&inner.expr, statement),
            Expr::Group(inner) => self.discard(&inner.expr, statement),
            Expr::Block(block) => self.discard_tail(&block.block, statement),
            Expr::If(branch) => {
                self.discard_tail(&branch.then_branch, statement);
                if let Some((_, otherwise)) = &branch.else_branch {
                    self.discard(otherwise, statement);
                }
            }
            Expr::Match(choice) => {
                choice.arms.iter().for_each(|arm| self.discard(&arm.body, statement));
            }
            _ => {}
        }
    }

    fn discard_tail(&mut self, block: &Block, statement: usize) {
        if let Some(Stmt::Expr(tail, None)) = block.stmts.last() {
            self.discard(tail, statement);
        }
    }

    fn note(&mut self, spawn: proc_macro2::Span, statement: usize) {
        self.dropped.push(At { spawn: spawn.start().line, statement });
    }

    /// The syntax tree keeps macro calls shut: whatever in them reads as statements is looked at.
    fn open(&mut self, tokens: TokenStream) {
        if let Ok(statements) = Block::parse_within.parse2(tokens.clone()) {
            statements.iter().for_each(|statement| self.visit_stmt(statement));
            return;
        }
        for tree in tokens {
            if let TokenTree::Group(group) = tree {
                self.open(group.stream());
            }
        }
    }
}

impl<'ast> Visit<'ast> for Detached {
    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let line = statement.span().start().line;
        match statement {
            Stmt::Expr(value, Some(_)) => self.discard(value, line),
            Stmt::Local(Local { pat, init: Some(init), .. }) if is_thrown_away(pat) => {
                self.discard(&init.expr, line);
            }
            _ => {}
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.open(call.tokens.clone());
    }

    fn visit_use_rename(&mut self, rename: &'ast UseRename) {
        let ident = rename.ident.to_string();
        if SPAWNS.contains(&ident.as_str()) || ident == "tokio" {
            self.renamed.push(rename.ident.span().start().line);
        }
    }
}

fn is_thrown_away(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        Pat::Ident(name) => name.ident.to_string().starts_with('_'),
        Pat::Type(typed) => is_thrown_away(&typed.pat),
        _ => false,
    }
}

fn is_spawn(call: &ExprCall) -> bool {
    names(&call.func, &SPAWNS)
}

/// Whether an expression is a path that ends with one of the words.
fn names(function: &Expr, words: &[&str]) -> bool {
    let Expr::Path(path) = function else { return false };
    path.path.segments.last().is_some_and(|last| words.iter().any(|word| last.ident == word))
}

fn is_spawn_method(call: &ExprMethodCall) -> bool {
    let spawns = SPAWNS.iter().any(|name| call.method == name);
    let receiver = crate::source::flatten(call.receiver.to_token_stream());
    spawns && receiver.iter().any(|token| STARTERS.iter().any(|name| token.is_word(name)))
}

#[cfg(test)]
mod tests;

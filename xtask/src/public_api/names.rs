//! Decides what a path means inside a crate: follows imports, re-exports and globs.
//!
//! Privacy is not looked at; the compiler has done that.

use syn::{Item, UseTree};

use super::modules::Tree;

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// A module of the crate.
    Module(usize),
    /// An item of the crate, by module and place in it.
    Item(usize, usize),
    /// Something of another crate, by its path.
    Outside(String),
}

/// One name that a `use` brings in.
#[derive(Debug)]
pub(super) struct Import {
    /// The path that is named; of a glob, the module.
    pub(super) path: Vec<String>,
    /// The name it gets here; a glob has none.
    pub(super) name: Option<String>,
}

/// Longest chain of imports that is followed, so that two globs cannot chase each other.
const MAX_DEPTH: usize = 32;

/// Every name that a `use` brings in.
pub(super) fn imports(tree: &UseTree) -> Vec<Import> {
    let mut found = Vec::new();
    collect(tree, &mut Vec::new(), &mut found);
    found
}

fn collect(tree: &UseTree, prefix: &mut Vec<String>, found: &mut Vec<Import>) {
    let mut import = |last: String, name: String| {
        let mut path = prefix.clone();
        if last != "self" || path.is_empty() {
            path.push(last);
        }
        let name = if name == "self" { path.last().cloned() } else { Some(name) };
        found.push(Import { path, name });
    };
    match tree {
        UseTree::Path(part) => {
            prefix.push(part.ident.to_string());
            collect(&part.tree, prefix, found);
            prefix.pop();
        }
        UseTree::Name(last) => import(last.ident.to_string(), last.ident.to_string()),
        UseTree::Rename(last) => import(last.ident.to_string(), last.rename.to_string()),
        UseTree::Glob(_) => found.push(Import { path: prefix.clone(), name: None }),
        UseTree::Group(group) => {
            for tree in &group.items {
                collect(tree, prefix, found);
            }
        }
    }
}

impl Tree {
    /// What a path means in a module; a type and a function may share a name.
    pub(super) fn resolve(&self, module: usize, path: &[String]) -> Vec<Target> {
        self.follow(module, path, 0)
    }

    fn follow(&self, module: usize, path: &[String], depth: usize) -> Vec<Target> {
        let Some((first, rest)) = path.split_first().filter(|_| depth < MAX_DEPTH) else {
            return Vec::new();
        };
        let start = match first.as_str() {
            "crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(module)],
            "super" => self.modules[module].parent.map(Target::Module).into_iter().collect(),
            name => self.find(module, name, depth),
        };
        if start.is_empty() {
            return vec![Target::Outside(path.join("::"))];
        }
        start.into_iter().flat_map(|target| self.step(target, rest, depth)).collect()
    }

    fn step(&self, target: Target, rest: &[String], depth: usize) -> Vec<Target> {
        if rest.is_empty() {
            return vec![target];
        }
        match target {
            Target::Module(module) if matches!(rest[0].as_str(), "super" | "self") => {
                self.follow(module, rest, depth + 1)
            }
            Target::Module(module) => {
                let found = self.find(module, &rest[0], depth + 1).into_iter();
                found.flat_map(|target| self.step(target, &rest[1..], depth + 1)).collect()
            }
            // A variant or an associated item; the listing of its type has it.
            Target::Item(..) => vec![target],
            Target::Outside(path) => vec![Target::Outside(format!("{path}::{}", rest.join("::")))],
        }
    }

    /// What a name means in a module: its own items, then its imports, then its globs.
    fn find(&self, module: usize, name: &str, depth: usize) -> Vec<Target> {
        let items = self.modules[module].items.iter().enumerate();
        let own: Vec<Target> = items
            .filter(|(_, item)| item_name(item).is_some_and(|own| own == name))
            .map(|(at, _)| match self.modules[module].children.get(name) {
                Some(child) if matches!(self.modules[module].items[at], Item::Mod(_)) => {
                    Target::Module(*child)
                }
                _ => Target::Item(module, at),
            })
            .collect();
        if !own.is_empty() || depth >= MAX_DEPTH {
            return own;
        }
        let imports = self.imports_of(module);
        let (named, globs): (Vec<_>, Vec<_>) = imports.iter().partition(|one| one.name.is_some());
        let mut named = named.into_iter().filter(|one| one.name.as_deref() == Some(name));
        if let Some(import) = named.next() {
            // `use a::a` in the root: the first segment is the crate of that name, not itself.
            return match import.path.first() {
                Some(first) if first == name => vec![Target::Outside(import.path.join("::"))],
                _ => self.follow(module, &import.path, depth + 1),
            };
        }
        let through = globs.into_iter().flat_map(|glob| self.follow(module, &glob.path, depth + 1));
        through.flat_map(|target| self.find_in(&target, name, depth + 1)).collect()
    }

    fn find_in(&self, target: &Target, name: &str, depth: usize) -> Vec<Target> {
        match target {
            Target::Module(module) => self.find(*module, name, depth),
            _ => Vec::new(),
        }
    }

    fn imports_of(&self, module: usize) -> Vec<Import> {
        let items = self.modules[module].items.iter();
        items
            .filter_map(|item| match item {
                Item::Use(import) => Some(imports(&import.tree)),
                _ => None,
            })
            .flatten()
            .collect()
    }
}

/// The name of an item that a path can lead to.
pub(super) fn item_name(item: &Item) -> Option<&syn::Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Macro(item) => item.ident.as_ref(),
        Item::Mod(item) => Some(&item.ident),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

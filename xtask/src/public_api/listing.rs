//! Decides which items of a crate others can reach, and by which path each is listed.
//!
//! An item is listed in full under its shortest public path; every other path is one line.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Attribute, Item, ItemImpl, ItemUse, Type};

use super::{
    modules::Tree,
    names::{Target, imports, item_name},
    render::{Entry, entry, impl_lines, is_public, trait_impl},
    tokens::text,
};
use crate::source::item_attributes;

/// The listing of a crate, one item after the other in order of their paths.
pub(super) fn list(tree: &Tree) -> String {
    let mut walk = Walk { tree, paths: BTreeMap::new(), entries: Vec::new(), open: Vec::new() };
    walk.module(0, &tree.name);
    walk.exported_macros();
    let mut entries = walk.finish();
    entries.sort();
    entries.dedup();
    let title = format!("# Public items of {}, by `cargo xtask public-api --bless`.\n", tree.name);
    entries.iter().fold(title, |text, entry| text + &shown(entry))
}

fn shown(entry: &Entry) -> String {
    let lines: String = entry.lines.iter().map(|line| format!("    {line}\n")).collect();
    format!("{}\n{lines}", entry.head)
}

struct Walk<'a> {
    tree: &'a Tree,
    /// Every public path of every item.
    paths: BTreeMap<Target, BTreeSet<String>>,
    entries: Vec<Entry>,
    /// Modules that are being walked, so that re-exports in a circle end.
    open: Vec<usize>,
}

impl<'a> Walk<'a> {
    fn module(&mut self, module: usize, prefix: &str) {
        if self.open.contains(&module) {
            return;
        }
        self.open.push(module);
        let tree = self.tree;
        for (at, item) in tree.modules[module].items.iter().enumerate() {
            self.item(module, at, item, prefix);
        }
        self.open.pop();
    }

    fn item(&mut self, module: usize, at: usize, item: &'a Item, prefix: &str) {
        if item_attributes(item).is_some_and(is_hidden) {
            return;
        }
        match item {
            Item::Mod(child) if is_public(&child.vis) => {
                let name = child.ident.to_string();
                if let Some(inner) = self.tree.modules[module].children.get(&name) {
                    self.module(*inner, &format!("{prefix}::{name}"));
                }
            }
            Item::Use(reexport) if is_public(&reexport.vis) => {
                self.reexport(module, reexport, prefix);
            }
            Item::Macro(call) if call.ident.is_none() => {
                let head = format!("macro call in {prefix}: {}", text(&call.mac));
                self.add(prefix, head);
            }
            _ if is_public_item(item) => {
                if let Some(name) = item_name(item) {
                    self.reach(Target::Item(module, at), format!("{prefix}::{name}"));
                }
            }
            _ => {}
        }
    }

    fn reexport(&mut self, module: usize, item: &ItemUse, prefix: &str) {
        for import in imports(&item.tree) {
            for target in self.tree.resolve(module, &import.path) {
                let path = match &import.name {
                    Some(name) => format!("{prefix}::{name}"),
                    None => prefix.to_owned(),
                };
                match target {
                    Target::Module(inner) => self.module(inner, &path),
                    Target::Item(..) => self.reach(target, path),
                    Target::Outside(from) if import.name.is_none() => {
                        self.add(&path, format!("pub use {from}::* in {path}"));
                    }
                    Target::Outside(from) => self.add(&path, format!("pub use {from} as {path}")),
                }
            }
        }
    }

    fn exported_macros(&mut self) {
        let tree = self.tree;
        for (module, items) in tree.modules.iter().enumerate() {
            for (at, item) in items.items.iter().enumerate() {
                if let Some(name) = exported_macro(item) {
                    self.reach(Target::Item(module, at), format!("{}::{name}", tree.name));
                }
            }
        }
    }

    fn reach(&mut self, target: Target, path: String) {
        self.paths.entry(target).or_default().insert(path);
    }

    fn add(&mut self, path: &str, head: String) {
        self.entries.push(Entry { path: path.to_owned(), head, lines: Vec::new() });
    }

    fn finish(mut self) -> Vec<Entry> {
        let mut impls = self.impls();
        for (target, paths) in &self.paths {
            let Target::Item(module, at) = target else { continue };
            let shortest = paths.iter().min_by_key(|path| (path.matches("::").count(), *path));
            let Some(shortest) = shortest else { continue };
            let listed = entry(&self.tree.modules[*module].items[*at], shortest);
            self.entries.extend(listed.map(|mut listed| {
                listed.lines.extend(impls.remove(target).unwrap_or_default());
                listed
            }));
            let others = paths.iter().filter(|path| *path != shortest);
            self.entries.extend(others.map(|path| Entry {
                path: path.clone(),
                head: format!("pub use {shortest} as {path}"),
                lines: Vec::new(),
            }));
        }
        self.entries
    }

    /// The lines that impls add to each reachable type; impls for other types become entries.
    fn impls(&mut self) -> BTreeMap<Target, BTreeSet<String>> {
        let mut lines: BTreeMap<Target, BTreeSet<String>> = BTreeMap::new();
        let tree = self.tree;
        for (module, items) in tree.modules.iter().enumerate() {
            for item in &items.items {
                let Item::Impl(item) = item else { continue };
                if self.is_of_private_trait(module, item) {
                    continue;
                }
                match self.local_type(module, &item.self_ty) {
                    Some(target) => lines.entry(target).or_default().extend(impl_lines(item)),
                    None if item.trait_.is_some() => {
                        let head = trait_impl(item);
                        self.add(&head.clone(), head);
                    }
                    None => {}
                }
            }
        }
        lines
    }

    fn is_of_private_trait(&self, module: usize, item: &ItemImpl) -> bool {
        let Some((path, _)) = &item.trait_ else { return false };
        let targets = self.tree.resolve(module, &segments(path));
        targets
            .iter()
            .any(|target| matches!(target, Target::Item(..)) && !self.paths.contains_key(target))
    }

    fn local_type(&self, module: usize, of: &Type) -> Option<Target> {
        let Type::Path(of) = of else { return None };
        let targets = self.tree.resolve(module, &segments(&of.path)).into_iter();
        targets.into_iter().find(|target| self.is_type(target))
    }

    fn is_type(&self, target: &Target) -> bool {
        let Target::Item(module, at) = target else { return false };
        let item = &self.tree.modules[*module].items[*at];
        matches!(item, Item::Struct(_) | Item::Enum(_) | Item::Union(_) | Item::Type(_))
    }
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    let hidden = |attribute: &Attribute| {
        attribute.path().is_ident("doc")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "hidden")
    };
    attributes.iter().any(hidden)
}

fn is_public_item(item: &Item) -> bool {
    match item {
        Item::Const(item) => is_public(&item.vis),
        Item::Enum(item) => is_public(&item.vis),
        Item::Fn(item) => is_public(&item.vis),
        Item::Static(item) => is_public(&item.vis),
        Item::Struct(item) => is_public(&item.vis),
        Item::Trait(item) => is_public(&item.vis),
        Item::Type(item) => is_public(&item.vis),
        Item::Union(item) => is_public(&item.vis),
        _ => false,
    }
}

fn exported_macro(item: &Item) -> Option<&syn::Ident> {
    let Item::Macro(definition) = item else { return None };
    let exported = |attribute: &Attribute| attribute.path().is_ident("macro_export");
    let visible = definition.attrs.iter().any(exported) && !is_hidden(&definition.attrs);
    definition.ident.as_ref().filter(|_| visible)
}

#[cfg(test)]
mod tests;

//! Decides which names of types and ports are no values, from the sources of those crates.
//!
//! A trait is none; nor is a type that holds a clock, a cancellation, or another that is none.
//! Knows no name by heart except those of the clock and the cancellation.

use std::collections::BTreeSet;

use syn::{
    ItemEnum, ItemStruct, ItemTrait, ItemType, Path,
    visit::{self, Visit},
};

use super::paths::WrittenPath;
use crate::{
    source::{Source, is_test_only, item_attributes},
    workspace::TextFile,
};

const ROOTS: [&str; 2] = ["runtime_ports", "runtime_types"];
const FOLDERS: [&str; 2] = ["crates/runtime-ports/src/", "crates/runtime-types/src/"];
const WORLD: [&str; 3] = ["Instant", "SystemTime", "CancellationToken"];

/// The names that the decision machine may not take.
#[derive(Debug, Default)]
pub(crate) struct NoValues {
    names: BTreeSet<String>,
}

impl NoValues {
    /// Reads the sources of types and ports among the files; what does not parse is told elsewhere.
    pub(crate) fn among(files: &[TextFile]) -> Self {
        let mut declared = Declared::default();
        let ours = |file: &&TextFile| FOLDERS.iter().any(|folder| file.path.starts_with(folder));
        for source in files.iter().filter(ours).filter_map(|file| Source::parse(file).ok()) {
            if !source.is_test(1) {
                declared.visit_file(&source.syntax);
            }
        }
        Self { names: declared.no_values() }
    }

    /// What is wrong with a path into types or ports and what to do.
    pub(super) fn refusal(&self, path: &WrittenPath) -> Option<String> {
        let (root, inside) = path.segments.split_first()?;
        if !ROOTS.contains(&root.as_str()) {
            return None;
        }
        let item = inside.iter().find(|name| !name.starts_with(char::is_lowercase));
        let written = path.segments.join("::");
        match item.map(String::as_str) {
            None if inside.is_empty() => Some(format!("`{written}` needs its name in every path")),
            Some("*" | "$") => Some(format!("`{written}` hides what is taken; name each value")),
            Some(name) if self.names.contains(name) => Some(format!(
                "`{written}` is no value but a way to the world; emit an effect and take its \
                 outcome as an input"
            )),
            _ => None,
        }
    }
}

/// What the crates declare: traits, and types with the names that they mention.
#[derive(Default)]
struct Declared {
    traits: BTreeSet<String>,
    types: Vec<(String, BTreeSet<String>)>,
}

impl Declared {
    fn no_values(self) -> BTreeSet<String> {
        let mut names = self.traits;
        names.extend(WORLD.map(str::to_owned));
        loop {
            let holds = |(name, held): &&(String, BTreeSet<String>)| {
                !names.contains(name) && !held.is_disjoint(&names)
            };
            let more: Vec<String> =
                self.types.iter().filter(holds).map(|(name, _)| name.clone()).collect();
            if more.is_empty() {
                return names;
            }
            names.extend(more);
        }
    }
}

impl<'ast> Visit<'ast> for Declared {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !item_attributes(item).is_some_and(is_test_only) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.traits.insert(item.ident.to_string());
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        let held = mentioned(|mentions| mentions.visit_fields(&item.fields));
        self.types.push((item.ident.to_string(), held));
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        let fields = item.variants.iter().map(|variant| &variant.fields);
        let held = mentioned(|mentions| fields.for_each(|one| mentions.visit_fields(one)));
        self.types.push((item.ident.to_string(), held));
    }

    fn visit_item_type(&mut self, item: &'ast ItemType) {
        let held = mentioned(|mentions| mentions.visit_type(&item.ty));
        self.types.push((item.ident.to_string(), held));
    }
}

#[derive(Default)]
struct Mentions {
    names: BTreeSet<String>,
}

fn mentioned(look: impl FnOnce(&mut Mentions)) -> BTreeSet<String> {
    let mut mentions = Mentions::default();
    look(&mut mentions);
    mentions.names
}

impl<'ast> Visit<'ast> for Mentions {
    fn visit_path(&mut self, path: &'ast Path) {
        self.names.extend(path.segments.last().map(|segment| segment.ident.to_string()));
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests;

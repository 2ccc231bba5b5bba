//! Decides which items a crate has: follows `mod` to its files and opens up its own macros.
//!
//! Code that only tests see is left out.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use syn::Item;

use super::expansion::Rules;
use crate::source::{is_test_only, item_attributes};

/// A crate as a list of modules; the first is the root.
pub(super) struct Tree {
    /// Name of the crate, as paths spell it.
    pub(super) name: String,
    /// Every module.
    pub(super) modules: Vec<Module>,
}

/// One module.
#[derive(Default)]
pub(super) struct Module {
    /// The module around it.
    pub(super) parent: Option<usize>,
    /// Its items; those of a local macro call stand in its place.
    pub(super) items: Vec<Item>,
    /// Its child modules by name.
    pub(super) children: BTreeMap<String, usize>,
}

/// Where files come from; tests give a map.
pub(super) type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// Reads a crate from its root file.
pub(super) fn load(name: &str, root: &Path, read: Read<'_>) -> anyhow::Result<Tree> {
    let mut loader = Loader { read, modules: Vec::new(), rules: BTreeMap::new() };
    let folder = root.parent().context("the root file has no folder")?.to_path_buf();
    let items = loader.parse(root)?;
    loader.add(None, items, &folder)?;
    Ok(Tree { name: name.to_owned(), modules: loader.modules })
}

struct Loader<'a> {
    read: Read<'a>,
    modules: Vec<Module>,
    rules: BTreeMap<String, Rules>,
}

impl Loader<'_> {
    fn parse(&self, path: &Path) -> anyhow::Result<Vec<Item>> {
        let text = (self.read)(path).with_context(|| format!("no file {}", path.display()))?;
        let file = syn::parse_file(&text).with_context(|| path.display().to_string())?;
        Ok(file.items)
    }

    /// Adds a module whose child files lie in `folder`.
    fn add(
        &mut self,
        parent: Option<usize>,
        items: Vec<Item>,
        folder: &Path,
    ) -> anyhow::Result<usize> {
        let this = self.modules.len();
        self.modules.push(Module { parent, ..Module::default() });
        self.fill(this, items, folder)?;
        Ok(this)
    }

    fn fill(&mut self, this: usize, items: Vec<Item>, folder: &Path) -> anyhow::Result<()> {
        for mut item in items {
            if item_attributes(&item).is_some_and(is_test_only) {
                continue;
            }
            if let Some(expanded) = self.open_up(&item)? {
                self.fill(this, expanded, folder)?;
                continue;
            }
            if let Item::Mod(module) = &mut item {
                let child = self.child(this, module, folder)?;
                self.modules[this].children.insert(module.ident.to_string(), child);
            }
            self.modules[this].items.push(item);
        }
        Ok(())
    }

    fn child(
        &mut self,
        parent: usize,
        module: &mut syn::ItemMod,
        folder: &Path,
    ) -> anyhow::Result<usize> {
        let name = module.ident.to_string();
        let inner = folder.join(&name);
        if let Some((_, items)) = module.content.take() {
            return self.add(Some(parent), items, &inner);
        }
        if module.attrs.iter().any(|attribute| attribute.path().is_ident("path")) {
            bail!("`mod {name}` has a path of its own, which this walk does not follow");
        }
        let file = self.file_of(folder, &name)?;
        let items = self.parse(&file)?;
        self.add(Some(parent), items, &inner)
    }

    fn file_of(&self, folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
        let places = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
        let found = places.into_iter().find(|place| (self.read)(place).is_some());
        found.with_context(|| format!("`mod {name}` has no file in {}", folder.display()))
    }

    /// The items of a call of a macro that the crate defined before; remembers definitions.
    fn open_up(&mut self, item: &Item) -> anyhow::Result<Option<Vec<Item>>> {
        let Item::Macro(call) = item else { return Ok(None) };
        if let Some(name) = &call.ident {
            let rules = Rules::parse(call.mac.tokens.clone());
            self.rules.insert(name.to_string(), rules);
            return Ok(None);
        }
        let known = call.mac.path.get_ident().and_then(|name| self.rules.get(&name.to_string()));
        let Some(rules) = known else { return Ok(None) };
        let expanded = rules.expand(call.mac.tokens.clone());
        let items = expanded.and_then(|tokens| syn::parse2::<syn::File>(tokens).ok());
        let name = super::tokens::text(&call.mac.path);
        let file = items.with_context(|| format!("cannot see through a call of `{name}!`"))?;
        Ok(Some(file.items))
    }
}

#[cfg(test)]
mod tests;

//! Decides how one item is written in a listing: a head, and a line for each part others can see.

use syn::{
    Attribute, Fields, FnArg, Generics, ImplItem, Item, ItemImpl, ItemTrait, Pat, Signature, Token,
    TraitItem, Variant, Visibility, punctuated::Punctuated,
};

use super::tokens::text;

/// Longest value of a constant that is listed.
const MAX_VALUE: usize = 60;
/// Attributes that change what others may do with an item.
const KEPT: [&str; 4] = ["cfg", "deprecated", "non_exhaustive", "repr"];

/// An item in the listing.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// Where others find it; the order of the listing.
    pub(super) path: String,
    /// Its first line.
    pub(super) head: String,
    /// What it consists of.
    pub(super) lines: Vec<String>,
}

/// The entry of an item under a path; nothing for what has no entry of its own.
pub(super) fn entry(item: &Item, path: &str) -> Option<Entry> {
    let (head, lines) = match item {
        Item::Const(item) => {
            (format!("pub const {path}: {}{}", text(&item.ty), value(&item.expr)), Vec::new())
        }
        Item::Enum(item) => {
            (typed("enum", path, &item.generics), item.variants.iter().map(variant).collect())
        }
        Item::Fn(item) => (format!("pub {}", signature(&item.sig, path)), Vec::new()),
        Item::Macro(_) => (format!("macro {path}!"), Vec::new()),
        Item::Static(item) => (format!("pub static {path}: {}", text(&item.ty)), Vec::new()),
        Item::Struct(item) => (typed("struct", path, &item.generics), fields(&item.fields)),
        Item::Trait(item) => (trait_head(item, path), trait_lines(item)),
        Item::Type(item) => {
            (format!("{} = {}", typed("type", path, &item.generics), text(&item.ty)), Vec::new())
        }
        Item::Union(item) => {
            (typed("union", path, &item.generics), fields(&Fields::Named(item.fields.clone())))
        }
        _ => return None,
    };
    let mut all = attributes(crate::source::item_attributes(item).unwrap_or_default());
    all.extend(lines);
    Some(Entry { path: path.to_owned(), head, lines: all })
}

fn typed(kind: &str, path: &str, generics: &Generics) -> String {
    format!("pub {kind} {path}{}{}", text(generics), where_clause(generics))
}

fn where_clause(generics: &Generics) -> String {
    let Some(clause) = &generics.where_clause else { return String::new() };
    format!(" {}", text(clause).trim_end_matches(','))
}

fn value(value: &syn::Expr) -> String {
    let value = text(value);
    if value.len() > MAX_VALUE { String::new() } else { format!(" = {value}") }
}

/// Derives in order of the alphabet, then what else others depend on.
fn attributes(attributes: &[Attribute]) -> Vec<String> {
    let mut derived: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    for attribute in attributes {
        if attribute.path().is_ident("derive") {
            let paths = attribute
                .parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated)
                .unwrap_or_default();
            let last = paths.iter().filter_map(|path| path.segments.last());
            derived.extend(last.map(|segment| segment.ident.to_string()));
        } else if KEPT.iter().any(|kept| attribute.path().is_ident(kept)) {
            lines.push(text(attribute));
        }
    }
    derived.sort();
    if !derived.is_empty() {
        lines.insert(0, format!("derives {}", derived.join(", ")));
    }
    lines
}

fn fields(fields: &Fields) -> Vec<String> {
    let named = |at: usize, field: &syn::Field| match &field.ident {
        Some(name) => name.to_string(),
        None => at.to_string(),
    };
    let public = fields.iter().enumerate().filter(|(_, field)| is_public(&field.vis));
    let mut lines: Vec<String> = public
        .map(|(at, field)| format!("pub {}: {}", named(at, field), text(&field.ty)))
        .collect();
    if lines.len() < fields.len() {
        lines.push("(private fields)".to_owned());
    }
    lines
}

fn variant(variant: &Variant) -> String {
    let mut bare = variant.clone();
    let kept = attributes(&variant.attrs).join(" ");
    bare.attrs.clear();
    for field in bare.fields.iter_mut() {
        field.attrs.clear();
    }
    format!("{kept} {}", text(bare)).trim_start().to_owned()
}

fn trait_head(item: &ItemTrait, path: &str) -> String {
    let safety = item.unsafety.map_or("", |_| "unsafe ");
    let supertraits = match item.supertraits.is_empty() {
        true => String::new(),
        false => format!(": {}", text(&item.supertraits)),
    };
    let generics = text(&item.generics);
    format!("pub {safety}trait {path}{generics}{supertraits}{}", where_clause(&item.generics))
}

fn trait_lines(item: &ItemTrait) -> Vec<String> {
    let line = |item: &TraitItem| match item {
        TraitItem::Const(item) => {
            let provided = item.default.as_ref().map_or(";", |_| "; (provided)");
            format!("const {}: {}{provided}", item.ident, text(&item.ty))
        }
        TraitItem::Fn(item) => {
            let provided = item.default.as_ref().map_or(";", |_| "; (provided)");
            format!("{}{provided}", signature(&item.sig, &item.sig.ident.to_string()))
        }
        TraitItem::Type(item) => {
            let mut bare = item.clone();
            bare.attrs.clear();
            text(bare)
        }
        other => text(other),
    };
    item.items.iter().map(line).collect()
}

/// A signature with the name replaced by a path, and without `mut` on what the caller gives.
pub(super) fn signature(signature: &Signature, path: &str) -> String {
    let mut bare = signature.clone();
    for input in &mut bare.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                receiver.attrs.clear();
                receiver.mutability = None;
            }
            FnArg::Typed(typed) => {
                typed.attrs.clear();
                if let Pat::Ident(name) = &mut *typed.pat {
                    name.mutability = None;
                }
            }
        }
    }
    let spelt = text(bare);
    let name = format!("fn {}", signature.ident);
    spelt.replacen(&name, &format!("fn {path}"), 1).trim_end_matches(',').to_owned()
}

/// What an impl adds to its type: each public function, or the trait.
pub(super) fn impl_lines(item: &ItemImpl) -> Vec<String> {
    if item.trait_.is_some() {
        return vec![trait_impl(item)];
    }
    let plain = item.generics.params.is_empty() && item.generics.where_clause.is_none();
    let of = match plain {
        true => String::new(),
        false => {
            let (generics, to) = (text(&item.generics), text(&item.self_ty));
            format!("impl{generics} {to}{}: ", where_clause(&item.generics))
        }
    };
    item.items.iter().filter_map(associated).map(|line| format!("{of}{line}")).collect()
}

fn associated(item: &ImplItem) -> Option<String> {
    match item {
        ImplItem::Const(item) if is_public(&item.vis) => {
            Some(format!("pub const {}: {}{}", item.ident, text(&item.ty), value(&item.expr)))
        }
        ImplItem::Fn(item) if is_public(&item.vis) => {
            Some(format!("pub {}", signature(&item.sig, &item.sig.ident.to_string())))
        }
        ImplItem::Macro(call) => Some(text(call)),
        _ => None,
    }
}

/// The head of a trait impl and the types it fixes.
pub(super) fn trait_impl(item: &ItemImpl) -> String {
    let Some((path, _)) = &item.trait_ else { return String::new() };
    let safety = item.unsafety.map_or("", |_| "unsafe ");
    let not = item.modifiers.polarity.map_or("", |_| "!");
    let types = item.items.iter().filter_map(|item| match item {
        ImplItem::Type(item) => Some(format!("{} = {}", item.ident, text(&item.ty))),
        _ => None,
    });
    let types: Vec<String> = types.collect();
    let types =
        if types.is_empty() { String::new() } else { format!(" {{ {} }}", types.join(", ")) };
    let (generics, to) = (text(&item.generics), text(&item.self_ty));
    let clause = where_clause(&item.generics);
    format!("{safety}impl{generics} {not}{} for {to}{clause}{types}", text(path))
}

/// Whether others see it.
pub(super) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

#[cfg(test)]
mod tests;

//! Decides in which order models serve in the place of one that fails.
//!
//! Knows names alone. Invariant: a chain has each model once, and leads to no model whose own chain
//! leads back.

use super::{Catalogue, CatalogueError, CatalogueModel};

/// The model, then its fallbacks, each followed by its own.
pub(super) fn chain<'a>(
    catalogue: &'a Catalogue,
    model: &'a CatalogueModel,
) -> Vec<&'a CatalogueModel> {
    let mut chain: Vec<&CatalogueModel> = Vec::new();
    let mut ahead = vec![model];
    while let Some(model) = ahead.pop() {
        if chain.iter().any(|known| known.id == model.id) {
            continue;
        }
        chain.push(model);
        let next = model.fallbacks.iter().rev().filter_map(|name| catalogue.find(name));
        ahead.extend(next);
    }
    chain
}

/// Whether each fallback is known, and none leads back to the model.
pub(super) fn check(catalogue: &Catalogue, model: &CatalogueModel) -> Result<(), CatalogueError> {
    let id = || model.id.clone();
    if let Some(name) = model.fallbacks.iter().find(|name| catalogue.find(name).is_none()) {
        return Err(CatalogueError::UnknownFallback { id: id(), name: name.clone() });
    }
    let leads_back = |other: &&CatalogueModel| {
        let named = other.fallbacks.iter().filter_map(|name| catalogue.find(name));
        named.into_iter().any(|named| named.id == model.id)
    };
    match chain(catalogue, model).iter().any(leads_back) {
        true => Err(CatalogueError::FallbackCycle { id: id() }),
        false => Ok(()),
    }
}

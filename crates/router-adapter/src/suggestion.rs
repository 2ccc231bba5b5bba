//! Decides which known names are offered when a name is not known.
//!
//! Offers, never chooses. The unknown name itself is not repeated in the failure.

use runtime_ports::{PortFailure, PortFailureKind};

const MOST_OFFERED: usize = 3;

/// The failure for a model that nobody knows, with the known names that are nearest to it.
pub(crate) fn unknown_model<'a>(
    requested: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> PortFailure {
    let near = nearest(requested, known);
    let message = match near.as_slice() {
        [] => "no model of this name; none is set up".to_owned(),
        names => format!("no model of this name; the nearest known: {}", names.join(", ")),
    };
    PortFailure::not_sent(PortFailureKind::NotFound, "unknown_model", message)
}

fn nearest<'a>(requested: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let bounded: Vec<char> = requested.chars().take(256).collect();
    let mut ranked: Vec<_> =
        known.into_iter().map(|name| (distance(&bounded, name), name)).collect();
    ranked.sort_unstable();
    ranked.into_iter().take(MOST_OFFERED).map(|(_, name)| name).collect()
}

/// Levenshtein distance over characters, ignoring ASCII case.
fn distance(left: &[char], right: &str) -> usize {
    let mut row: Vec<usize> = (0..=left.len()).collect();
    for (above, wanted) in right.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (column, found) in left.iter().enumerate() {
            let replaced = diagonal + usize::from(!found.eq_ignore_ascii_case(&wanted));
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[left.len()]
}

#[cfg(test)]
mod tests;

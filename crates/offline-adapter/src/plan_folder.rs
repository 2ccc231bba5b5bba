//! Decides the steps of tasks about many files: list, count, summarise.
//!
//! Knows that a folder is listed before its files are read, a few at a time. Refuses to know how
//! the report is worded.

use serde_json::json;

use crate::{
    answer,
    exchange::Situation,
    step::{LIST, Progress, READ, Step},
    survey::{FileFacts, Listing, file_facts, listing},
    task::{Scope, Unit},
};

/// Files that are asked for in one response.
const READS_AT_ONCE: usize = 8;

pub(crate) fn list(situation: &Situation, folder: &str) -> Progress<String> {
    let listing = listed(situation, folder, false)?;
    Ok(answer::listed(folder, &listing))
}

pub(crate) fn count(
    situation: &Situation,
    unit: Unit,
    scope: &Scope,
    target: Option<&str>,
) -> Progress<String> {
    let (paths, is_partial) = paths_of(situation, scope, target)?;
    if unit == Unit::Files {
        return Ok(answer::counted_files(&paths, is_partial));
    }
    let facts = read_all(situation, &paths)?;
    Ok(answer::counted(unit, &facts, is_partial))
}

pub(crate) fn summarise(
    situation: &Situation,
    scope: &Scope,
    target: Option<&str>,
) -> Progress<String> {
    let (paths, is_partial) = paths_of(situation, scope, target)?;
    let facts = read_all(situation, &paths)?;
    Ok(answer::summary(&facts, is_partial))
}

/// The files of a scope, without the one that the report goes to: it would count itself.
fn paths_of(
    situation: &Situation,
    scope: &Scope,
    target: Option<&str>,
) -> Progress<(Vec<String>, bool)> {
    let (folder, ending) = match scope {
        Scope::Files(paths) => return Ok((paths.clone(), false)),
        Scope::Folder { path, ending } => (path, ending.as_deref().unwrap_or("")),
    };
    let listing = listed(situation, folder, true)?;
    let files = listing.entries.iter().filter(|entry| !entry.is_folder);
    let counted =
        files.filter(|entry| Some(entry.path.as_str()) != target && entry.path.ends_with(ending));
    Ok((counted.map(|entry| entry.path.clone()).collect(), listing.is_partial))
}

fn listed(situation: &Situation, folder: &str, recursive: bool) -> Progress<Listing> {
    let Some(exchange) = situation.result_of(LIST, folder) else {
        let arguments = json!({ "path": folder, "recursive": recursive });
        return Err(Step::Calls(vec![(LIST, arguments)]));
    };
    listing(exchange).map_err(|reason| Step::Answer(answer::could_not_list(folder, &reason)))
}

fn read_all(situation: &Situation, paths: &[String]) -> Progress<Vec<FileFacts>> {
    let unread: Vec<_> = paths
        .iter()
        .filter(|path| situation.result_of(READ, path).is_none())
        .take(READS_AT_ONCE)
        .map(|path| (READ, json!({ "path": path })))
        .collect();
    if !unread.is_empty() {
        return Err(Step::Calls(unread));
    }
    let facts = paths.iter().filter_map(|path| {
        situation.result_of(READ, path).map(|exchange| file_facts(path, exchange))
    });
    Ok(facts.collect())
}

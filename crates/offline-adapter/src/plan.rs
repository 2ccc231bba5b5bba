//! Decides the next step of a task from what has happened so far.
//!
//! A pure function: the same transcript always gives the same step. Knows which tool each task
//! needs; refuses to know how tools are offered or how an answer is worded.

use serde_json::json;

use crate::{
    answer,
    exchange::Situation,
    plan_folder,
    step::{Progress, READ, SEARCH, Step, WRITE},
    survey::{failure_reason, findings, text_of},
    task::Task,
};

const SEARCH_LIMIT: u64 = 200;

/// Decides the next step.
pub(crate) fn next_step(situation: &Situation) -> Step {
    let progress = match Task::of(&situation.task) {
        Task::Unknown => Ok(answer::not_understood()),
        Task::Read { files } => read(situation, &files),
        Task::Write { path, content } => write(situation, &path, &format!("{content}\n")),
        Task::Search { query, folder, target } => {
            search(situation, &query, &folder).and_then(|report| deliver(situation, report, target))
        }
        Task::List { folder, target } => plan_folder::list(situation, &folder)
            .and_then(|report| deliver(situation, report, target)),
        Task::Count { unit, scope, target } => {
            plan_folder::count(situation, unit, &scope, target.as_deref())
                .and_then(|report| deliver(situation, report, target))
        }
        Task::Summarise { scope, target } => {
            plan_folder::summarise(situation, &scope, target.as_deref())
                .and_then(|report| deliver(situation, report, target))
        }
    };
    progress.map_or_else(|step| step, Step::Answer)
}

/// Writes the report to the target, if there is one, then gives it as the answer.
fn deliver(situation: &Situation, report: String, target: Option<String>) -> Progress<String> {
    let Some(path) = target else { return Ok(report) };
    let note = write(situation, &path, &format!("{}\n", report.trim_end()))?;
    Ok(format!("{report}\n\n{note}"))
}

fn write(situation: &Situation, path: &str, content: &str) -> Progress<String> {
    let Some(exchange) = situation.result_of(WRITE, path) else {
        return Err(Step::Calls(vec![(WRITE, json!({ "path": path, "content": content }))]));
    };
    Ok(match failure_reason(exchange) {
        None => answer::wrote(content.len(), path),
        Some(reason) => format!("Could not write {path}: {reason}"),
    })
}

fn read(situation: &Situation, files: &[String]) -> Progress<String> {
    let wanted: Vec<_> = files
        .iter()
        .filter(|path| situation.result_of(READ, path).is_none())
        .map(|path| (READ, json!({ "path": path })))
        .collect();
    if !wanted.is_empty() {
        return Err(Step::Calls(wanted));
    }
    let shown = files.iter().filter_map(|path| {
        let exchange = situation.result_of(READ, path)?;
        Some(match failure_reason(exchange) {
            Some(reason) => format!("Could not read {path}: {reason}"),
            None => format!("{path}:\n{}", text_of(exchange)),
        })
    });
    Ok(shown.collect::<Vec<_>>().join("\n\n"))
}

fn search(situation: &Situation, query: &str, folder: &str) -> Progress<String> {
    let Some(exchange) = situation.first(SEARCH) else {
        let arguments = json!({ "query": query, "path": folder, "limit": SEARCH_LIMIT });
        return Err(Step::Calls(vec![(SEARCH, arguments)]));
    };
    Ok(match failure_reason(exchange) {
        Some(reason) => format!("Could not search for \"{query}\": {reason}"),
        None => answer::found(query, folder, &findings(exchange)),
    })
}

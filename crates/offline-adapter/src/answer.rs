//! Decides how an answer is worded.
//!
//! Knows facts and turns them into Markdown. Refuses to know where the facts come from.

use crate::{
    survey::{Content, FileFacts, Findings, Listing},
    task::Unit,
};

const HOW_TO_GET_A_REAL_MODEL: &str = "Name a model with --model, or set OPENAI_API_KEY.";

/// Ends every answer, so that nobody takes it for the work of a language model.
pub(crate) const SIGNATURE: &str = "(offline model: rule-based, no network)";

pub(crate) fn not_understood() -> String {
    format!(
        "The offline model does not understand this task. It can list, read, search, count, \
         summarise and write files, for example: \"count the lines of every file and write the \
         totals to TOTALS.md\". {HOW_TO_GET_A_REAL_MODEL}"
    )
}

pub(crate) fn tool_missing(tool: &str) -> String {
    format!("This task needs the tool {tool}, which is not offered here.")
}

pub(crate) fn could_not_list(folder: &str, reason: &str) -> String {
    format!("Could not list {}: {reason}", place(folder))
}

fn place(folder: &str) -> String {
    if folder.is_empty() { "the folder".to_owned() } else { format!("the folder {folder}") }
}

fn counted_noun(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

pub(crate) fn listed(folder: &str, listing: &Listing) -> String {
    let mut lines =
        vec![format!("{} in {}:", counted_noun(listing.entries.len(), "item"), place(folder))];
    for entry in &listing.entries {
        lines.push(match (entry.is_folder, entry.bytes) {
            (true, _) => format!("- {}/", entry.path),
            (false, Some(bytes)) => format!("- {} ({bytes} bytes)", entry.path),
            (false, None) => format!("- {} (no regular file)", entry.path),
        });
    }
    lines.extend(partial_note(listing.is_partial));
    lines.join("\n")
}

fn partial_note(is_partial: bool) -> Option<String> {
    is_partial.then(|| "The list is not whole: there are more files than were listed.".to_owned())
}

pub(crate) fn found(query: &str, folder: &str, findings: &Findings) -> String {
    let bound = if findings.is_partial { "At least " } else { "" };
    let mut report = vec![match findings.hits.len() {
        0 if findings.skipped.is_empty() => {
            format!("\"{query}\" does not occur in {}.", place(folder))
        }
        0 => format!("\"{query}\" does not occur in what could be read of {}:", place(folder)),
        count => {
            let lines = counted_noun(count, "line");
            format!("{bound}{lines} with \"{query}\" in {}:", place(folder))
        }
    }];
    report.extend(findings.hits.iter().chain(&findings.skipped).map(|line| format!("- {line}")));
    report.join("\n")
}

pub(crate) fn wrote(bytes: usize, path: &str) -> String {
    format!("Wrote {} to {path}.", counted_noun(bytes, "byte"))
}

pub(crate) fn counted_files(paths: &[String], is_partial: bool) -> String {
    let bound = if is_partial { "At least " } else { "" };
    let mut lines = vec![format!("{bound}{}:", counted_noun(paths.len(), "file"))];
    lines.extend(paths.iter().map(|path| format!("- {path}")));
    lines.extend(partial_note(is_partial));
    lines.join("\n")
}

pub(crate) fn counted(unit: Unit, facts: &[FileFacts], is_partial: bool) -> String {
    let noun = match unit {
        Unit::Lines => "Lines",
        Unit::Words => "Words",
        Unit::Bytes | Unit::Files => "Bytes",
    };
    let mut rows = vec![format!("| File | {noun} |"), "|---|---:|".to_owned()];
    let (mut total, mut is_total_lower_bound, mut skipped) = (0u64, is_partial, Vec::new());
    for file in facts {
        match &file.content {
            Content::Text { lines, words, bytes, is_cut, .. } => {
                let value = match unit {
                    Unit::Lines => *lines,
                    Unit::Words => *words,
                    Unit::Bytes | Unit::Files => *bytes,
                };
                let is_lower_bound = *is_cut && unit == Unit::Words;
                is_total_lower_bound |= is_lower_bound;
                total = total.saturating_add(value);
                let path = file.path.replace('|', "\\|");
                rows.push(format!("| {path} | {} |", bounded(value, is_lower_bound)));
            }
            Content::Skipped { reason } => skipped.push(format!("- {}: {reason}", file.path)),
        }
    }
    rows.push(format!("| **Total** | **{}** |", bounded(total, is_total_lower_bound)));
    rows.extend(skipped_note(skipped));
    rows.extend(partial_note(is_partial).map(|note| format!("\n{note}")));
    rows.join("\n")
}

fn bounded(value: u64, is_lower_bound: bool) -> String {
    if is_lower_bound { format!("at least {value}") } else { value.to_string() }
}

fn skipped_note(skipped: Vec<String>) -> Option<String> {
    (!skipped.is_empty()).then(|| format!("\nSkipped:\n{}", skipped.join("\n")))
}

pub(crate) fn summary(facts: &[FileFacts], is_partial: bool) -> String {
    let (mut all_lines, mut rows, mut skipped) = (0u64, Vec::new(), Vec::new());
    for file in facts {
        match &file.content {
            Content::Text { lines, first_line, .. } => {
                all_lines = all_lines.saturating_add(*lines);
                let opening = if first_line.is_empty() { "(empty)" } else { first_line };
                let count = counted_noun(usize::try_from(*lines).unwrap_or(usize::MAX), "line");
                rows.push(format!("- {} ({count}): {opening}", file.path));
            }
            Content::Skipped { reason } => skipped.push(format!("- {}: {reason}", file.path)),
        }
    }
    let files = counted_noun(rows.len(), "text file");
    let mut report = vec![format!("# Summary\n\n{files}, {all_lines} lines in all.\n")];
    report.extend(rows);
    report.extend(skipped_note(skipped));
    report.extend(partial_note(is_partial).map(|note| format!("\n{note}")));
    report.join("\n")
}

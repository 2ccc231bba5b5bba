//! Decides how the results of the checks are put down in `docs/compatibility.md`.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use anyhow::Context;
use serde::Deserialize;

const HEAD: &str = "# Servers that the adapters were tried against

Written by `cargo xtask servers --all --write`, which installs the servers, starts them on this
machine and runs the same checks against each. `held` says that the check passed; a reason says why
one does not apply. Times are those of one run on two busy cores and compare nothing but orders of
magnitude; the small model runs on one thread.
";

/// One line of the report of the checks.
#[derive(Debug, Deserialize)]
struct Line {
    server: String,
    version: String,
    api: String,
    check: String,
    result: String,
    millis: u64,
}

/// Writes the page from the report.
pub(super) fn write(page: &Path, report: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(report).context("the checks left no report")?;
    let lines: Vec<Line> = serde_json::from_str(&text).context("the report cannot be read")?;
    fs::write(page, told(&lines)).with_context(|| format!("cannot write {}", page.display()))?;
    println!("{} results in {}", lines.len(), page.display());
    Ok(())
}

fn told(lines: &[Line]) -> String {
    let mut page = HEAD.to_owned();
    let mut servers: BTreeMap<(&str, &str), Vec<&Line>> = BTreeMap::new();
    for line in lines {
        servers.entry((&line.server, &line.version)).or_default().push(line);
    }
    for ((server, version), lines) in servers {
        let _ = write!(
            page,
            "\n## {server} {version}\n\n| API | check | result | ms |\n|---|---|---|---:|\n"
        );
        for Line { api, check, result, millis, .. } in lines {
            let _ =
                writeln!(page, "| {api} | {check} | {} | {millis} |", result.replace('|', "\\|"));
        }
    }
    page
}

#[cfg(test)]
mod tests;

//! Decides how the findings are told: a table for people, lines of JSON for programs.
//!
//! Knows findings. Refuses to know how they came about.

use openai_adapter::ServerProfile;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::{
    finding::{Finding, Verdict},
    patient::Patient,
};
use crate::safe_text::{safe_json, safe_line};

const JSON_VERSION: u16 = 1;
const NAME: usize = 17;
const VERDICT: usize = 15;
const LONGEST: usize = 300;

/// What was counted of the tokens of all answers. Invariant: what no server counted is never a
/// number.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    counted: Option<u64>,
    is_partial: bool,
}

impl Tally {
    /// The counts of one answer.
    pub(crate) fn add(&mut self, input: Option<u64>, output: Option<u64>) {
        self.is_partial |= input.is_none() || output.is_none();
        for count in [input, output].into_iter().flatten() {
            self.counted = Some(self.counted.unwrap_or(0).saturating_add(count));
        }
    }

    fn text(&self) -> String {
        match (self.counted, self.is_partial) {
            (None, _) => "tokens unknown: the server counted none".to_owned(),
            (Some(counted), false) => format!("{counted} tokens counted"),
            (Some(counted), true) => format!("at least {counted} tokens"),
        }
    }
}

/// What is told at the end, in lines of at most so many columns.
pub(crate) fn text(patient: &Patient, fitness: &str, columns: usize) -> String {
    let mut text = examined(patient, columns);
    // Where nothing came, a list of all that was not tried says nothing more.
    let is_over = patient.over.is_some();
    let (untried, tried): (Vec<&Finding>, Vec<&Finding>) = patient
        .findings
        .iter()
        .partition(|finding| is_over && finding.verdict == Verdict::Untested);
    for finding in tried {
        row(finding, columns, &mut text);
    }
    if let Some(first) = untried.first() {
        for line in wrapped(&format!("all else: not tested: {}", first.came), columns) {
            text.push_str(&format!("{line}\n"));
        }
    }
    text.push('\n');
    losses(&patient.findings, columns, &mut text);
    let (requests, tokens) = (patient.requests, patient.tokens.text());
    for line in [fitness.to_owned(), format!("{requests} requests, {tokens}")] {
        for piece in wrapped(&line, columns) {
            text.push_str(&format!("{piece}\n"));
        }
    }
    text
}

/// Who was examined, and in which language.
fn examined(patient: &Patient, columns: usize) -> String {
    let address = patient.endpoint.base_url.split('?').next().unwrap_or_default();
    let (model, api) = (safe_line(&patient.model, 80), patient.api.word());
    let line = format!("the model {model} of {}, by the api {api}", safe_line(address, 200));
    let lines = wrapped(&line, columns);
    lines.iter().map(|line| format!("{line}\n")).collect::<String>() + "\n"
}

fn row(finding: &Finding, columns: usize, text: &mut String) {
    let name = finding.probe.name;
    let verdict = finding.verdict.text();
    let came = format!("{}: {}", finding.probe.asked, finding.came);
    let room = columns.saturating_sub(NAME + VERDICT).max(1);
    let lines = wrapped(&safe_line(&came, LONGEST), room);
    for (place, line) in lines.iter().enumerate() {
        let (name, verdict) = if place == 0 { (name, verdict) } else { ("", "") };
        let row = format!("{name:<NAME$}{verdict:<VERDICT$}{line}");
        text.push_str(row.trim_end());
        text.push('\n');
    }
}

/// Lines of at most `room` columns, cut at spaces where there are some.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        for piece in pieces(word, room) {
            let Some(line) = lines.last_mut() else { continue };
            let gap = usize::from(!line.is_empty());
            if line.width() + gap + piece.width() > room {
                lines.push(piece);
            } else {
                line.push_str(&" ".repeat(gap));
                line.push_str(&piece);
            }
        }
    }
    lines
}

fn pieces(word: &str, room: usize) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    // Wide characters take two columns.
    let most = if word.width() > word.chars().count() { room / 2 } else { room };
    characters.chunks(most.max(1)).map(|piece| piece.iter().collect()).collect()
}

fn losses(findings: &[Finding], columns: usize, text: &mut String) {
    let broken: Vec<&Finding> =
        findings.iter().filter(|finding| finding.verdict == Verdict::Broken).collect();
    if broken.is_empty() {
        return;
    }
    text.push_str("What will not work\n");
    for finding in broken {
        let loss = format!("{}: {}", finding.probe.name, finding.probe.loss);
        for (place, line) in wrapped(&loss, columns.saturating_sub(4).max(1)).iter().enumerate() {
            text.push_str(if place == 0 { "  - " } else { "    " });
            text.push_str(line);
            text.push('\n');
        }
    }
    text.push('\n');
}

/// One object a line: the findings, then the whole.
pub(crate) fn json_lines(patient: &Patient, exit: u8) -> String {
    let mut lines = String::new();
    let mut line = |mut value: Value| {
        value["version"] = json!(JSON_VERSION);
        lines.push_str(&safe_json(&value.to_string()));
        lines.push('\n');
    };
    for finding in &patient.findings {
        line(json!({
            "kind": "finding",
            "probe": finding.probe.name,
            "asked": finding.probe.asked,
            "came": finding.came,
            "verdict": finding.verdict.name(),
            "needed": finding.probe.need == super::finding::Need::Needed,
            "loss": (finding.verdict == Verdict::Broken).then_some(finding.probe.loss),
        }));
    }
    line(json!({
        "kind": "report",
        "base_url": patient.endpoint.base_url.split('?').next(),
        "api": patient.api.word(),
        "speaks": patient.speaks.iter().map(|api| api.word()).collect::<Vec<_>>(),
        "model": patient.model,
        "requests": patient.requests,
        "tokens": patient.tokens.counted,
        "tokens_are_all": patient.tokens.counted.is_some() && !patient.tokens.is_partial,
        "exit_code": exit,
        "profile": patient.has_profile().then(|| profile(&patient.profile)),
    }));
    lines
}

fn profile(profile: &ServerProfile) -> Value {
    serde_json::to_value(profile).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests;

//! Decides how the findings are told: a table for people, lines of JSON for programs.
//!
//! Knows findings. Refuses to know how they came about.

use openai_adapter::{Api, ServerProfile};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::{
    finding::{Finding, Verdict},
    patient::Patient,
};
use crate::safe_text::{safe_json, safe_line};

const JSON_VERSION: u16 = 1;
const COLUMNS: usize = 80;
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

/// What is told at the end.
pub(crate) fn text(patient: &Patient, fitness: &str) -> String {
    let mut text = String::new();
    // Where nothing came, a list of all that was not tried says nothing more.
    let is_over = patient.over.is_some();
    let (untried, tried): (Vec<&Finding>, Vec<&Finding>) = patient
        .findings
        .iter()
        .partition(|finding| is_over && finding.verdict == Verdict::Untested);
    for finding in tried {
        row(finding, &mut text);
    }
    if let Some(first) = untried.first() {
        text.push_str(&format!("all else: not tested: {}\n", first.came));
    }
    text.push('\n');
    losses(&patient.findings, &mut text);
    let (requests, tokens) = (patient.requests, patient.tokens.text());
    text.push_str(&format!("{fitness}\n{requests} requests, {tokens}\n"));
    text
}

fn row(finding: &Finding, text: &mut String) {
    let name = finding.probe.name;
    let verdict = finding.verdict.text();
    let came = format!("{}: {}", finding.probe.asked, finding.came);
    let room = COLUMNS - NAME - VERDICT;
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

fn losses(findings: &[Finding], text: &mut String) {
    let broken: Vec<&Finding> =
        findings.iter().filter(|finding| finding.verdict == Verdict::Broken).collect();
    if broken.is_empty() {
        return;
    }
    text.push_str("What will not work\n");
    for finding in broken {
        let loss = format!("{}: {}", finding.probe.name, finding.probe.loss);
        for (place, line) in wrapped(&loss, COLUMNS - 4).iter().enumerate() {
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
        "api": match patient.api { Api::Chat => "chat", Api::Responses => "responses" },
        "model": patient.model,
        "requests": patient.requests,
        "tokens": patient.tokens.counted,
        "tokens_are_all": patient.tokens.counted.is_some() && !patient.tokens.is_partial,
        "exit_code": exit,
        "profile": profile(&patient.profile),
    }));
    lines
}

fn profile(profile: &ServerProfile) -> Value {
    serde_json::to_value(profile).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests;

//! Decides how an event is shown to a person: the answer on standard output, progress on standard
//! error.
//!
//! Knows colours and when to leave them out. Invariant: every text from outside passes
//! `safe_text`, and the answer appears on standard output exactly once.

use std::{
    io::{IsTerminal, Write},
    sync::{Mutex, PoisonError},
};

use anstyle::{AnsiColor, Style};
use serde_json::Value;

use crate::{
    event::Event,
    safe_text::{safe_line, safe_text},
    show::Show,
    totals::{RunTotals, cost_text, tokens_text},
};

const ARGUMENTS_SHOWN: usize = 160;
const RESULT_SHOWN: usize = 200;
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const NAME: Style = AnsiColor::Cyan.on_default();

/// A person's terminal, or files in its place.
pub(crate) struct Terminal {
    stdout_is_terminal: bool,
    streamed: Mutex<Streamed>,
}

/// The model text since the last tool call, as far as it was streamed.
#[derive(Default)]
struct Streamed {
    text: String,
    at_line_start: bool,
}

impl Terminal {
    pub(crate) fn new() -> Self {
        let streamed = Streamed { text: String::new(), at_line_start: true };
        let stdout_is_terminal = std::io::stdout().is_terminal();
        Self { stdout_is_terminal, streamed: Mutex::new(streamed) }
    }

    /// Streams model text: to standard output where a person watches it, else to standard error,
    /// so that a pipe gets the answer alone.
    fn stream(&self, text: &str) {
        let mut streamed = self.streamed.lock().unwrap_or_else(PoisonError::into_inner);
        let safe = safe_text(text);
        if self.stdout_is_terminal {
            print_out(&safe);
        } else {
            print_err(&safe);
        }
        streamed.text.push_str(text);
        streamed.at_line_start =
            safe.ends_with('\n') || (safe.is_empty() && streamed.at_line_start);
    }

    /// Ends a streamed line before something else is shown.
    fn line(&self, style: Style, text: &str) {
        self.end_streamed_line();
        print_err(&format!("{style}{text}{style:#}\n"));
    }

    fn end_streamed_line(&self) {
        let mut streamed = self.streamed.lock().unwrap_or_else(PoisonError::into_inner);
        if !streamed.at_line_start {
            streamed.at_line_start = true;
            if self.stdout_is_terminal { print_out("\n") } else { print_err("\n") }
        }
    }

    fn forget_streamed(&self) -> String {
        let mut streamed = self.streamed.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut streamed.text)
    }

    fn answer(&self, answer: &str) {
        let streamed = self.forget_streamed();
        self.end_streamed_line();
        if !(self.stdout_is_terminal && streamed.trim_end() == answer.trim_end()) {
            print_out(&format!("{}\n", safe_text(answer.trim_end())));
        }
    }

    fn totals(&self, totals: &RunTotals) {
        self.line(DIM, &totals_line(totals));
    }
}

impl Show for Terminal {
    fn show(&self, event: &Event) {
        match event {
            Event::RunStarted { model, provider, offline, folder, .. } => {
                self.line(DIM, &format!("folder  {}", safe_line(folder, 400)));
                let place = format!("{} at {}", safe_line(model, 100), safe_line(provider, 100));
                let model = if *offline { OFFLINE_LINE } else { place.as_str() };
                self.line(DIM, &format!("model   {model}"));
            }
            Event::RoundStarted { .. } | Event::UsageUpdated { .. } => {}
            Event::TextDelta { text } => self.stream(text),
            Event::ReasoningDelta { .. } => {}
            Event::ToolCalled { number, tool, arguments } => {
                self.forget_streamed();
                self.line(Style::new(), &called_line(*number, tool, arguments));
            }
            Event::ToolCallRefused { number, reason } => {
                self.forget_streamed();
                self.line(BAD, &format!("[{number}] refused: {}", safe_line(reason, RESULT_SHOWN)));
            }
            Event::ApprovalRequested { .. } => self.end_streamed_line(),
            Event::ApprovalResolved { number, tool, approved, reason } => {
                let reason = reason.as_deref().map(|why| safe_line(why, RESULT_SHOWN));
                self.line(DIM, &resolved_line(*number, tool, *approved, reason.as_deref()));
            }
            Event::ToolReturned { number, ok, text, .. } => {
                let style = if *ok { GOOD } else { BAD };
                let mark = if *ok { "ok" } else { "failed" };
                let text = safe_line(text, RESULT_SHOWN);
                self.line(Style::new(), &format!("[{number}] {style}{mark}{style:#} {text}"));
            }
            Event::ReceiptRecorded { receipt, .. } => {
                let (end, id) = (format!("{:?}", receipt.end).to_lowercase(), receipt.operation_id);
                let requests = receipt.requests.len();
                self.line(DIM, &format!("receipt {id}: {end}, {requests} requests"));
            }
            Event::RunCompleted { answer, totals, .. } => {
                if let Some(answer) = answer {
                    self.answer(answer);
                }
                self.totals(totals);
            }
            Event::RunFailed { code, message, hint, totals, .. } => {
                self.totals(totals);
                self.line(
                    BAD,
                    &format!("agent: {} ({})", safe_line(message, 600), safe_line(code, 80)),
                );
                if let Some(hint) = hint {
                    self.line(Style::new(), &format!("       {}", safe_line(hint, 600)));
                }
            }
            Event::RunCancelled { totals, .. } => {
                self.totals(totals);
                self.line(BAD, "agent: cancelled");
            }
        }
    }

    fn note(&self, text: &str) {
        self.line(Style::new(), &safe_text(text));
    }
}

const OFFLINE_LINE: &str = "offline: the embedded rule-based model, no network \
                            (for a language model: --model NAME or OPENAI_API_KEY)";

fn called_line(number: u64, tool: &str, arguments: &Value) -> String {
    let arguments = safe_line(&arguments.to_string(), ARGUMENTS_SHOWN);
    format!("[{number}] {NAME}{}{NAME:#} {arguments}", safe_line(tool, 60))
}

fn resolved_line(number: u64, tool: &str, approved: bool, reason: Option<&str>) -> String {
    let decision = if approved { "approved" } else { "not approved" };
    let reason = reason.map(|why| format!(": {why}")).unwrap_or_default();
    format!("[{number}] {} {decision}{reason}", safe_line(tool, 60))
}

fn totals_line(totals: &RunTotals) -> String {
    let (turns, requests) = (totals.turns, totals.requests);
    let (input, output) = (tokens_text(totals.input_tokens), tokens_text(totals.output_tokens));
    let cost = cost_text(totals.cost_nano_usd);
    format!(
        "totals  {turns} turns, {requests} requests; tokens in {input}, out {output}; cost {cost}"
    )
}

fn print_out(text: &str) {
    let mut stdout = anstream::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

fn print_err(text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

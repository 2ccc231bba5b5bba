//! Decides how an event is shown to a person: the answer on standard output, progress on standard
//! error.
//!
//! Knows colours. Invariant: every text from outside passes `safe_text`, and the answer appears
//! exactly once: streamed where standard output is a terminal, whole at the end where it is not.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use anstyle::{AnsiColor, Style};
use runtime_ports::{TurnEnd, UsageReceipt};

use super::{call::arguments_line, outcome::outcome_line};
use crate::{
    amounts::{cost, counted, duration, tokens, tokens_in_and_out, tokens_of},
    event::Event,
    safe_text::{SafeStream, safe_line, safe_text},
    screen::{Screen, Streamed},
    show::Show,
    totals::RunTotals,
};

const PLAIN: Style = Style::new();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const NAME: Style = AnsiColor::Cyan.on_default();

const TOOL_SHOWN: usize = 60;
const REASON_SHOWN: usize = 300;
const MESSAGE_SHOWN: usize = 600;

/// A person at a terminal, or files in its place.
pub(crate) struct Person {
    screen: Arc<Screen>,
    started: Instant,
    said: Mutex<Said>,
}

/// What the model said since its last call.
#[derive(Default)]
struct Said {
    text: String,
    safe: SafeStream,
    thought: SafeStream,
}

impl Person {
    pub(crate) fn new(screen: Arc<Screen>) -> Self {
        Self { screen, started: Instant::now(), said: Mutex::default() }
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, style: Style, text: &str) {
        self.screen.line(&self.screen.styled(style, text));
    }

    fn text(&self, piece: &str) {
        let mut said = self.said();
        said.text.push_str(piece);
        if self.screen.stdout_is_terminal() {
            let safe = said.safe.push(piece);
            self.screen.stream(Streamed::Text, &safe, PLAIN);
        }
    }

    fn reasoning(&self, piece: &str) {
        if self.screen.stderr_is_terminal() {
            let safe = self.said().thought.push(piece);
            self.screen.stream(Streamed::Reasoning, &safe, DIM);
        }
    }

    /// What was said is no answer: it was a remark before a call, or the run broke off. Where it
    /// was not streamed it is shown now.
    fn remark(&self) {
        let said = std::mem::take(&mut *self.said());
        let text = said.text.trim();
        if !self.screen.stdout_is_terminal() && !text.is_empty() {
            self.screen.line(&safe_text(text));
        }
    }

    /// The text of a turn that completed may be the answer, which is shown once, at the end.
    fn receipt(&self, receipt: &UsageReceipt) {
        if receipt.end != TurnEnd::Completed {
            self.remark();
        }
        self.line(DIM, &receipt_line(receipt));
    }

    fn answer(&self, answer: &str) {
        let said = std::mem::take(&mut *self.said());
        let is_shown =
            self.screen.stdout_is_terminal() && said.text.trim_end() == answer.trim_end();
        if !is_shown {
            self.screen.lines_out(format!("{}\n", safe_text(answer.trim_end())).as_bytes());
        }
    }

    fn numbered(&self, number: u64, style: Style, word: &str, rest: &str) {
        let word = self.screen.styled(style, word);
        let rest = if rest.is_empty() { String::new() } else { format!(" {rest}") };
        self.screen.line(&format!("[{number}] {word}{rest}"));
    }

    fn totals(&self, totals: &RunTotals) {
        if totals.turns > 0 {
            let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.line(DIM, &totals_line(totals, elapsed));
        }
    }

    fn failure(&self, code: &str, message: &str, hint: Option<&str>) {
        let code = match code {
            "CONFIGURATION" | "RUN_FAILED" => String::new(),
            code => format!(" ({})", safe_line(code, 80)),
        };
        self.line(BAD, &format!("agent: {}{code}", safe_line(message, MESSAGE_SHOWN)));
        if let Some(hint) = hint {
            self.line(PLAIN, &format!("       {}", safe_line(hint, MESSAGE_SHOWN)));
        }
    }
}

impl Show for Person {
    fn show(&self, event: &Event) {
        match event {
            Event::RunStarted { model, provider, offline, folder, .. } => {
                self.line(DIM, &format!("folder  {}", safe_line(folder, MESSAGE_SHOWN)));
                let place = format!("{} at {}", safe_line(model, 100), safe_line(provider, 100));
                let model = if *offline { OFFLINE_LINE } else { place.as_str() };
                self.line(DIM, &format!("model   {model}"));
            }
            Event::RoundStarted { .. } | Event::UsageUpdated { .. } => {}
            Event::TextDelta { text } => self.text(text),
            Event::ReasoningDelta { text } => self.reasoning(text),
            Event::ToolCalled { number, tool, arguments } => {
                self.remark();
                let arguments = arguments_line(tool, arguments);
                self.numbered(*number, NAME, &safe_line(tool, TOOL_SHOWN), &arguments);
            }
            Event::ToolCallRefused { number, reason } => {
                self.remark();
                self.numbered(*number, BAD, "refused:", &safe_line(reason, REASON_SHOWN));
            }
            Event::ApprovalRequested { .. } => self.screen.end_line(),
            Event::ApprovalResolved { number, approved: true, .. } => {
                self.numbered(*number, GOOD, "approved", "");
            }
            // The result of the call says the same, with the reason.
            Event::ApprovalResolved { approved: false, .. } => {}
            Event::ToolReturned { number, tool, ok, text } => {
                let (style, word) = if *ok { (GOOD, "ok") } else { (BAD, "failed:") };
                self.numbered(*number, style, word, &outcome_line(tool, *ok, text));
            }
            Event::ReceiptRecorded { receipt, .. } => self.receipt(receipt),
            Event::RunCompleted { answer, totals, .. } => {
                if let Some(answer) = answer {
                    self.answer(answer);
                }
                self.totals(totals);
            }
            Event::RunFailed { code, message, hint, totals, .. } => {
                self.remark();
                self.totals(totals);
                self.failure(code, message, hint.as_deref());
            }
            Event::RunCancelled { totals, .. } => {
                self.remark();
                self.totals(totals);
                self.line(BAD, "agent: cancelled");
            }
        }
    }

    fn note(&self, text: &str) {
        self.screen.line(&safe_text(text));
    }
}

const OFFLINE_LINE: &str = "offline: the embedded rule-based model, no network \
                            (for a language model: --model NAME or OPENAI_API_KEY)";

fn receipt_line(receipt: &UsageReceipt) -> String {
    let id = receipt.operation_id;
    let requests = counted(receipt.requests.len() as u64, "request", "requests");
    let took = duration(receipt.ended_at_ms.saturating_sub(receipt.started_at_ms));
    let (input, output) = tokens_of(receipt);
    let (end, tokens) = (end_text(receipt.end), tokens_in_and_out(&input, &output));
    format!("receipt {id}: {end}, {requests}, {took}; {tokens}")
}

/// How a turn ended, in a word.
pub(crate) const fn end_text(end: TurnEnd) -> &'static str {
    match end {
        TurnEnd::Completed => "completed",
        TurnEnd::Failed => "failed",
        TurnEnd::TimedOut => "timed out",
        TurnEnd::Cancelled => "cancelled",
        TurnEnd::Interrupted => "interrupted",
    }
}

fn totals_line(totals: &RunTotals, elapsed_ms: u64) -> String {
    let turns = counted(totals.turns, "turn", "turns");
    let requests = counted(totals.requests, "request", "requests");
    let tokens = tokens_in_and_out(&tokens(totals.input_tokens), &tokens(totals.output_tokens));
    let (took, cost) = (duration(elapsed_ms), cost(totals.cost_nano_usd));
    format!("totals  {turns}, {requests}, {took}; {tokens}; cost {cost}")
}

//! Decides how what is told is shown to a person: the answer on standard output, progress on
//! standard error.
//!
//! Knows colours. Invariant: every text from outside passes `safe_text`, and the answer appears
//! exactly once: streamed where standard output is a terminal, whole at the end where it is not.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use anstyle::{AnsiColor, Style};
use runtime_kernel::engine::{CancelReport, Event, RunEvent};
use runtime_ports::{TurnEnd, UsageReceipt};

use super::{
    calls::Calls,
    outcome::outcome_line,
    receipt::{receipt_line, totals_line},
};
use crate::{
    diagnosis::Diagnosis,
    exit::Exit,
    safe_text::{SafeStream, safe_line, safe_text},
    screen::{Screen, Streamed},
    show::{Manner, Show},
    told::{Closing, Setting, Told},
    totals::RunTotals,
};

const PLAIN: Style = Style::new();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const NAME: Style = AnsiColor::Cyan.on_default();

const MESSAGE_SHOWN: usize = 600;
const REMARK_SHOWN: usize = 60;
const NARROWEST: usize = 40;

/// A person at a terminal, or files in its place.
pub(crate) struct Person {
    screen: Arc<Screen>,
    manner: Manner,
    /// The beginning of the work; in a conversation, of the answer.
    started: Mutex<Instant>,
    said: Mutex<Said>,
    calls: Mutex<Calls>,
}

/// What the model said since its last call.
#[derive(Default)]
struct Said {
    /// As it came in pieces; some may be missing.
    text: String,
    /// The whole, once it is there.
    whole: Option<Arc<str>>,
    safe: SafeStream,
    thought: SafeStream,
}

impl Person {
    pub(crate) fn new(screen: Arc<Screen>, manner: Manner) -> Self {
        let (said, calls) = (Mutex::default(), Mutex::default());
        Self { screen, manner, started: Mutex::new(Instant::now()), said, calls }
    }

    fn started(&self) -> MutexGuard<'_, Instant> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// What was streamed so far is void.
    fn restart(&self) {
        let said = std::mem::take(&mut *self.said());
        if self.screen.stdout_is_terminal() && !said.text.is_empty() {
            self.line(DIM, "(that broke off; the answer starts over)");
        }
    }

    /// What was said is no answer: it was a remark before a call, or the run broke off. Where it
    /// was not streamed it is shown now.
    fn remark(&self) {
        let said = std::mem::take(&mut *self.said());
        let text = said.whole.as_deref().unwrap_or(&said.text).trim();
        if !self.was_streamed(&said, text) && !text.is_empty() {
            self.screen.line(&safe_text(text));
        }
    }

    fn answer(&self, answer: &str) {
        let said = std::mem::take(&mut *self.said());
        let answer = answer.trim();
        if !self.was_streamed(&said, answer) {
            self.screen.lines_out(format!("{}\n", safe_text(answer)).as_bytes());
        }
    }

    fn was_streamed(&self, said: &Said, text: &str) -> bool {
        self.screen.stdout_is_terminal() && said.text.trim() == text
    }

    /// A line about a call, cut to the width of the screen.
    fn numbered(&self, number: u64, style: Style, word: &str, rest: &str) {
        let head = format!("[{number}] {word}").chars().count();
        let room = self.screen.columns().max(NARROWEST).saturating_sub(head + 2);
        let rest = safe_line(rest, room);
        let rest = if rest.is_empty() { rest } else { format!(" {rest}") };
        let word = self.screen.styled(style, word);
        self.screen.line(&format!("[{number}] {word}{rest}"));
    }

    fn happened(&self, event: &RunEvent) {
        match &event.event {
            Event::AssistantDelta { text } => self.text(text),
            Event::ReasoningDelta { text } => self.reasoning(text),
            Event::AnswerRestarted => self.restart(),
            Event::RunStarted { .. } if self.manner == Manner::Talk => {
                *self.started() = Instant::now();
            }
            Event::CycleStarted { max_cycles, .. } => {
                self.remark();
                self.calls().open_cycle();
                self.cycle(event.cycle.unwrap_or(1), *max_cycles);
            }
            Event::CycleLlmResponse { assistant_message, tool_call_count, .. } => {
                self.said().whole = Some(Arc::clone(assistant_message));
                if *tool_call_count > 0 {
                    self.remark();
                }
            }
            Event::SessionSteerDequeued { prompt, .. }
            | Event::SessionSteerInterrupt { prompt, .. } => self.applied(event, prompt),
            other => self.about_a_call(other),
        }
    }

    /// Most messages are answered in one.
    fn cycle(&self, cycle: u32, of: u32) {
        if self.manner == Manner::Task || cycle > 1 {
            self.line(DIM, &format!("cycle {cycle} of {of}"));
        }
    }

    fn applied(&self, event: &RunEvent, prompt: &str) {
        let (cycle, said) = (event.cycle.unwrap_or(1), safe_line(prompt, REMARK_SHOWN));
        self.line(DIM, &format!("steering applied in cycle {cycle}: {said}"));
    }

    fn about_a_call(&self, event: &Event) {
        match event {
            Event::ToolCallPlanned { tool_name, tool_arguments, tool_call_id } => {
                let call = self.calls().begin(tool_call_id, tool_name, tool_arguments);
                self.numbered(call.number, NAME, &call.tool, &call.arguments);
            }
            Event::ApprovalRequested { .. } => self.screen.end_line(),
            Event::ApprovalResolved { tool_call_id, approved: true, .. } => {
                if let Some(call) = self.calls().mention(tool_call_id) {
                    self.numbered(call.number, GOOD, "approved", &call.again.unwrap_or_default());
                }
            }
            Event::ToolResult { .. } => self.result(event),
            // The result of a call that was denied says the same, with the reason.
            _ => {}
        }
    }

    fn result(&self, event: &Event) {
        let Event::ToolResult {
            tool_name, tool_arguments, tool_call_id, error_code, content, ..
        } = event
        else {
            return;
        };
        let outcome = outcome_line(tool_name, error_code.is_none(), content);
        let (style, word) = match error_code.as_deref() {
            None => (GOOD, "ok"),
            Some(code) if code.starts_with("skipped_") => (DIM, "skipped:"),
            Some(_) => (BAD, "failed:"),
        };
        let mut calls = self.calls();
        let (number, again) = match calls.mention(tool_call_id) {
            Some(call) => (call.number, call.again),
            None => {
                let call = calls.begin(tool_call_id, tool_name, tool_arguments);
                (call.number, Some(format!("{} {}", call.tool, call.arguments)))
            }
        };
        let again = again.map(|call| format!("{}: ", call.trim_end())).unwrap_or_default();
        self.numbered(number, style, word, &format!("{again}{outcome}"));
    }

    fn receipt(&self, receipt: &UsageReceipt) {
        if receipt.end != TurnEnd::Completed {
            self.remark();
        }
        if self.manner == Manner::Task || receipt.end != TurnEnd::Completed {
            self.line(DIM, &receipt_line(receipt));
        }
    }

    fn last(&self, event: &RunEvent, closing: &Closing) {
        match &event.event {
            Event::RunCompleted { final_answer } => self.answer(final_answer),
            _ => self.remark(),
        }
        if let Some(asked) = &closing.asked {
            self.answer(asked);
        }
        closing.returned.iter().for_each(|said| self.returned(said));
        closing.cancelled.iter().for_each(|report| self.found(report));
        self.totals(&closing.totals);
        match &closing.diagnosis {
            Some(diagnosis) => self.failure(diagnosis),
            None if closing.exit == Exit::Cancelled => self.line(BAD, "agent: cancelled"),
            None => {}
        }
    }

    fn returned(&self, said: &str) {
        let said = safe_line(said, REMARK_SHOWN);
        self.line(BAD, &format!("steering not applied, the run had ended: {said}"));
    }

    fn found(&self, report: &CancelReport) {
        let kinds = [
            ("settled", &report.settled),
            ("may have taken effect", &report.unknown),
            ("still running", &report.still_running),
        ];
        for (word, names) in kinds {
            for name in names {
                self.line(DIM, &format!("{word}: {}", safe_line(name, MESSAGE_SHOWN)));
            }
        }
    }

    fn totals(&self, totals: &RunTotals) {
        if totals.turns > 0 {
            let elapsed = u64::try_from(self.started().elapsed().as_millis()).unwrap_or(u64::MAX);
            self.line(DIM, &totals_line(totals, elapsed));
        }
    }

    fn failure(&self, diagnosis: &Diagnosis) {
        let code = match diagnosis.code.as_str() {
            "configuration" => String::new(),
            code => format!(" ({})", safe_line(code, 80)),
        };
        let message = safe_line(&diagnosis.message, MESSAGE_SHOWN);
        self.line(BAD, &format!("agent: {message}{code}"));
        if let Some(hint) = &diagnosis.hint {
            self.line(PLAIN, &format!("       {}", safe_line(hint, MESSAGE_SHOWN)));
        }
    }

    fn setting(&self, setting: &Setting) {
        self.line(DIM, &format!("folder  {}", safe_line(&setting.folder, MESSAGE_SHOWN)));
        let (model, provider) = (safe_line(&setting.model, 100), safe_line(&setting.provider, 100));
        let place = format!("{model} at {provider}");
        let model = if setting.is_offline { OFFLINE_LINE } else { place.as_str() };
        self.line(DIM, &format!("model   {model}"));
    }
}

impl Show for Person {
    fn show(&self, told: Told<'_>) {
        match told {
            Told::Setting(setting) => self.setting(setting),
            Told::Happened(event) => self.happened(event),
            Told::Missed(count) => {
                self.line(DIM, &format!("(too fast for this screen: {count} events left out)"));
            }
            Told::Receipt(receipt) => self.receipt(receipt),
            Told::Noted => self.line(DIM, "steering noted; the model is told at its next step"),
            Told::Last(event, closing) => self.last(event, closing),
        }
    }

    fn note(&self, text: &str) {
        self.screen.line(&safe_text(text));
    }
}

const OFFLINE_LINE: &str = "offline: the embedded rule-based model, no network \
                            (for a language model: --model NAME or OPENAI_API_KEY)";

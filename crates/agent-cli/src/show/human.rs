//! Decides how what is told is shown to a person: the answer on standard output, progress on
//! standard error.
//!
//! Knows colours. Invariant: every text from outside passes `safe_text`, and the answer appears
//! exactly once: streamed where standard output is a terminal, whole at the end where it is not.

mod about_calls;
mod about_runs;
mod at_the_end;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use anstyle::{AnsiColor, Style};
use runtime_kernel::engine::{Event, RunEvent};
use runtime_ports::{TurnEnd, UsageReceipt};

use self::about_runs::Depths;
use super::{calls::Calls, detour::detour_line, receipt::receipt_line};
use crate::{
    safe_text::{SafeStream, safe_line, safe_text},
    screen::{Screen, Streamed},
    show::{Manner, Show},
    told::{Setting, Told},
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
    depths: Mutex<Depths>,
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
        let (said, calls, depths) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { screen, manner, started: Mutex::new(Instant::now()), said, calls, depths }
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

    fn depths(&self) -> MutexGuard<'_, Depths> {
        self.depths.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn happened(&self, event: &RunEvent) {
        if event.identity.parent_run_id.is_some() {
            return self.below(event);
        }
        match &event.event {
            Event::AssistantDelta { text } => self.text(text),
            Event::ReasoningDelta { text } => self.reasoning(text),
            Event::AnswerRestarted => self.restart(),
            Event::RunStarted { .. } if self.manner == Manner::Talk => {
                *self.started() = Instant::now();
            }
            Event::CycleStarted { max_cycles, .. } => {
                self.remark();
                self.calls().forget(&event.identity.run_id);
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
            _ => {
                let _ = self.about_a_call(event) || self.about_a_run(event);
            }
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

    fn receipt(&self, receipt: &UsageReceipt) {
        if receipt.end != TurnEnd::Completed {
            self.remark();
        }
        if self.manner == Manner::Task || receipt.end != TurnEnd::Completed {
            self.line(DIM, &receipt_line(receipt));
        }
        if self.manner == Manner::Task {
            let losses = receipt.losses.iter().map(|loss| safe_line(loss, MESSAGE_SHOWN));
            losses.for_each(|loss| self.line(DIM, &format!("        {loss}")));
        }
    }

    fn setting(&self, setting: &Setting) {
        self.line(DIM, &format!("folder  {}", safe_line(&setting.folder, MESSAGE_SHOWN)));
        let (model, provider) = (safe_line(&setting.model, 100), safe_line(&setting.provider, 100));
        let place = format!("{model} at {provider}");
        let model = if setting.is_offline { OFFLINE_LINE } else { place.as_str() };
        self.line(DIM, &format!("model   {model}"));
        for fallback in &setting.fallbacks {
            self.line(DIM, &format!("        or {}", safe_line(fallback, MESSAGE_SHOWN)));
        }
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
            Told::Detour(detour) => self.line(DIM, &detour_line(detour)),
            Told::Noted => self.line(DIM, "steering noted; the model is told at its next step"),
            Told::Last(event, closing) => self.last(event, closing),
        }
    }

    fn note(&self, text: &str) {
        self.screen.line(&safe_text(text));
    }
}

/// In two lines, which fit into 80 columns.
const OFFLINE_LINE: &str = "offline: the embedded rule-based model, no network\n        \
                            (for a language model: --model NAME or OPENAI_API_KEY)";

//! Decides where text lands when standard output and standard error may share one terminal.
//!
//! Knows both streams, and whether they are terminals with colours. Refuses to know what is said.
//! Invariants: what is shown begins on a line of its own unless it goes on with what is streamed;
//! a failed write ends nothing, and one to standard output is remembered.

use std::{
    io::{self, IsTerminal, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use rustix::{fs::fstat, termios::tcgetwinsize};

use crate::panel::Panel;

/// What fits into a line where no width is known.
const UNBOUND: usize = 250;

/// Columns of a table, where there is room for as many, and where there is not.
const TABLE: usize = 80;
const NARROWEST: usize = 44;

/// What an unfinished line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Streamed {
    /// Model text, on standard output.
    Text,
    /// Reasoning, on standard error.
    Reasoning,
    /// A question, on standard error, with the cursor behind it.
    Question,
}

/// The two streams.
pub(crate) struct Screen {
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
    has_colours: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    unfinished: Option<Streamed>,
    lost: Option<io::Error>,
    panel: Option<Arc<Panel>>,
}

impl Screen {
    /// The streams of this process.
    pub(crate) fn of_process() -> Self {
        Self {
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            has_colours: AutoStream::choice(&io::stderr()) != ColorChoice::Never,
            state: Mutex::default(),
        }
    }

    /// The same above a panel, for what goes to the terminal of standard error.
    pub(crate) fn above(panel: Arc<Panel>) -> Self {
        let screen = Self::of_process();
        screen.state().panel = Some(panel);
        screen
    }

    /// Whether a person watches standard output.
    pub(crate) const fn stdout_is_terminal(&self) -> bool {
        self.stdout_is_terminal
    }

    /// Whether a person watches standard error.
    pub(crate) const fn stderr_is_terminal(&self) -> bool {
        self.stderr_is_terminal
    }

    /// The text in a style, or plain where there are no colours.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        if self.has_colours { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Goes on with a stream.
    pub(crate) fn stream(&self, streamed: Streamed, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        let mut state = self.state();
        if state.unfinished != Some(streamed) {
            state.end_line();
        }
        match streamed {
            Streamed::Text => state.print_out(text.as_bytes()),
            Streamed::Reasoning | Streamed::Question => {
                state.print_err(&self.styled(style, text));
            }
        }
        state.unfinished = (!text.ends_with('\n')).then_some(streamed);
    }

    /// A line of its own on standard error.
    pub(crate) fn line(&self, text: &str) {
        let mut state = self.state();
        state.end_line();
        state.print_err(&format!("{text}\n"));
    }

    /// Bytes for standard output, whole lines.
    pub(crate) fn lines_out(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.end_line();
        state.print_out(bytes);
    }

    /// Ends an unfinished line.
    pub(crate) fn end_line(&self) {
        self.state().end_line();
    }

    /// Ends an unfinished line, unless the screen takes nothing.
    pub(crate) fn end_line_at_once(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.end_line();
        }
    }

    /// The person ended a line; whatever was there, the cursor is at the beginning of the next.
    pub(crate) fn line_was_ended(&self) {
        self.state().unfinished = None;
    }

    /// How many characters a line of standard error should have at most.
    pub(crate) fn columns(&self) -> usize {
        let size = self.stderr_is_terminal.then(|| tcgetwinsize(io::stderr()).ok()).flatten();
        // Terminals that do not know their size say 0.
        size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0).unwrap_or(UNBOUND)
    }

    /// How many characters a line of a table on standard output has at most: 80, or as many as a
    /// narrower terminal shows, if it shows enough for a table.
    pub(crate) fn columns_out(&self) -> usize {
        let size = self.stdout_is_terminal.then(|| tcgetwinsize(io::stdout()).ok()).flatten();
        let columns = size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0);
        columns.unwrap_or(TABLE).clamp(NARROWEST, TABLE)
    }

    /// The terminal has shown the keys of an interruption where the cursor is.
    pub(crate) fn keys_were_echoed(&self) {
        if self.stderr_is_terminal {
            self.state().unfinished.get_or_insert(Streamed::Question);
        }
    }

    /// Why something for standard output was lost, if it was: a full disk, say. A reader that went
    /// away has seen enough.
    pub(crate) fn loss(&self) -> Option<io::Error> {
        self.state().lost.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn end_line(&mut self) {
        match self.unfinished.take() {
            Some(Streamed::Text) => self.print_out(b"\n"),
            Some(Streamed::Reasoning | Streamed::Question) => self.print_err("\n"),
            None => {}
        }
    }

    fn print_err(&self, text: &str) {
        match &self.panel {
            Some(panel) => panel.print(text),
            None => print_err(text),
        }
    }

    fn print_out(&mut self, bytes: &[u8]) {
        if let Some(panel) = self.panel.as_ref().filter(|_| is_one_terminal()) {
            return panel.print(&String::from_utf8_lossy(bytes));
        }
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
        let lost = written.err().filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        self.lost = self.lost.take().or(lost);
    }
}

/// Whether standard output and standard error are the same terminal.
fn is_one_terminal() -> bool {
    let device = |found: rustix::io::Result<rustix::fs::Stat>| found.ok().map(|stat| stat.st_rdev);
    io::stdout().is_terminal() && device(fstat(io::stdout())) == device(fstat(io::stderr()))
}

/// Standard error that is gone is nobody's loss.
pub(crate) fn print_err(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

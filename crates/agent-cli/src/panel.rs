//! Decides how a person types at the bottom of a terminal while text appears above.
//!
//! Knows one terminal, its modes, and the text that is being typed. Refuses to know what a text is
//! for. Invariants: what is typed when a question appears is set aside and comes back; a text that
//! was begun before a question is never its answer; the terminal is left as it was found.

mod console;
mod draft;
mod ink;
mod keys;
mod layout;
mod past;

pub(crate) use console::{PanelConsole, Wish};

use std::{
    io::{self, Write},
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crossterm::{
    event::{DisableBracketedPaste, EnableBracketedPaste, Event},
    execute, terminal,
};
use rustix::termios::tcgetwinsize;

use self::{
    draft::{Draft, Edit},
    ink::Ink,
    keys::{Meaning, meaning},
    layout::{Layout, layout},
    past::Past,
};

/// Prompts in the place of which a question may stand.
const IDLE: &str = "> ";
const WORKING: &str = "steer > ";
/// A terminal that does not know its size.
const UNKNOWN_SIZE: (u16, u16) = (80, 24);

/// The bottom of a terminal.
pub(crate) struct Panel {
    /// Completes the name of a command, if it is the beginning of one.
    complete: fn(&str) -> Option<String>,
    state: Mutex<State>,
}

struct State {
    paper: Box<dyn Write + Send>,
    ink: Ink,
    past: Past,
    killed: String,
    draft: Draft,
    question: Option<Question>,
    is_open: bool,
    is_working: bool,
    entered: Vec<Entered>,
}

/// A question in the place of the prompt.
struct Question {
    prompt: String,
    /// What was being typed when it appeared.
    aside: Draft,
}

/// What a person entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entered {
    /// A text that answers nothing.
    Text(String),
    /// The answer to the question that was shown.
    Answer(String),
    /// The key that stops.
    Stop,
    /// The key that leaves.
    Leave,
    /// The key that puts the command into the background.
    Suspend,
}

impl Panel {
    /// What is typed is remembered in the file, if there is one.
    pub(crate) fn new(kept_in: Option<PathBuf>, complete: fn(&str) -> Option<String>) -> Self {
        Self::on(Box::new(io::stderr()), kept_in, complete)
    }

    fn on(
        paper: Box<dyn Write + Send>,
        kept_in: Option<PathBuf>,
        complete: fn(&str) -> Option<String>,
    ) -> Self {
        let state = State {
            paper,
            ink: Ink::default(),
            past: Past::kept_in(kept_in),
            killed: String::new(),
            draft: Draft::new(""),
            question: None,
            is_open: false,
            is_working: false,
            entered: Vec::new(),
        };
        Self { complete, state: Mutex::new(state) }
    }

    /// Takes the terminal.
    ///
    /// # Errors
    /// It cannot be put into the mode in which each key is read.
    pub(crate) fn open(&self) -> io::Result<()> {
        terminal::enable_raw_mode()?;
        let _ = execute!(io::stderr(), EnableBracketedPaste);
        let mut state = self.state();
        state.is_open = true;
        state.repaint();
        Ok(())
    }

    /// Gives the terminal back. What is shown stays; what is typed is removed.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        if std::mem::take(&mut state.is_open) {
            state.repaint();
            let _ = execute!(io::stderr(), DisableBracketedPaste);
            let _ = terminal::disable_raw_mode();
        }
    }

    /// Shows text above what is typed, going on where the text before it ended.
    pub(crate) fn print(&self, text: &str) {
        let mut state = self.state();
        let input = state.is_open.then(|| state.layout());
        let bytes = state.ink.text(text, input.as_ref(), columns());
        state.emit(&bytes);
    }

    /// Whether something is at work that can be steered and stopped.
    pub(crate) fn set_working(&self, is_working: bool) {
        let mut state = self.state();
        state.is_working = is_working;
        state.repaint();
    }

    /// Asks in the place of the prompt.
    pub(crate) fn ask(&self, prompt: &str) {
        let mut state = self.state();
        let aside = std::mem::replace(&mut state.draft, Draft::new(""));
        state.question = Some(Question { prompt: prompt.to_owned(), aside });
        state.repaint();
    }

    /// Asks no more.
    pub(crate) fn withdraw(&self) {
        let mut state = self.state();
        state.end_question();
        state.repaint();
    }

    /// Gives a text back to whoever typed it, before what is typed now.
    pub(crate) fn give_back(&self, text: &str) {
        let mut state = self.state();
        let draft = match &mut state.question {
            Some(question) => &mut question.aside,
            None => &mut state.draft,
        };
        let joined = [text, draft.text()].map(str::trim_end).join("\n");
        *draft = Draft::new(joined.trim_end());
        state.repaint();
    }

    /// What was entered since the last call.
    pub(crate) fn entered(&self) -> Vec<Entered> {
        std::mem::take(&mut self.state().entered)
    }

    /// Takes an event of the terminal; says whether something was entered.
    pub(crate) fn take(&self, event: Event) -> bool {
        let mut state = self.state();
        match meaning(event) {
            Meaning::Edit(edit) => state.edit(edit),
            Meaning::Enter if state.draft.wants_another_line() => {
                state.edit(Edit::Insert("\n".to_owned()));
            }
            Meaning::Enter => state.enter(),
            Meaning::Complete => {
                if let Some(whole) = (self.complete)(state.draft.text()) {
                    state.draft = Draft::new(&whole);
                }
            }
            Meaning::Stop => state.stop(),
            Meaning::Leave => state.leave(),
            Meaning::Suspend => state.entered.push(Entered::Suspend),
            Meaning::Clear => {
                let input = state.layout();
                let bytes = state.ink.cleared(Some(&input));
                state.emit(&bytes);
            }
            Meaning::Resized => {}
            Meaning::Nothing => return false,
        }
        state.repaint();
        !state.entered.is_empty()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn prompt(&self) -> &str {
        match &self.question {
            Some(question) => &question.prompt,
            None if self.is_working => WORKING,
            None => IDLE,
        }
    }

    fn layout(&self) -> Layout {
        let (columns, rows) = size();
        // A line of text, and one that is not ended, stay in sight.
        let room = rows.saturating_sub(2);
        layout(self.prompt(), self.draft.text(), self.draft.cursor(), columns).within(room)
    }

    fn repaint(&mut self) {
        let input = self.is_open.then(|| self.layout());
        let bytes = self.ink.input(input.as_ref(), columns());
        self.emit(&bytes);
    }

    /// A terminal that is gone is nobody's loss.
    fn emit(&mut self, bytes: &str) {
        if !bytes.is_empty() {
            let _ = self.paper.write_all(bytes.as_bytes()).and_then(|()| self.paper.flush());
        }
    }

    fn edit(&mut self, edit: Edit) {
        self.draft.edit(edit, &self.past, &mut self.killed);
    }

    fn enter(&mut self) {
        let text = self.draft.text().to_owned();
        if self.question.is_some() {
            self.echo();
            self.end_question();
            self.entered.push(Entered::Answer(text));
        } else if !text.trim().is_empty() {
            self.echo();
            self.draft = Draft::new("");
            self.past.add(text.trim_end());
            self.entered.push(Entered::Text(text));
        }
    }

    /// What was entered stays on the screen.
    fn echo(&mut self) {
        let whole = layout(self.prompt(), self.draft.text(), 0, columns());
        let lines = format!("{}\n", whole.rows.join("\n"));
        let ended = self.ink.input(None, columns());
        let begin = if self.ink.is_in_a_line() { "\n" } else { "" };
        let shown = self.ink.text(&format!("{begin}{lines}"), None, columns());
        self.emit(&(ended + &shown));
    }

    fn end_question(&mut self) {
        if let Some(question) = self.question.take() {
            self.draft = question.aside;
        }
    }

    /// At rest it takes back what is typed; what is at work stops, and what is typed stays.
    fn stop(&mut self) {
        match self.is_working || self.draft.text().is_empty() {
            true => self.entered.push(Entered::Stop),
            false => self.draft = Draft::new(""),
        }
    }

    fn leave(&mut self) {
        match self.draft.text().is_empty() {
            // The end of all input is no approval.
            true if self.question.is_some() => self.enter(),
            true => self.entered.push(Entered::Leave),
            false => self.edit(Edit::Delete),
        }
    }
}

fn columns() -> usize {
    size().0
}

fn size() -> (usize, usize) {
    let found = tcgetwinsize(io::stderr()).ok().map(|size| (size.ws_col, size.ws_row));
    let known = found.filter(|&(columns, rows)| columns > 0 && rows > 0);
    let (columns, rows) = known.unwrap_or(UNKNOWN_SIZE);
    (usize::from(columns), usize::from(rows))
}

#[cfg(test)]
pub(crate) mod staging;
#[cfg(test)]
mod tests;

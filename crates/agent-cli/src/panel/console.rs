//! Decides how the panel is read, and shown questions.
//!
//! Knows the keyboard. Refuses to know what a text is for. Invariant: a wish is never taken for a
//! text, and is not lost behind one.

use std::{
    io::IsTerminal,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use crossterm::event;
use runtime_ports::InteractionRequest;
use rustix::process::{Signal, getpid, kill_process};
use tokio::sync::mpsc;

use super::{Entered, Panel};
use crate::{
    console::{Console, Typed, shown},
    screen::Screen,
};

/// How many wishes may wait; more of them say nothing new.
const WISHES: usize = 16;

/// In which a process has stopped that was told to.
const STOP_TIME: Duration = Duration::from_millis(100);

/// What a person wants of the command, whatever it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// To stop what is at work.
    Stop,
    /// To leave, when nothing is at work.
    Leave,
    /// To leave, and to stop what is at work.
    Quit,
    /// The terminal is gone, or the process shall end.
    End,
}

/// A panel as a console.
pub(crate) struct PanelConsole {
    panel: Arc<Panel>,
    screen: Arc<Screen>,
    wishes: mpsc::Sender<Wish>,
    typed: Mutex<Vec<Typed>>,
}

impl PanelConsole {
    /// Whether a panel can be had: a person types, and sees standard error.
    pub(crate) fn is_possible() -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// With it comes where wishes are told, and where more can be put.
    pub(crate) fn new(
        panel: Arc<Panel>,
        screen: Arc<Screen>,
    ) -> (Self, mpsc::Sender<Wish>, mpsc::Receiver<Wish>) {
        let (wishes, told) = mpsc::channel(WISHES);
        let typed = Mutex::default();
        (Self { panel, screen, wishes: wishes.clone(), typed }, wishes, told)
    }

    fn wish(&self, wish: Wish) {
        // As many wait already.
        let _ = self.wishes.try_send(wish);
    }

    /// Sorts what was entered.
    fn sort(&self, typed: &mut Vec<Typed>) {
        for entered in self.panel.entered() {
            match entered {
                Entered::Text(text) => typed.push(Typed::Remark(text)),
                Entered::Answer(text) => typed.push(Typed::Line(text)),
                Entered::Stop => self.wish(Wish::Stop),
                Entered::Leave => self.wish(Wish::Leave),
                Entered::Suspend => self.suspend(),
            }
        }
    }

    /// Returns when the command is in front again.
    fn suspend(&self) {
        self.panel.close();
        let _ = kill_process(getpid(), Signal::TSTP);
        // Another thread may be told of it first. Where nobody could continue it, nothing stops.
        thread::sleep(STOP_TIME);
        let _ = self.panel.open();
    }
}

impl Console for PanelConsole {
    fn is_attended(&self) -> bool {
        true
    }

    fn await_typing(&self) -> bool {
        loop {
            let Ok(event) = event::read() else {
                self.wish(Wish::End);
                return false;
            };
            if self.panel.take(event) {
                let mut typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
                self.sort(&mut typed);
                if !typed.is_empty() {
                    return true;
                }
            }
        }
    }

    fn read(&self) -> Vec<Typed> {
        let mut typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        self.sort(&mut typed);
        std::mem::take(&mut *typed)
    }

    fn show(&self, request: &InteractionRequest) {
        let whole = shown(request);
        let (text, prompt) = whole.rsplit_once('\n').unwrap_or(("", &whole));
        if !text.is_empty() {
            self.screen.line(text);
        }
        self.panel.ask(prompt);
    }

    fn withdraw(&self) {
        self.panel.withdraw();
        self.screen.line("(this is not asked any more)");
    }

    fn line_was_ended(&self) {}
}

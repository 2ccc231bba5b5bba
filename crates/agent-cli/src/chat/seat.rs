//! Decides where messages come from: a person at a terminal, or lines of standard input.
//!
//! Knows keyboards, pipes and signals. Refuses to know what a message is for. Invariant: a line of a
//! pipe is read when it is wanted, and never steers what was asked before it.

use std::{
    io::{BufRead, stdin},
    sync::Arc,
};

use tokio::sync::mpsc;

use crate::{
    chat::slash::complete,
    console::StandardConsole,
    interrupt::{self, Caught},
    panel::{Panel, PanelConsole, Wish},
    places::Places,
    question::offers_all,
    screen::Screen,
    terminal::TerminalInteraction,
};

/// Where a conversation is held.
pub(crate) struct Seat {
    pub(crate) screen: Arc<Screen>,
    /// Where a person types.
    pub(crate) panel: Option<Arc<Panel>>,
    pub(crate) terminal: TerminalInteraction,
    /// Messages, as they are wanted.
    pub(crate) lines: mpsc::Receiver<String>,
    /// Where a wish can be put.
    pub(crate) wish: mpsc::Sender<Wish>,
    pub(crate) wishes: mpsc::Receiver<Wish>,
}

impl Seat {
    /// Takes the terminal, if there is one.
    pub(crate) fn take() -> Self {
        match PanelConsole::is_possible() {
            true => Self::at_a_terminal(),
            false => Self::behind_a_pipe(),
        }
    }

    /// Messages, for whoever takes them from now on.
    pub(crate) fn take_lines(&mut self) -> mpsc::Receiver<String> {
        let (_, none) = mpsc::channel(1);
        std::mem::replace(&mut self.lines, none)
    }

    fn at_a_terminal() -> Self {
        let kept_in = Places::find().ok().map(|places| places.typed());
        let panel = Arc::new(Panel::new(kept_in, complete));
        let screen = Arc::new(Screen::above(Arc::clone(&panel)));
        let console = PanelConsole::new(Arc::clone(&panel), Arc::clone(&screen));
        let (console, wish, wishes) = console;
        if let Err(error) = panel.open() {
            screen.line(&format!("agent: the terminal cannot be taken: {error}"));
        }
        forward_signals(wish.clone());
        let (terminal, lines) = TerminalInteraction::new(Arc::new(console), offers_all);
        Self { screen, panel: Some(panel), terminal, lines, wish, wishes }
    }

    fn behind_a_pipe() -> Self {
        let screen = Arc::new(Screen::of_process());
        let console = StandardConsole::absent(Arc::clone(&screen));
        let (terminal, _) = TerminalInteraction::new(Arc::new(console), offers_all);
        let (wish, wishes) = mpsc::channel(1);
        forward_signals(wish.clone());
        Self { screen, panel: None, terminal, lines: lines_of_input(), wish, wishes }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(panel) = &self.panel {
            panel.close();
        }
    }
}

fn lines_of_input() -> mpsc::Receiver<String> {
    let (lines, read) = mpsc::channel(1);
    // ends with the input, or with the process: nothing can interrupt a read.
    std::thread::spawn(move || {
        for line in stdin().lock().split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
            if lines.blocking_send(line).is_err() {
                return;
            }
        }
    });
    read
}

fn forward_signals(wishes: mpsc::Sender<Wish>) {
    let Ok(mut signals) = interrupt::Signals::listen() else { return };
    // ends with the process: a signal may come as long as that lives.
    tokio::spawn(async move {
        loop {
            let wish = match signals.next().await {
                Caught::Interrupt => Wish::Stop,
                Caught::End => Wish::End,
            };
            // As many wait already.
            let _ = wishes.try_send(wish);
        }
    });
}

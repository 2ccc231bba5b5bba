//! Decides how a terminal is shown questions and read line by line.
//!
//! Knows the device. Refuses to know what a line is for. Invariants: only [`Console::read`] takes
//! what was typed, and it never waits; a run in the background of its shell leaves the keyboard to
//! whoever is in front.

use std::{
    io::{IsTerminal, Stdin, stdin},
    os::fd::AsFd,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use anstyle::Style;
use runtime_ports::{InteractionKind, InteractionRequest};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::getpgrp,
    termios::{QueueSelector, tcflush, tcgetpgrp},
};

use crate::{
    safe_text::safe_text,
    screen::{Screen, Streamed},
};

/// Something that a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A line, without its end. Answers the question that is shown, if there is one.
    Line(String),
    /// A text that answers nothing: it was begun before the question that is shown.
    Remark(String),
    /// The character that ends the input.
    EndOfInput,
}

/// Where questions are shown and lines come from.
pub(crate) trait Console: Send + Sync + 'static {
    /// Whether anybody can be asked.
    fn is_attended(&self) -> bool;

    /// Blocks until something was typed, or for a while; `false` when nothing ever will be.
    fn await_typing(&self) -> bool;

    /// What was typed since the last call. Does not wait.
    fn read(&self) -> Vec<Typed>;

    /// Shows a question; a line that was begun before it is forgotten.
    fn show(&self, request: &InteractionRequest);

    /// The question that is shown is not asked any more.
    fn withdraw(&self);

    /// A line came whose end the terminal has shown.
    fn line_was_ended(&self);
}

/// Longest line that is taken; terminals give less.
const LINE_LIMIT: usize = 64 << 10;

/// How often a run in the background looks whether it is in front.
const BACKGROUND_PAUSE: Duration = Duration::from_millis(500);

/// Standard error and standard input, when both are a terminal.
pub(crate) struct StandardConsole {
    screen: Arc<Screen>,
    is_read: bool,
    /// A line that is not ended yet. Terminals keep those themselves, unless they are told not to.
    begun: Mutex<Vec<u8>>,
}

impl StandardConsole {
    pub(crate) fn new(screen: Arc<Screen>) -> Self {
        Self { screen, is_read: true, begun: Mutex::default() }
    }

    /// One that somebody else reads.
    pub(crate) fn absent(screen: Arc<Screen>) -> Self {
        Self { screen, is_read: false, begun: Mutex::default() }
    }
}

impl Console for StandardConsole {
    fn is_attended(&self) -> bool {
        self.is_read && stdin().is_terminal() && self.screen.stderr_is_terminal()
    }

    fn await_typing(&self) -> bool {
        loop {
            match typing(None) {
                Some(flags) if flags.intersects(PollFlags::HUP | PollFlags::ERR) => return false,
                Some(_) if is_in_front() => return true,
                Some(_) => thread::sleep(BACKGROUND_PAUSE),
                None => return false,
            }
        }
    }

    fn read(&self) -> Vec<Typed> {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let mut typed = Vec::new();
        while is_ready() {
            let mut buffer = [0; 4096];
            match rustix::io::read(stdin(), &mut buffer) {
                Ok(0) if begun.is_empty() => typed.push(Typed::EndOfInput),
                Ok(0) => typed.push(line(&std::mem::take(&mut *begun))),
                Ok(count) => take(&buffer[..count], &mut begun, &mut typed),
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        typed
    }

    fn show(&self, request: &InteractionRequest) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).clear();
        // A terminal that cannot forget shows what was begun behind the question.
        let _ = tcflush(stdin(), QueueSelector::IFlush);
        self.screen.stream(Streamed::Question, &shown(request), Style::new());
    }

    fn withdraw(&self) {
        self.screen.line("(this is not asked any more)");
    }

    fn line_was_ended(&self) {
        self.screen.line_was_ended();
    }
}

/// What is shown of a question. That of an approval ends with its choices.
pub(crate) fn shown(request: &InteractionRequest) -> String {
    let prompt = safe_text(&request.prompt);
    match request.kind {
        InteractionKind::Question => format!("{prompt}\n> "),
        InteractionKind::Approval => prompt.into_owned(),
    }
}

/// What there is to say of the keyboard, within `patience`; `None` when it cannot be asked.
fn typing(patience: Option<&Timespec>) -> Option<PollFlags> {
    let stdin: Stdin = stdin();
    let mut keyboard = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
    loop {
        match poll(&mut keyboard, patience) {
            Ok(_) => return Some(keyboard[0].revents()),
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

fn is_ready() -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let flags = typing(Some(&at_once)).unwrap_or(PollFlags::empty());
    flags.contains(PollFlags::IN) && !flags.contains(PollFlags::HUP) && is_in_front()
}

/// Whether the terminal is ours to read. One that controls nothing belongs to whoever has it.
fn is_in_front() -> bool {
    tcgetpgrp(stdin()).map_or(true, |group| group == getpgrp())
}

fn take(bytes: &[u8], begun: &mut Vec<u8>, typed: &mut Vec<Typed>) {
    for byte in bytes {
        match byte {
            b'\n' => typed.push(line(&std::mem::take(begun))),
            byte if begun.len() < LINE_LIMIT => begun.push(*byte),
            _ => {}
        }
    }
}

fn line(bytes: &[u8]) -> Typed {
    Typed::Line(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests;

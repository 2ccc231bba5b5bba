//! Decides how a test sits at a terminal: it reads the screen, types lines and sends signals.
//!
//! A pseudo-terminal is all three streams of the command. It is not its controlling terminal, so
//! that Ctrl-C is sent as the signal that it is.

use std::{
    fs::File,
    io::Write,
    os::{fd::OwnedFd, unix::fs::OpenOptionsExt},
    process::{Child, Command},
    time::Instant,
};

use rustix::{
    fs::OFlags,
    process::Signal,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, tcgetattr},
};

use crate::{
    output::{Output, end_of},
    place::signal_child,
};

/// A command at a terminal.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    screen: Output,
    line: File,
}

/// How it ended.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) code: Option<i32>,
    /// Everything that the screen was sent, in the order in which it came.
    pub(crate) screen: String,
    /// Whether the terminal still echoes and edits lines.
    pub(crate) is_cooked: bool,
}

impl Terminal {
    /// Starts the command; its standard output goes to a file instead, if one is given.
    pub(crate) fn running(mut command: Command, stdout: Option<File>) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let no_controlling = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
        let mut options = File::options();
        options.read(true).write(true).custom_flags(no_controlling);
        let line = options.open(name.to_str().unwrap()).unwrap();
        let stdout = stdout.map_or_else(|| own(&line), OwnedFd::from);
        command.stdin(own(&line)).stdout(stdout).stderr(own(&line));
        let child = command.spawn().unwrap();
        // The child alone keeps its end open, besides the one that is asked for its modes.
        drop(command);
        let keyboard = File::from(controller);
        let screen = Output::of(keyboard.try_clone().unwrap());
        Self { child, keyboard, screen, line }
    }

    /// Waits until the screen shows `part`.
    pub(crate) fn until(&self, part: &str) {
        self.screen.until(part);
    }

    /// Waits until the screen has shown `part` for the `count`th time.
    pub(crate) fn until_times(&self, part: &str, count: usize) {
        self.screen.until_times(part, count);
    }

    /// Types a line and ends it.
    pub(crate) fn type_line(&mut self, text: &str) {
        self.keyboard.write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    /// Types the character that ends the input.
    pub(crate) fn type_end_of_input(&mut self) {
        self.keyboard.write_all(&[4]).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) -> Instant {
        signal_child(&self.child, signal)
    }

    pub(crate) fn left(mut self) -> Left {
        let code = end_of(&mut self.child).code();
        let modes = tcgetattr(&self.line).unwrap().local_modes;
        let is_cooked = modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        drop(self.line);
        Left { code, screen: self.screen.ended(), is_cooked }
    }
}

fn own(line: &File) -> OwnedFd {
    line.try_clone().unwrap().into()
}

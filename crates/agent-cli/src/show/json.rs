//! Decides how what is told is printed for a program: one JSON object a line, on standard output.
//!
//! Raw text is kept: what would steer a terminal, if one shows the lines, is escaped as JSON does it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    safe_text::safe_json,
    screen::Screen,
    show::Show,
    told::{Setting, Told, event_line, last_line},
};

/// Prints the events of runs.
pub(crate) struct JsonLines {
    screen: Arc<Screen>,
    setting: Mutex<Option<Setting>>,
}

impl JsonLines {
    pub(crate) fn new(screen: Arc<Screen>) -> Self {
        Self { screen, setting: Mutex::default() }
    }

    fn line(&self, line: serde_json::Result<String>) {
        // Of values that were read or made here, none fails.
        if let Ok(line) = line {
            let line = format!("{}\n", safe_json(&line));
            self.screen.lines_out(line.as_bytes());
        }
    }
}

impl Show for JsonLines {
    fn show(&self, told: Told<'_>) {
        let mut setting = self.setting.lock().unwrap_or_else(PoisonError::into_inner);
        match told {
            Told::Setting(found) => *setting = Some(found.clone()),
            Told::Happened(event) => self.line(event_line(event, setting.as_ref())),
            Told::Last(event, closing) => self.line(last_line(event, closing)),
            // Missing numbers tell of what was missed; all else is in the events or in the last.
            Told::Missed(_) | Told::Receipt(_) | Told::Detour(_) | Told::Noted => {}
        }
    }

    fn note(&self, _text: &str) {}
}

//! Decides how a test reads what is shown: a panel on paper.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use super::Panel;

/// Everything that was shown.
#[derive(Clone, Default)]
pub(crate) struct Paper(Arc<Mutex<Vec<u8>>>);

impl Paper {
    /// A panel that nobody types at, on this paper.
    pub(crate) fn panel(&self) -> Arc<Panel> {
        Arc::new(Panel::on(Box::new(self.clone()), None, |_| None))
    }

    /// What was shown, without what makes it appear at once.
    pub(crate) fn text(&self) -> String {
        let bytes = self.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).unwrap().replace("\r\n", "\n");
        text.replace("\x1b[?2026h", "").replace("\x1b[?2026l", "")
    }
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! Decides how the output of a child is collected, and how long anything is waited for.

use std::{
    io::Read,
    process::{Child, ExitStatus},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

/// Longest wait for anything: far more than it takes, and the machine may be busy.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// What a stream has given so far.
#[derive(Clone, Default)]
pub(crate) struct Output(Arc<(Mutex<Collected>, Condvar)>);

#[derive(Default)]
struct Collected {
    bytes: Vec<u8>,
    has_ended: bool,
}

impl Output {
    /// Reads `source` to its end in a thread of its own.
    pub(crate) fn of(mut source: impl Read + Send + 'static) -> Self {
        let output = Self::default();
        let shared = output.clone();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The end of a pseudo-terminal is an error.
            while let Ok(count @ 1..) = source.read(&mut buffer) {
                shared.update(|collected| collected.bytes.extend_from_slice(&buffer[..count]));
            }
            shared.update(|collected| collected.has_ended = true);
        });
        output
    }

    fn update(&self, change: impl FnOnce(&mut Collected)) {
        change(&mut self.0.0.lock().unwrap());
        self.0.1.notify_all();
    }

    /// The text so far, with the line ends of a terminal made plain.
    pub(crate) fn text(&self) -> String {
        self.raw().replace("\r\n", "\n")
    }

    /// The text so far as it came.
    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.0.0.lock().unwrap().bytes).into_owned()
    }

    /// Waits until the text has `part` for the `count`th time.
    pub(crate) fn until_times(&self, part: &str, count: usize) {
        self.wait(|_| self.text().matches(part).count() >= count, part);
    }

    /// Waits until the text has `part`.
    pub(crate) fn until(&self, part: &str) {
        self.until_times(part, 1);
    }

    /// Waits for the end and gives the text.
    pub(crate) fn ended(&self) -> String {
        self.wait(|collected| collected, "the end of the output");
        self.text()
    }

    fn wait(&self, is_there: impl Fn(bool) -> bool, what: &str) {
        let until = Instant::now() + LIMIT;
        loop {
            let has_ended = self.0.0.lock().unwrap().has_ended;
            if is_there(has_ended) {
                return;
            }
            let hopeless = has_ended || Instant::now() > until;
            assert!(!hopeless, "waited in vain for {what:?}; so far:\n{}", self.text());
            let guard = self.0.0.lock().unwrap();
            drop(self.0.1.wait_timeout(guard, Duration::from_millis(20)).unwrap());
        }
    }
}

/// Waits for the end of a child; a child that does not end is killed, and the test fails.
pub(crate) fn end_of(child: &mut Child) -> ExitStatus {
    let until = Instant::now() + LIMIT;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("the command did not end");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

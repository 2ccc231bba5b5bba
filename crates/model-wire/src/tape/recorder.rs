//! Decides how exchanges get into a file, and what happens when they do not.
//!
//! Knows the file. Refuses to know what is in an exchange. Invariants: a thread of its own writes,
//! line by line; an exchange that can be recorded has its place in the queue before it begins; once
//! something could not be written nothing more is sent.

use std::{
    fmt,
    fs::OpenOptions,
    io::{ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use runtime_ports::PortFailure;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::{
    TapeError,
    line::{self, NoteLine},
    recording::{Recording, Taken},
    secrets::{Known, Secrets},
};

/// Most exchanges that are under way at once; another waits for one of them to end.
const AT_ONCE: usize = 64;

/// Keeps exchanges in a file.
pub struct Recorder {
    path: PathBuf,
    jobs: mpsc::Sender<Job>,
    fate: Arc<Fate>,
    numbers: AtomicU64,
    known: Arc<Known>,
}

/// What is to be written.
pub(super) enum Job {
    Exchange(Box<Taken>, Option<oneshot::Sender<()>>),
    Note(NoteLine, oneshot::Sender<()>),
    Settle(oneshot::Sender<()>),
}

/// Why nothing more can be written, once it is so.
#[derive(Debug, Default)]
pub(super) struct Fate(Mutex<Option<TapeError>>);

impl fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Recorder").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Begins a tape in a new file, for its owner alone. Blocks for a moment: it makes a file.
    ///
    /// # Errors
    /// There is such a file, or it cannot be made.
    pub fn create(path: impl Into<PathBuf>) -> Result<Arc<Self>, TapeError> {
        let path = path.into();
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => TapeError::Exists(path.clone()),
            _ => unwritable(&path, &error),
        })?;
        Self::over(path, Box::new(file))
    }

    /// The same over anything that takes lines.
    pub(super) fn over(
        path: PathBuf,
        mut file: Box<dyn Write + Send>,
    ) -> Result<Arc<Self>, TapeError> {
        file.write_all(line::first().as_bytes()).map_err(|error| unwritable(&path, &error))?;
        let (jobs, queue) = mpsc::channel(AT_ONCE);
        let fate = Arc::new(Fate::default());
        let writer = Writer { path: path.clone(), file, fate: Arc::clone(&fate) };
        // ends with the last sender: the recorder, and the exchanges that are under way.
        let thread = thread::Builder::new().name("tape".to_owned());
        thread.spawn(move || writer.write(queue)).map_err(|error| unwritable(&path, &error))?;
        let (numbers, known) = (AtomicU64::new(1), Arc::default());
        Ok(Arc::new(Self { path, jobs, fate, numbers, known }))
    }

    /// Keeps something that a replay can find again under `name`. It must hold no secret.
    ///
    /// # Errors
    /// It could not be written.
    pub async fn note(&self, name: &str, value: Value) -> Result<(), TapeError> {
        let (written, word) = oneshot::channel();
        let note = NoteLine { note: name.to_owned(), value };
        self.give(Job::Note(note, written), word).await
    }

    /// Waits until everything is written that has ended.
    ///
    /// # Errors
    /// Something could not be written, now or before.
    pub async fn settled(&self) -> Result<(), TapeError> {
        let (written, word) = oneshot::channel();
        self.give(Job::Settle(written), word).await
    }

    async fn give(&self, job: Job, word: oneshot::Receiver<()>) -> Result<(), TapeError> {
        // A writer that is gone has said why.
        let _ = self.jobs.send(job).await;
        let _ = word.await;
        self.fate.get().map_or(Ok(()), Err)
    }

    /// From now on these are blotted out of every exchange: a server may be told the key of another
    /// one, and echo it.
    pub(crate) fn keep_secret(&self, secrets: Secrets) {
        self.known.add(secrets);
    }

    /// Begins an exchange: nothing is sent that there is no room for.
    pub(crate) async fn begin(
        &self,
        to: &str,
        method: &str,
        path: &str,
    ) -> Result<Recording, PortFailure> {
        let place = self.jobs.clone().reserve_owned().await;
        if let Some(error) = self.fate.get() {
            return Err(error.failure());
        }
        let place = place.map_err(|_| self.gone().failure())?;
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let taken = Taken::new(number, (to, method, path), Arc::clone(&self.known));
        Ok(Recording::new(place, taken, Arc::clone(&self.fate)))
    }

    fn gone(&self) -> TapeError {
        let reason = "its writer has ended".to_owned();
        TapeError::Unwritable { path: self.path.clone(), reason }
    }
}

impl Fate {
    fn get(&self) -> Option<TapeError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first reason stays.
    pub(super) fn set(&self, error: TapeError) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

struct Writer {
    path: PathBuf,
    file: Box<dyn Write + Send>,
    fate: Arc<Fate>,
}

impl Writer {
    fn write(mut self, mut queue: mpsc::Receiver<Job>) {
        while let Some(job) = queue.blocking_recv() {
            let word = match job {
                Job::Exchange(taken, word) => {
                    self.line(&taken.into_line());
                    word
                }
                Job::Note(note, word) => {
                    self.line(&note);
                    Some(word)
                }
                Job::Settle(word) => Some(word),
            };
            // Whoever does not wait for the word needs none.
            let _ = word.map(|word| word.send(()));
        }
    }

    /// One write for each line: whatever ends the process, the lines before are whole.
    fn line(&mut self, line: &impl serde::Serialize) {
        if self.fate.get().is_some() {
            return;
        }
        let text = serde_json::to_vec(line).map_err(std::io::Error::from);
        let written = text.and_then(|mut text| {
            text.push(b'\n');
            self.file.write_all(&text)?;
            self.file.flush()
        });
        if let Err(error) = written {
            self.fate.set(unwritable(&self.path, &error));
        }
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> TapeError {
    TapeError::Unwritable { path: path.to_owned(), reason: error.kind().to_string() }
}

#[cfg(test)]
mod tests;

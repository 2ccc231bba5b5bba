//! Decides which recorded exchange answers a request: the first unused one that is the same.
//!
//! Knows a tape as a whole. Refuses to know what requests mean. Invariants: an exchange answers once;
//! a request that was not recorded gets a failure and nothing else; calls that run at once may come
//! in any order.

use std::{
    collections::BTreeMap,
    fmt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use memchr::memmem;
use runtime_ports::{PortFailure, PortFailureKind};
use serde_json::Value;

use super::{
    TapeError,
    compare::{Comparison, Difference, Names},
    line::{ExchangeLine, NoteLine, VERSION},
    taped::TapedAnswer,
};

/// Plays a tape back.
pub struct Replay {
    exchanges: Vec<Taped>,
    notes: Vec<NoteLine>,
    is_cut: bool,
    state: Mutex<State>,
}

struct Taped {
    line: ExchangeLine,
    /// All chunks in one.
    answer: Vec<u8>,
}

#[derive(Default)]
struct State {
    used: Vec<bool>,
    names: Names,
}

impl fmt::Debug for Replay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exchanges = self.exchanges.len();
        formatter.debug_struct("Replay").field("exchanges", &exchanges).finish_non_exhaustive()
    }
}

impl Replay {
    /// Reads the tape in the file at `path`. Blocks: it reads a file.
    ///
    /// # Errors
    /// It cannot be read, is damaged, or of another version.
    pub fn open(path: &Path) -> Result<Arc<Self>, TapeError> {
        let bytes = std::fs::read(path).map_err(|error| TapeError::Unreadable {
            path: path.to_owned(),
            reason: error.kind().to_string(),
        })?;
        Self::of_bytes(&bytes)
    }

    /// The tape that `bytes` are.
    ///
    /// # Errors
    /// It is damaged, or of another version.
    pub fn of_bytes(bytes: &[u8]) -> Result<Arc<Self>, TapeError> {
        let (mut exchanges, mut notes) = (BTreeMap::new(), Vec::new());
        let (whole, rest) = match memchr::memrchr(b'\n', bytes) {
            Some(end) => (&bytes[..end], &bytes[end + 1..]),
            None => (bytes, &b""[..]),
        };
        let mut lines = whole.split(|&byte| byte == b'\n').enumerate();
        check_first(lines.next().map_or(&b""[..], |(_, line)| line))?;
        for (index, line) in lines {
            let damaged = |reason: String| TapeError::Damaged { line: index + 1, reason };
            let value: Value =
                serde_json::from_slice(line).map_err(|error| damaged(place(&error)))?;
            if value.get("note").is_some() {
                notes.push(serde_json::from_value(value).map_err(|error| damaged(shape(&error)))?);
                continue;
            }
            let line: ExchangeLine =
                serde_json::from_value(value).map_err(|error| damaged(shape(&error)))?;
            let number = line.exchange;
            let answer = line.chunks.iter().flat_map(|chunk| chunk.0.iter().copied()).collect();
            if exchanges.insert(number, Taped { line, answer }).is_some() {
                return Err(damaged(format!("exchange {number} is there twice")));
            }
        }
        let exchanges: Vec<Taped> = exchanges.into_values().collect();
        let state = State { used: vec![false; exchanges.len()], names: Names::default() };
        // What has no end was being written when its process was killed.
        Ok(Arc::new(Self { exchanges, notes, is_cut: !rest.is_empty(), state: Mutex::new(state) }))
    }

    /// What was noted under `name`, in order.
    pub fn notes<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Value> {
        self.notes.iter().filter(move |note| note.note == name).map(|note| &note.value)
    }

    /// The base URLs of the servers that were asked, each once, in order.
    pub fn servers(&self) -> Vec<&str> {
        let mut servers: Vec<&str> = Vec::new();
        for taped in &self.exchanges {
            if !servers.contains(&taped.line.to.as_str()) {
                servers.push(&taped.line.to);
            }
        }
        servers
    }

    /// Whether the process that recorded was stopped while it wrote a line, which is left out.
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The exchanges that were not asked for, each in a few words. A replay that is over should
    /// have none.
    pub fn unused(&self) -> Vec<String> {
        let state = self.state();
        let unused = self.exchanges.iter().zip(&state.used).filter(|(_, used)| !**used);
        unused.map(|(taped, _)| taped.name()).collect()
    }

    /// The answer to a request.
    pub(crate) fn answer(
        &self,
        to: &str,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> Result<TapedAnswer, PortFailure> {
        let request: Option<Value> = serde_json::from_slice(body).ok();
        let mut nearest: Option<(&Taped, Difference)> = None;
        let mut state = self.state();
        for (place, taped) in self.exchanges.iter().enumerate() {
            if state.used[place] || !taped.is_for(to, method, path) {
                continue;
            }
            match self.compared(place, request.as_ref(), &state.names) {
                Ok(names) => {
                    state.used[place] = true;
                    state.names = names;
                    return Ok(taped.play(&state.names));
                }
                Err(difference) => {
                    let is_nearer =
                        nearest.as_ref().is_none_or(|(_, last)| difference.equal > last.equal);
                    nearest = if is_nearer { Some((taped, difference)) } else { nearest };
                }
            }
        }
        Err(mismatch(nearest, to, method, path))
    }

    /// The names after a request that is the same.
    fn compared(
        &self,
        place: usize,
        request: Option<&Value>,
        names: &Names,
    ) -> Result<Names, Difference> {
        let line = &self.exchanges[place].line;
        let before = &self.exchanges[..place];
        let is_ours = |id: &str| {
            !before.iter().any(|taped| memmem::find(&taped.answer, id.as_bytes()).is_some())
        };
        let mut comparison = Comparison {
            names: names.clone(),
            has_blots: line.redacted > 0,
            is_ours: &is_ours,
            equal: 0,
        };
        match (&line.request, request) {
            (Some(then), Some(now)) => comparison.check(then, now)?,
            (None, None) => {}
            _ => return Err(Difference { path: "$".to_owned(), equal: 0 }),
        }
        Ok(comparison.names)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taped {
    fn name(&self) -> String {
        let line = &self.line;
        format!("exchange {}: {} {}", line.exchange, line.method, line.path)
    }

    fn is_for(&self, to: &str, method: &str, path: &str) -> bool {
        (self.line.to.as_str(), self.line.method.as_str(), self.line.path.as_str())
            == (to, method, path)
    }

    fn play(&self, names: &Names) -> TapedAnswer {
        let mut joined = self.answer.clone();
        names.rename(&mut joined);
        let mut rest = Bytes::from(joined);
        let chunks = self.line.chunks.iter().map(|chunk| rest.split_to(chunk.0.len())).collect();
        TapedAnswer::new(&self.line, chunks)
    }
}

fn check_first(line: &[u8]) -> Result<(), TapeError> {
    let damaged = |reason: &str| TapeError::Damaged { line: 1, reason: reason.to_owned() };
    let value: Value = serde_json::from_slice(line).map_err(|_| damaged("it is no tape"))?;
    match value.get("tape").ok_or_else(|| damaged("it is no tape"))? {
        version if version.as_u64() == Some(VERSION) => Ok(()),
        Value::Number(version) => {
            Err(TapeError::Version { found: version.to_string(), known: VERSION })
        }
        _ => Err(damaged("its version is no number")),
    }
}

/// Where a text stops to be JSON, without any of it.
fn place(error: &serde_json::Error) -> String {
    format!("it is no json from column {} on", error.column())
}

/// Messages of serde name fields and types, and show values of wrong ones: none of them is told.
fn shape(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let field = message.split('`').nth(1).filter(|_| message.contains("field"));
    match field {
        Some(field) if message.starts_with("missing") => format!("the field {field} is missing"),
        Some(field) if field.len() <= 40 => format!("the field {field} is not known"),
        _ => "a field has another type than it should".to_owned(),
    }
}

fn mismatch(
    nearest: Option<(&Taped, Difference)>,
    to: &str,
    method: &str,
    path: &str,
) -> PortFailure {
    let message = match nearest {
        Some((taped, difference)) => format!(
            "the request is not the one of exchange {} of the tape: it differs at {}",
            taped.line.exchange, difference.path
        ),
        None => format!("the tape has no more exchange for {method} {path} at {to}"),
    };
    PortFailure::not_sent(PortFailureKind::Invalid, "REPLAY_MISMATCH", message)
}

#[cfg(test)]
mod tests;

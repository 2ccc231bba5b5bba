//! Decides whether a script and what happened agree.
//!
//! Knows nothing about what the steps mean. Invariant: a step is handed out once, in order; a
//! script with a step too many or too few fails its check, with both sides in the message.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    sync::{Mutex, MutexGuard, PoisonError},
};

use runtime_ports::{PortFailure, PortFailureKind};

/// A step that can say in a few words what it does.
pub(crate) trait Scripted {
    fn label(&self) -> String;
}

/// Steps in order, and what was asked of them. Checked when it is dropped.
pub(crate) struct Script<S> {
    owner: &'static str,
    state: Mutex<State<S>>,
}

struct State<S> {
    steps: VecDeque<(String, S)>,
    rows: Vec<Row>,
    exhausted: bool,
    checked: bool,
}

/// One line of the comparison.
struct Row {
    script: String,
    reality: String,
}

const NO_STEP: &str = "(no step left)";
const NEVER: &str = "(never asked)";
/// A test that returns its error panics here first, and that error is never printed.
const LEFT_OVER: &str =
    "steps are left over; a test that returned an error early does not show it\n";

impl<S: Scripted> Script<S> {
    pub(crate) fn new(owner: &'static str, steps: impl IntoIterator<Item = S>) -> Self {
        let steps = steps.into_iter().map(|step| (step.label(), step)).collect();
        let state = State { steps, rows: Vec::new(), exhausted: false, checked: true };
        Self { owner, state: Mutex::new(state) }
    }

    /// Adds a step at the end.
    pub(crate) fn push(&self, step: S) {
        self.state().steps.push_back((step.label(), step));
    }
}

impl<S> Script<S> {
    /// Hands out the next step to the call that `asked` describes.
    pub(crate) fn next(&self, asked: impl Into<String>) -> Result<S, PortFailure> {
        let mut state = self.state();
        let reality = asked.into();
        let Some((script, step)) = state.steps.pop_front() else {
            state.rows.push(Row { script: NO_STEP.into(), reality });
            state.exhausted = true;
            return Err(self.exhausted(state.rows.len()));
        };
        state.rows.push(Row { script, reality });
        Ok(step)
    }

    fn exhausted(&self, call: usize) -> PortFailure {
        let message = format!("{} has no step for call {call}; add one to its script", self.owner);
        PortFailure::not_sent(PortFailureKind::Internal, "SCRIPT_EXHAUSTED", message)
    }

    /// Leaves out the check, for runs in which faults decide how far the script gets.
    pub(crate) fn uncheck(&self) {
        self.state().checked = false;
    }

    /// Panics unless every step was asked for and no step was missing.
    #[track_caller]
    pub(crate) fn assert_done(&self) {
        if let Some(difference) = self.difference() {
            panic!("{difference}");
        }
    }

    fn difference(&self) -> Option<String> {
        let state = self.state();
        let differs = state.exhausted || !state.steps.is_empty();
        (differs && state.checked).then(|| state.side_by_side(self.owner))
    }

    fn state(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> State<S> {
    fn side_by_side(&self, owner: &str) -> String {
        let asked = self.rows.iter().map(|row| (row.script.as_str(), row.reality.as_str()));
        let unused = self.steps.iter().map(|(label, _)| (label.as_str(), NEVER));
        let rows: Vec<_> = asked.chain(unused).collect();
        let width = rows.iter().map(|(script, _)| script.chars().count()).max().unwrap_or(0).max(6);
        let mut text = format!("the script of {owner} and reality differ\n");
        let _ = writeln!(text, "   # | {:width$} | reality", "script");
        for (number, (script, reality)) in (1..).zip(rows) {
            let _ = writeln!(text, "{number:4} | {script:width$} | {reality}");
        }
        if !self.steps.is_empty() {
            text.push_str(LEFT_OVER);
        }
        text
    }
}

impl<S> Drop for Script<S> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.assert_done();
        }
    }
}

//! Decides how a test types: a console without a device.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use runtime_ports::InteractionRequest;

use crate::console::{Console, Typed, shown};

/// A keyboard whose keys are pressed by a test, and paper.
pub(crate) struct Typewriter {
    is_attended: bool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    keys: VecDeque<Typed>,
    paper: Vec<String>,
    is_gone: bool,
    is_jammed: bool,
}

impl Typewriter {
    pub(crate) fn new() -> Arc<Self> {
        Self::with(true)
    }

    /// One that nobody sits at.
    pub(crate) fn absent() -> Arc<Self> {
        Self::with(false)
    }

    fn with(is_attended: bool) -> Arc<Self> {
        Arc::new(Self { is_attended, state: Mutex::default(), changed: Condvar::new() })
    }

    pub(crate) fn type_line(&self, line: &str) {
        self.change(|state| state.keys.push_back(Typed::Line(line.to_owned())));
    }

    pub(crate) fn type_end_of_input(&self) {
        self.change(|state| state.keys.push_back(Typed::EndOfInput));
    }

    /// What is typed is there, and nobody is told of it until then.
    pub(crate) fn jam(&self, is_jammed: bool) {
        self.change(|state| state.is_jammed = is_jammed);
    }

    /// The terminal is closed.
    pub(crate) fn take_away(&self) {
        self.change(|state| state.is_gone = true);
    }

    /// What was shown so far.
    pub(crate) fn paper(&self) -> Vec<String> {
        self.state.lock().unwrap().paper.clone()
    }

    /// Waits until so much was shown.
    pub(crate) fn until(&self, count: usize) {
        let state = self.state.lock().unwrap();
        let patience = Duration::from_secs(20);
        let is_missing = |state: &mut State| state.paper.len() < count;
        let (state, waited) = self.changed.wait_timeout_while(state, patience, is_missing).unwrap();
        assert!(!waited.timed_out(), "waited in vain: {:?}", state.paper);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }
}

impl Console for Typewriter {
    fn is_attended(&self) -> bool {
        self.is_attended
    }

    fn await_typing(&self) -> bool {
        let state = self.state.lock().unwrap();
        let is_quiet =
            |state: &mut State| state.is_jammed || state.keys.is_empty() && !state.is_gone;
        let patience = Duration::from_secs(20);
        let (state, _) = self.changed.wait_timeout_while(state, patience, is_quiet).unwrap();
        !state.is_gone
    }

    fn read(&self) -> Vec<Typed> {
        self.state.lock().unwrap().keys.drain(..).collect()
    }

    fn show(&self, request: &InteractionRequest) {
        self.change(|state| state.paper.push(shown(request)));
    }

    fn withdraw(&self) {
        self.change(|state| state.paper.push("withdrawn".to_owned()));
    }

    fn line_was_ended(&self) {}
}

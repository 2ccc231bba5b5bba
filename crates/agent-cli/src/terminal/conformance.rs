//! Decides how the suite of interactions sits at a terminal: a person who types when told to.

use std::{
    collections::HashMap,
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    interaction::{
        Audience, Human, InteractionCapabilities, InteractionHarness, StagedInteraction,
    },
};
use runtime_ports::{
    ApprovalDecision, InteractionRequest, InteractionResponse, InteractionSession,
};
use runtime_types::ExecutionId;

use super::TerminalInteraction;
use crate::console::{Console, Typed};

mod interaction {
    port_conformance::interaction_conformance!(super::TerminalHarness);
}

struct TerminalHarness;

/// A keyboard on which the line for each question is ready, or comes later.
struct Keyboard {
    is_attended: bool,
    state: Mutex<State>,
    typed: Condvar,
}

#[derive(Default)]
struct State {
    lines: HashMap<String, String>,
    shown: Option<String>,
}

struct Person {
    keyboard: Arc<Keyboard>,
    terminal: TerminalInteraction,
}

#[async_trait]
impl InteractionHarness for TerminalHarness {
    fn capabilities(&self) -> InteractionCapabilities {
        // One run, one process.
        InteractionCapabilities {
            can_be_alone: true,
            executions: false,
            outlives_its_process: false,
        }
    }

    async fn stage(&self, audience: Audience) -> Result<StagedInteraction, Unstageable> {
        let is_attended = audience == Audience::Human;
        let (state, typed) = (Mutex::default(), Condvar::new());
        let keyboard = Arc::new(Keyboard { is_attended, state, typed });
        let console = Arc::clone(&keyboard) as Arc<dyn Console>;
        let (terminal, _) = TerminalInteraction::new(console, |_| true);
        let session: Arc<dyn InteractionSession> = Arc::new(terminal.clone());
        Ok(StagedInteraction { session, human: Arc::new(Person { keyboard, terminal }) })
    }
}

impl Console for Keyboard {
    fn is_attended(&self) -> bool {
        self.is_attended
    }

    fn await_typing(&self) -> bool {
        let state = self.state.lock().unwrap();
        let is_quiet = |state: &mut State| state.line_for_shown().is_none();
        drop(self.typed.wait_timeout_while(state, Duration::from_millis(100), is_quiet).unwrap());
        true
    }

    fn read(&self) -> Vec<Typed> {
        let mut state = self.state.lock().unwrap();
        let line = state.line_for_shown();
        if line.is_some() {
            state.shown = None;
        }
        line.map(Typed::Line).into_iter().collect()
    }

    fn show(&self, request: &InteractionRequest) {
        self.state.lock().unwrap().shown = Some(request.request_id.clone());
        self.typed.notify_all();
    }

    fn withdraw(&self) {
        self.state.lock().unwrap().shown = None;
    }

    fn line_was_ended(&self) {}
}

impl State {
    fn line_for_shown(&self) -> Option<String> {
        self.lines.get(self.shown.as_ref()?).cloned()
    }
}

#[async_trait]
impl Human for Person {
    fn sees(&self) -> Vec<InteractionRequest> {
        let desk = self.terminal.0.desk();
        let state = self.keyboard.state.lock().unwrap();
        let requests = desk.questions.iter().map(|question| question.request.clone());
        requests.filter(|request| !state.lines.contains_key(&request.request_id)).collect()
    }

    async fn answers(&self, _: &ExecutionId, request_id: &str, response: InteractionResponse) {
        let line = match response.decision {
            None => response.text,
            Some(ApprovalDecision::Approved) => "y".to_owned(),
            Some(ApprovalDecision::ApprovedForRun) => "a".to_owned(),
            Some(ApprovalDecision::Denied { reason }) => reason,
        };
        let mut state = self.keyboard.state.lock().unwrap();
        state.lines.entry(request_id.to_owned()).or_insert(line);
        self.keyboard.typed.notify_all();
    }

    async fn after_death(&self) -> Result<StagedInteraction, Unstageable> {
        Err(Unstageable::because("a terminal ends with its process"))
    }
}

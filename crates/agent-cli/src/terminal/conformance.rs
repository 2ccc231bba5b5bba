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

use super::{Console, TerminalInteraction};

mod interaction {
    port_conformance::interaction_conformance!(super::TerminalHarness);
}

struct TerminalHarness;

/// A keyboard on which the line for each question is ready, or comes later.
struct Keyboard {
    is_attended: bool,
    lines: Mutex<HashMap<String, String>>,
    typed: Condvar,
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
        let (lines, typed) = (Mutex::default(), Condvar::new());
        let keyboard = Arc::new(Keyboard { is_attended, lines, typed });
        let terminal = TerminalInteraction::new(Arc::clone(&keyboard) as Arc<dyn Console>);
        let session: Arc<dyn InteractionSession> = Arc::new(terminal.clone());
        Ok(StagedInteraction { session, human: Arc::new(Person { keyboard, terminal }) })
    }
}

impl Console for Keyboard {
    fn is_attended(&self) -> bool {
        self.is_attended
    }

    fn ask(&self, request: &InteractionRequest) -> std::io::Result<Option<String>> {
        let is_missing = |lines: &mut HashMap<_, _>| !lines.contains_key(&request.request_id);
        let lines = self.lines.lock().unwrap();
        // A question that nobody answers must not hold up the end of a test.
        let patience = Duration::from_secs(20);
        let (lines, _) = self.typed.wait_timeout_while(lines, patience, is_missing).unwrap();
        Ok(lines.get(&request.request_id).cloned())
    }
}

#[async_trait]
impl Human for Person {
    fn sees(&self) -> Vec<InteractionRequest> {
        let lines = self.keyboard.lines.lock().unwrap();
        let questions = self.terminal.questions.lock().unwrap();
        let requests = questions.iter().map(|question| question.request.clone());
        requests.filter(|request| !lines.contains_key(&request.request_id)).collect()
    }

    async fn answers(&self, _: &ExecutionId, request_id: &str, response: InteractionResponse) {
        let line = match response.decision {
            None => response.text,
            Some(ApprovalDecision::Approved) => "y".to_owned(),
            Some(ApprovalDecision::ApprovedForRun) => "a".to_owned(),
            Some(ApprovalDecision::Denied { reason }) => reason,
        };
        let mut lines = self.keyboard.lines.lock().unwrap();
        lines.entry(request_id.to_owned()).or_insert(format!("{line}\n"));
        self.keyboard.typed.notify_all();
    }

    async fn after_death(&self) -> Result<StagedInteraction, Unstageable> {
        Err(Unstageable::because("a terminal ends with its process"))
    }
}

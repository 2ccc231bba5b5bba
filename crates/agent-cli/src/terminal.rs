//! Decides how a question reaches the person at the terminal.
//!
//! Knows one line in, one line out. Refuses to know what is asked. Invariants: text from outside is
//! made harmless before it is shown; without a terminal nothing is asked at all; what was typed
//! before a question was shown does not answer it.

use std::{
    io::{BufRead, IsTerminal},
    sync::{Arc, Mutex, PoisonError},
};

use anstyle::Style;
use async_trait::async_trait;
use runtime_ports::{
    ApprovalDecision, InteractionKind, InteractionRequest, InteractionResponse, InteractionSession,
    OperationContext, PortFailure, PortFailureKind,
};
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::watch;

use crate::{
    safe_text::safe_text,
    screen::{Screen, Streamed},
};

/// Shows a question and reads a line. Blocks.
pub(crate) trait Console: Send + Sync + 'static {
    /// Whether anybody can be asked.
    fn is_attended(&self) -> bool;

    /// Shows the question and reads a line; `None` at the end of input.
    fn ask(&self, request: &InteractionRequest) -> std::io::Result<Option<String>>;
}

/// Standard error and standard input, when both are a terminal.
pub(crate) struct StandardConsole {
    screen: Arc<Screen>,
}

impl StandardConsole {
    pub(crate) const fn new(screen: Arc<Screen>) -> Self {
        Self { screen }
    }
}

impl Console for StandardConsole {
    fn is_attended(&self) -> bool {
        std::io::stdin().is_terminal() && self.screen.stderr_is_terminal()
    }

    fn ask(&self, request: &InteractionRequest) -> std::io::Result<Option<String>> {
        let mut stdin = std::io::stdin().lock();
        // What was typed before the question was there does not answer it.
        tcflush(&stdin, QueueSelector::IFlush)?;
        self.screen.stream(Streamed::Question, &shown(request), Style::new());
        let mut line = String::new();
        let bytes = stdin.read_line(&mut line)?;
        if line.ends_with('\n') {
            self.screen.question_was_answered();
        }
        Ok((bytes > 0).then_some(line))
    }
}

/// What is shown of a question. That of an approval ends with its choices.
fn shown(request: &InteractionRequest) -> String {
    let prompt = safe_text(&request.prompt);
    match request.kind {
        InteractionKind::Question => format!("{prompt}\n> "),
        InteractionKind::Approval => prompt.into_owned(),
    }
}

type Answer = Option<Result<InteractionResponse, PortFailure>>;

struct Question {
    request: InteractionRequest,
    answer: watch::Sender<Answer>,
    is_shown: bool,
}

/// Asks on a console; one question is shown at a time.
#[derive(Clone)]
pub(crate) struct TerminalInteraction {
    console: Arc<dyn Console>,
    /// In the order in which they were prepared; a run has few.
    questions: Arc<Mutex<Vec<Question>>>,
}

impl TerminalInteraction {
    pub(crate) fn new(console: Arc<dyn Console>) -> Self {
        Self { console, questions: Arc::default() }
    }

    /// The answer to come; shows the question when this is the first wait for it.
    fn subscribe(&self, request_id: &str) -> Result<watch::Receiver<Answer>, PortFailure> {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut questions = questions.iter_mut();
        let Some(question) = questions.find(|known| known.request.request_id == request_id) else {
            let message = "no such question was prepared";
            return Err(PortFailure::not_sent(PortFailureKind::NotFound, "NOT_PREPARED", message));
        };
        if !std::mem::replace(&mut question.is_shown, true) {
            let (console, request) = (Arc::clone(&self.console), question.request.clone());
            let answer = question.answer.clone();
            // ends with the line that is read, or with the process.
            tokio::task::spawn_blocking(move || {
                answer.send_replace(Some(ask(&*console, &request)))
            });
        }
        Ok(question.answer.subscribe())
    }
}

#[async_trait]
impl InteractionSession for TerminalInteraction {
    async fn prepare(
        &self,
        operation: &OperationContext,
        request: InteractionRequest,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        if !self.console.is_attended() {
            let message = "there is no terminal to ask on";
            let kind = PortFailureKind::Unavailable;
            return Err(PortFailure::not_sent(kind, NOBODY_TO_ASK, message));
        }
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        match questions.iter().find(|known| known.request.request_id == request.request_id) {
            Some(known) if known.request == request => Ok(()),
            Some(_) => Err(PortFailure::rejected(
                PortFailureKind::Conflict,
                "REQUEST_ID_TAKEN",
                "another question has this id",
            )),
            None => {
                let answer = watch::Sender::new(None);
                questions.push(Question { request, answer, is_shown: false });
                Ok(())
            }
        }
    }

    async fn wait(
        &self,
        operation: &OperationContext,
        request_id: &str,
    ) -> Result<InteractionResponse, PortFailure> {
        operation.remaining()?;
        let mut answers = self.subscribe(request_id)?;
        let answered = operation.bounded(answers.wait_for(Option::is_some)).await;
        // The question stays; nothing came of this wait.
        match answered.map_err(runtime_ports::Interruption::before_sending)? {
            Ok(answer) => answer.clone().unwrap_or_else(|| Err(closed())),
            Err(_) => Err(closed()),
        }
    }
}

/// The code of a question that nobody is there to answer.
pub(crate) const NOBODY_TO_ASK: &str = "NOBODY_TO_ASK";

fn closed() -> PortFailure {
    let message = "the terminal was closed before an answer came";
    PortFailure::rejected(PortFailureKind::Unavailable, NOBODY_TO_ASK, message)
}

fn ask(
    console: &dyn Console,
    request: &InteractionRequest,
) -> Result<InteractionResponse, PortFailure> {
    let line = console.ask(request).map_err(|_| closed())?.ok_or_else(closed)?;
    let text = line.trim().to_owned();
    let decision = (request.kind == InteractionKind::Approval).then(|| decision(&text));
    Ok(InteractionResponse { text, decision })
}

/// Whatever is no clear yes is a no, and said why.
fn decision(text: &str) -> ApprovalDecision {
    match text.to_lowercase().as_str() {
        "y" | "yes" => ApprovalDecision::Approved,
        "a" | "all" => ApprovalDecision::ApprovedForRun,
        "n" | "no" => ApprovalDecision::Denied { reason: String::new() },
        _ => ApprovalDecision::Denied { reason: text.to_owned() },
    }
}

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod tests;

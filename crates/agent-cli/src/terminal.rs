//! Decides what a line that a person types is for: the answer to the question that is shown, or
//! else a remark to the run.
//!
//! Knows questions, their order, and who waits for them. Refuses to know what is asked. Invariants:
//! one question is shown at a time, and only while somebody waits for its answer; what was typed
//! before a question was shown does not answer it; without a terminal nothing is asked or read.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
};

use async_trait::async_trait;
use runtime_ports::{
    ApprovalDecision, InteractionKind, InteractionRequest, InteractionResponse, InteractionSession,
    OperationContext, PortFailure, PortFailureKind,
};
use tokio::sync::{mpsc, watch};

use crate::console::{Console, Typed};

/// The code of a question that nobody is there to answer.
pub(crate) const NOBODY_TO_ASK: &str = "NOBODY_TO_ASK";

/// How many remarks may wait to be taken; more are dropped.
const REMARKS: usize = 1_000;

type Answer = Option<Result<InteractionResponse, PortFailure>>;

/// Asks at a terminal. Clones ask at the same one.
#[derive(Clone)]
pub(crate) struct TerminalInteraction(Arc<Shared>);

struct Shared {
    console: Arc<dyn Console>,
    /// Held while the keyboard is read and while a question is put on the screen, so that each line
    /// is known to have come before a question or after it.
    desk: Mutex<Desk>,
    remarks: mpsc::Sender<String>,
    /// Whether a question may be answered for all of its kind.
    offers_all: fn(&str) -> bool,
}

#[derive(Default)]
struct Desk {
    /// In the order in which they were prepared; a run has few.
    questions: Vec<Question>,
    /// The question that is shown.
    shown: Option<usize>,
    found_nobody: bool,
    is_closed: bool,
}

struct Question {
    request: InteractionRequest,
    answer: watch::Sender<Answer>,
    waiting: usize,
}

/// Somebody who waits for an answer.
struct Waiting {
    shared: Arc<Shared>,
    place: usize,
    answers: watch::Receiver<Answer>,
}

impl TerminalInteraction {
    /// Asks on this console, and gives what is typed while nothing is asked. `offers_all` says of
    /// the words of a question whether it may be answered for all of its kind.
    pub(crate) fn new(
        console: Arc<dyn Console>,
        offers_all: fn(&str) -> bool,
    ) -> (Self, mpsc::Receiver<String>) {
        let (remarks, said) = mpsc::channel(REMARKS);
        let is_attended = console.is_attended();
        let shared = Arc::new(Shared { console, desk: Mutex::default(), remarks, offers_all });
        if is_attended {
            let (console, desk) = (Arc::clone(&shared.console), Arc::downgrade(&shared));
            // ends with the terminal, or with the process.
            thread::spawn(move || listen(&*console, &desk));
        }
        (Self(shared), said)
    }

    /// Whether anybody can be asked.
    pub(crate) fn is_attended(&self) -> bool {
        self.0.console.is_attended() && !self.0.desk().is_closed
    }

    /// Somebody was needed and is not there.
    pub(crate) fn note_nobody(&self) {
        self.0.desk().found_nobody = true;
    }

    /// Whether somebody was needed who was not there, since this was asked last.
    pub(crate) fn found_nobody(&self) -> bool {
        std::mem::take(&mut self.0.desk().found_nobody)
    }

    fn begin_waiting(&self, request_id: &str) -> Result<Waiting, PortFailure> {
        let mut desk = self.0.desk();
        let mut known = desk.questions.iter();
        let Some(place) = known.position(|known| known.request.request_id == request_id) else {
            let message = "no such question was prepared";
            return Err(PortFailure::not_sent(PortFailureKind::NotFound, "NOT_PREPARED", message));
        };
        desk.questions[place].waiting += 1;
        let answers = desk.questions[place].answer.subscribe();
        self.0.show_next(&mut desk);
        Ok(Waiting { shared: Arc::clone(&self.0), place, answers })
    }
}

impl Shared {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was typed.
    fn take_typed(&self) {
        let mut desk = self.desk();
        for typed in self.console.read() {
            self.take(&mut desk, typed);
        }
    }

    fn take(&self, desk: &mut Desk, typed: Typed) {
        if typed != Typed::EndOfInput {
            self.console.line_was_ended();
        }
        match (desk.shown.take(), typed) {
            (Some(place), Typed::Line(line)) => self.answer(desk, place, line.trim()),
            (Some(place), Typed::EndOfInput) => {
                desk.found_nobody = true;
                desk.questions[place].answer.send_replace(Some(Err(closed())));
            }
            (shown, Typed::Remark(text)) => {
                desk.shown = shown;
                self.remark(text.trim());
            }
            (None, Typed::Line(line)) => self.remark(line.trim()),
            // The end of no question.
            (None, Typed::EndOfInput) => {}
        }
        self.show_next(desk);
    }

    /// An answer for all holds for every question of that kind which is asked already.
    fn answer(&self, desk: &Desk, place: usize, text: &str) {
        let answered = &desk.questions[place];
        let response = self.response(&answered.request, text);
        if response.decision == Some(ApprovalDecision::ApprovedForRun) {
            let asked = desk.questions.iter().filter(|question| question.is_waited_for());
            let like_it = asked.filter(|question| (self.offers_all)(&question.request.prompt));
            like_it.for_each(|question| question.settle(response.clone()));
        }
        answered.settle(response);
    }

    fn response(&self, request: &InteractionRequest, text: &str) -> InteractionResponse {
        let is_approval = request.kind == InteractionKind::Approval;
        let decision = is_approval.then(|| match decision(text) {
            ApprovalDecision::ApprovedForRun if !(self.offers_all)(&request.prompt) => {
                // Not offered: what nothing contains is allowed one by one.
                ApprovalDecision::Denied { reason: ONE_BY_ONE.to_owned() }
            }
            decision => decision,
        });
        InteractionResponse { text: text.to_owned(), decision }
    }

    fn remark(&self, line: &str) {
        if !line.is_empty() {
            // A thousand lines that nobody took are no remarks.
            let _ = self.remarks.try_send(line.to_owned());
        }
    }

    fn show_next(&self, desk: &mut Desk) {
        if desk.shown.is_some() || desk.is_closed {
            return;
        }
        let Some(place) = desk.questions.iter().position(Question::is_waited_for) else { return };
        for typed in self.console.read() {
            if let Typed::Line(line) | Typed::Remark(line) = typed {
                self.console.line_was_ended();
                self.remark(line.trim());
            }
        }
        self.console.show(&desk.questions[place].request);
        desk.shown = Some(place);
    }

    fn stop_waiting(&self, place: usize) {
        let mut desk = self.desk();
        desk.questions[place].waiting -= 1;
        if desk.shown == Some(place) && !desk.questions[place].is_waited_for() {
            desk.shown = None;
            self.console.withdraw();
            self.show_next(&mut desk);
        }
    }

    /// Nothing will be typed any more.
    fn close(&self) {
        let mut desk = self.desk();
        (desk.is_closed, desk.shown) = (true, None);
        desk.found_nobody |= desk.questions.iter().any(Question::is_waited_for);
        for question in desk.questions.iter().filter(|question| question.is_open()) {
            question.answer.send_replace(Some(Err(closed())));
        }
    }
}

impl Question {
    fn is_open(&self) -> bool {
        self.answer.borrow().is_none()
    }

    fn is_waited_for(&self) -> bool {
        self.waiting > 0 && self.is_open()
    }

    fn settle(&self, response: InteractionResponse) {
        self.answer.send_replace(Some(Ok(response)));
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.shared.stop_waiting(self.place);
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
        if !self.is_attended() {
            self.note_nobody();
            let message = "there is no terminal to ask on";
            let kind = PortFailureKind::Unavailable;
            return Err(PortFailure::not_sent(kind, NOBODY_TO_ASK, message));
        }
        let mut desk = self.0.desk();
        let mut known = desk.questions.iter();
        match known.find(|known| known.request.request_id == request.request_id) {
            Some(known) if known.request == request => Ok(()),
            Some(_) => Err(PortFailure::rejected(
                PortFailureKind::Conflict,
                "REQUEST_ID_TAKEN",
                "another question has this id",
            )),
            None => {
                let answer = watch::Sender::new(None);
                desk.questions.push(Question { request, answer, waiting: 0 });
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
        let mut waiting = self.begin_waiting(request_id)?;
        let answered = operation.bounded(waiting.answers.wait_for(Option::is_some)).await;
        // The question stays; nothing came of this wait.
        match answered.map_err(runtime_ports::Interruption::before_sending)? {
            Ok(answer) => answer.clone().unwrap_or_else(|| Err(closed())),
            Err(_) => Err(closed()),
        }
    }
}

fn listen(console: &dyn Console, shared: &Weak<Shared>) {
    while console.await_typing() {
        let Some(shared) = shared.upgrade() else { return };
        shared.take_typed();
    }
    if let Some(shared) = shared.upgrade() {
        shared.close();
    }
}

fn closed() -> PortFailure {
    let message = "the terminal was closed before an answer came";
    PortFailure::rejected(PortFailureKind::Unavailable, NOBODY_TO_ASK, message)
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

const ONE_BY_ONE: &str = "an answer for all covers writes alone";

#[cfg(test)]
mod conformance;
#[cfg(test)]
pub(crate) mod staging;
#[cfg(test)]
mod tests;

//! Decides how a conversation goes: each message is a run over all that was said before.
//!
//! Knows the order of things. Refuses to know how a run is shown and where messages come from.
//! Invariants: what was said stays, however a run ends; what is typed while a run works steers it,
//! and what came too late is the next message; leaving loses nothing that was answered.

mod pressed;
mod report;
mod seat;
mod slash;
mod talk;

use std::{collections::VecDeque, sync::Arc};

use runtime_types::OperationId;
use tokio::sync::mpsc;
use uuid::Uuid;

use self::{
    pressed::Pressed,
    seat::Seat,
    slash::{Read, Slash},
    talk::{Talk, Talks},
};
use crate::{
    arguments::ChatArguments,
    bench::{Bench, Ground, root_operation},
    diagnosis::Diagnosis,
    ending::{Ending, ended, never_ran},
    exit::Exit,
    job::{Job, Left, Questions},
    live::{Lived, Said},
    panel::Wish,
    run::exit_of,
    show::{self, Manner},
    told::Told,
    totals::RunTotals,
};

/// A conversation may last.
const LONGEST: std::time::Duration = std::time::Duration::from_hours(24 * 365);

/// `agent chat`.
pub(crate) async fn chat(arguments: ChatArguments) -> Exit {
    let mut seat = Seat::take();
    let screen = Arc::clone(&seat.screen);
    let show = show::form(arguments.work.json, &screen, Manner::Talk);
    let operation = root_operation(LONGEST);
    let terminal = seat.terminal.clone();
    let said = seat.panel.is_some().then(|| (seat.take_lines(), seat.wish.clone()));
    let ground = Ground { operation: operation.clone(), show: Arc::clone(&show), terminal };
    let begun = tokio::select! {
        begun = Chat::begin(&arguments, ground, said) => begun,
        () = stopped(&mut seat.wishes) => Err(None),
    };
    let exit = match begun {
        Ok(mut chat) => {
            let exit = Box::pin(chat.converse(&mut seat)).await;
            chat.end_tape(exit).await
        }
        Err(diagnosis) => {
            let (event, closing) = never_ran(diagnosis);
            show.show(Told::Last(&event, &closing));
            closing.exit
        }
    };
    screen.end_line();
    drop(seat);
    exit_of(&screen, exit)
}

/// Waits until the person wants no more of it.
async fn stopped(wishes: &mut mpsc::Receiver<Wish>) {
    if wishes.recv().await.is_none() {
        std::future::pending().await
    }
}

/// A conversation that is held.
struct Chat {
    bench: Bench,
    talk: Talk,
    kept: Talks,
    limits: Left,
    said: Said,
    /// Messages that came too late to steer.
    ahead: VecDeque<String>,
    /// What the answers before this one have used.
    spent: RunTotals,
    /// Whether the context is compacted with the next message.
    compacts: bool,
    /// Whether the next Ctrl-C leaves.
    is_leaving: bool,
    /// Whether somebody else wants the process to end.
    is_ended: bool,
    /// Of the last message that was not answered.
    exit: Exit,
}

/// What comes next.
enum Next {
    Message(String),
    Leave,
}

impl Chat {
    async fn begin(
        arguments: &ChatArguments,
        ground: Ground,
        typed: Option<(mpsc::Receiver<String>, mpsc::Sender<Wish>)>,
    ) -> Result<Self, Option<Diagnosis>> {
        let show = Arc::clone(&ground.show);
        let bench = Bench::set_up(&arguments.work, ground).await.map_err(Some)?;
        let kept = Talks::in_folder(bench.places().conversations());
        let talk = taken_up(arguments, &kept, bench.folder()).map_err(Some)?;
        show.note(&report::opening(&talk, typed.is_some()));
        let said = match typed {
            // A pipe says nothing while a run is at work.
            None => Said::all(mpsc::channel(1).1),
            Some((lines, wish)) => {
                let receipts = Arc::clone(&bench.receipts);
                Said::but(lines, move |line| report::at_work(line, &receipts, &wish, &*show))
            }
        };
        Ok(Self {
            limits: Left::of(&arguments.work, true),
            bench,
            talk,
            kept,
            said,
            ahead: VecDeque::new(),
            spent: RunTotals::default(),
            compacts: false,
            is_leaving: false,
            is_ended: false,
            exit: Exit::Done,
        })
    }

    /// Answers one message after the other, until the person leaves.
    async fn converse(&mut self, seat: &mut Seat) -> Exit {
        while let Next::Message(text) = self.next(seat).await {
            let goes_on = match slash::read(text.trim_end()) {
                Read::Message(text) if text.trim().is_empty() => true,
                Read::Message(text) => self.answer(text, seat).await,
                Read::Command(command) => self.obey(command).await,
                Read::Unknown(text) => {
                    self.note(&report::unknown(&text));
                    true
                }
            };
            if !goes_on {
                break;
            }
        }
        match &seat.panel {
            _ if self.is_ended => Exit::Cancelled,
            // A person who leaves has seen how each message ended.
            Some(_) => Exit::Done,
            None => self.exit,
        }
    }

    /// A conversation whose tape is not whole does not end well.
    async fn end_tape(&self, exit: Exit) -> Exit {
        match self.bench.end_of_tape().await {
            Some(wrong) if exit == Exit::Done => {
                self.note(&report::failure(&wrong));
                wrong.exit
            }
            _ => exit,
        }
    }

    async fn next(&mut self, seat: &mut Seat) -> Next {
        self.is_leaving = false;
        loop {
            if let Some(text) = self.ahead.pop_front() {
                return Next::Message(text);
            }
            let is_typed = seat.panel.is_some();
            let wish = tokio::select! {
                biased;
                Some(wish) = seat.wishes.recv() => wish,
                line = self.said.line(), if is_typed => return line.map_or(Next::Leave, Next::Message),
                line = seat.lines.recv(), if !is_typed => return line.map_or(Next::Leave, Next::Message),
            };
            match wish {
                Wish::Stop if is_typed && !std::mem::replace(&mut self.is_leaving, true) => {
                    self.note("agent: press Ctrl-C again to leave");
                }
                Wish::Leave | Wish::Quit => return Next::Leave,
                Wish::Stop if is_typed => return Next::Leave,
                Wish::Stop | Wish::End => {
                    self.is_ended = true;
                    return Next::Leave;
                }
            }
        }
    }

    /// Works on a message; says whether the conversation goes on.
    async fn answer(&mut self, text: String, seat: &mut Seat) -> bool {
        if let Some(panel) = &seat.panel {
            panel.set_working(true);
        }
        let (ending, lived, pressed) = self.work(text, seat).await;
        if let Some(panel) = &seat.panel {
            panel.set_working(false);
        }
        self.conclude(ending, lived, seat);
        if let Err(error) = self.keep().await {
            self.note(&format!("agent: {error:#}"));
        }
        self.is_ended |= pressed.ends;
        !pressed.leaves
    }

    async fn work(&mut self, text: String, seat: &mut Seat) -> (Ending, Lived, Pressed) {
        let id = OperationId::from(Uuid::new_v4());
        let mut job = Job {
            bench: &self.bench,
            session_id: self.talk.session_id,
            operation: self.bench.ground.operation.child(id),
            left: self.limits.clone(),
            questions: Questions::WithTheNextMessage,
        };
        let mut pressed = Pressed::new(&job, seat);
        let mut task = self.talk.task(text);
        task.compact_first = std::mem::take(&mut self.compacts);
        let lived = {
            let mut work = std::pin::pin!(job.carry_out(task, &mut self.said));
            loop {
                tokio::select! {
                    biased;
                    lived = &mut work => break lived,
                    Some(wish) = seat.wishes.recv() => pressed.take(wish),
                }
            }
        };
        // A budget is for all messages together.
        self.limits.budget.clone_from(&job.left.budget);
        self.bench.settle().await;
        match lived {
            Ok(lived) => (ended(&lived, &job), lived, pressed),
            Err(diagnosis) => (never_ran(Some(diagnosis)), Lived::default(), pressed),
        }
    }

    /// Tells how a message ended, and remembers what was said.
    fn conclude(&mut self, (event, mut closing): Ending, lived: Lived, seat: &Seat) {
        let returned = std::mem::take(&mut closing.returned);
        match (&seat.panel, closing.exit) {
            // Whoever stopped the work may not want it any more.
            (Some(panel), Exit::Cancelled) => {
                returned.iter().rev().for_each(|text| panel.give_back(text));
            }
            _ => self.ahead.extend(returned),
        }
        if closing.exit != Exit::Done {
            self.exit = closing.exit;
        }
        self.spent.add_all(&closing.totals);
        self.bench.receipts.start_over();
        self.bench.ground.show.show(Told::Last(&event, &closing));
        if let Some(result) = lived.result {
            self.talk.update(&result);
        }
    }

    async fn keep(&self) -> anyhow::Result<()> {
        let (kept, talk) = (self.kept.clone(), self.talk.clone());
        tokio::task::spawn_blocking(move || kept.keep(&talk)).await?
    }

    /// Does what a command asks for; says whether the conversation goes on.
    async fn obey(&mut self, command: Slash) -> bool {
        match command {
            Slash::Exit => return false,
            Slash::Help => self.note(&slash::help()),
            Slash::New => {
                self.talk = Talk::new(self.bench.folder());
                self.spent = RunTotals::default();
                self.compacts = false;
                self.note("a new conversation begins");
            }
            Slash::Cost => {
                let left = report::budget(&self.limits.budget);
                self.note(&(report::cost(&self.spent) + &left));
            }
            Slash::Compact => {
                self.compacts = !self.talk.messages.is_empty();
                self.note(report::compaction(self.compacts));
            }
            Slash::History => self.note(&report::history(&self.talk.messages)),
            Slash::Tools => self.note(&report::tools()),
            Slash::Session => self.note(&report::session(&self.talk)),
            Slash::Model(None) => self.note(&report::model(&self.bench.served)),
            Slash::Model(Some(name)) => {
                if let Err(diagnosis) = self.bench.change_model(name).await {
                    self.note(&report::failure(&diagnosis));
                }
            }
        }
        true
    }

    fn note(&self, text: &str) {
        self.bench.ground.show.note(text);
    }
}

fn taken_up(arguments: &ChatArguments, kept: &Talks, folder: &str) -> Result<Talk, Diagnosis> {
    let found = match &arguments.session {
        Some(begin) => kept.named(begin),
        None if arguments.resume => kept.newest(folder),
        None => return Ok(Talk::new(folder)),
    };
    found.map_err(|error| Diagnosis::configuration(&error))
}

//! Decides how the command line becomes a job, and the end of the job an exit code.
//!
//! Knows the order of things. Refuses to know how any of them is done. Invariant: exactly one event
//! is told last, and it comes after the receipts.

use std::sync::Arc;

use runtime_kernel::engine::Task;
use uuid::Uuid;

use crate::{
    arguments::RunArguments,
    bench::{Bench, Ground, root_operation},
    console::StandardConsole,
    diagnosis::Diagnosis,
    ending::{Ending, ended, never_ran},
    exit::Exit,
    interrupt,
    job::{Job, Left, Questions},
    live::Said,
    question::offers_all,
    screen::Screen,
    show::{self, Manner},
    terminal::TerminalInteraction,
    time_limit::LONGEST,
    told::Told,
};

/// `agent run`.
pub(crate) async fn run(arguments: RunArguments) -> Exit {
    let screen = Arc::new(Screen::of_process());
    let show = show::form(arguments.work.json, &screen, Manner::Task);
    let operation = root_operation(LONGEST);
    interrupt::watch(operation.cancellation.clone(), Arc::clone(&show), Arc::clone(&screen));
    let console = StandardConsole::new(Arc::clone(&screen));
    let (terminal, lines) = TerminalInteraction::new(Arc::new(console), offers_all);
    let ground = Ground { operation, show: Arc::clone(&show), terminal };
    let (event, closing) = Box::pin(carry_out(arguments, ground, Said::all(lines))).await;
    show.show(Told::Last(&event, &closing));
    screen.end_line();
    exit_of(&screen, closing.exit)
}

/// The exit code, unless something for standard output was lost.
pub(crate) fn exit_of(screen: &Screen, exit: Exit) -> Exit {
    let Some(error) = screen.loss() else { return exit };
    screen.line(&format!("agent: standard output could not be written: {error}"));
    Exit::Failed
}

async fn carry_out(arguments: RunArguments, ground: Ground, mut said: Said) -> Ending {
    let stop = ground.operation.cancellation.clone();
    let bench = Bench::set_up(&arguments.work, ground).await;
    let bench = match &arguments.output_schema {
        Some(file) => bench.and_then(|bench| bench.answering_with(file)),
        None => bench,
    };
    let ended = match bench {
        Ok(bench) => work(&bench, arguments, &mut said).await,
        Err(diagnosis) => Err(diagnosis),
    };
    let (event, mut closing) = match ended {
        Ok(ended) => ended,
        Err(_) if stop.is_cancelled() => never_ran(None),
        Err(diagnosis) => never_ran(Some(diagnosis)),
    };
    closing.returned.extend(said.rest());
    (event, closing)
}

/// An answer of a run whose tape is not whole is none.
fn with_tape((event, mut closing): Ending, wrong: Option<Diagnosis>) -> Ending {
    if let Some(wrong) = wrong.filter(|_| closing.exit == Exit::Done) {
        closing.exit = wrong.exit;
        closing.diagnosis = Some(wrong);
    }
    (event, closing)
}

async fn work(
    bench: &Bench,
    arguments: RunArguments,
    said: &mut Said,
) -> Result<Ending, Diagnosis> {
    let may_ask = bench.ground.terminal.is_attended();
    let mut job = Job {
        bench,
        session_id: Uuid::new_v4(),
        operation: bench.ground.operation.clone(),
        left: Left::of(&arguments.work, may_ask),
        questions: Questions::InPlace,
    };
    let lived = job.carry_out(Task::new(arguments.task), said).await;
    bench.settle().await;
    let ending = lived.map(|lived| ended(&lived, &job))?;
    Ok(with_tape(ending, bench.end_of_tape().await))
}

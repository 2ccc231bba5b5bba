//! Decides how the command line becomes a job, and the end of the job an exit code.
//!
//! Knows the order of things. Refuses to know how any of them is done. Invariant: exactly one event
//! is told last, and it comes after the receipts.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use runtime_kernel::engine::{EVENT_VERSION, Event, RunEvent, RunIdentity, RunResult, RunStatus};
use runtime_ports::{OperationContext, ResourceSnapshot};
use runtime_types::{ExecutionId, OperationId};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::{
    approval::Announced,
    arguments::RunArguments,
    composition::{self, Receipts, Served},
    configuration::{ConfigurationFile, ModelChoice, choose_model},
    console::StandardConsole,
    diagnosis::Diagnosis,
    exit::Exit,
    interrupt,
    job::{Job, Left},
    live::Lived,
    places::Places,
    question::offers_all,
    screen::Screen,
    show::{self, Show},
    terminal::TerminalInteraction,
    time_limit::LONGEST,
    told::{Closing, Setting, Told},
};

/// How long the last receipts may take to reach the disk.
const SETTLE_LIMIT: Duration = Duration::from_secs(10);

const INSTRUCTIONS: &str = "You are an agent that works in one folder on behalf of its owner. \
Use the tools to look before you answer and to do what the task asks. Do not guess what a file \
holds. Paths are relative to the folder. When a tool says that something was not approved, do not \
try it again in another way. When the task is done, answer in a few sentences.";

/// `agent run`.
pub(crate) async fn run(arguments: RunArguments) -> Exit {
    let screen = Arc::new(Screen::of_process());
    let show = show::form(arguments.json, &screen);
    let operation = root_operation();
    interrupt::watch(operation.cancellation.clone(), Arc::clone(&show), Arc::clone(&screen));
    let console = StandardConsole::new(Arc::clone(&screen));
    let (terminal, mut said) = TerminalInteraction::new(Arc::new(console), offers_all);
    let beginning = Beginning { operation, show: Arc::clone(&show), terminal };
    let (event, closing) = Box::pin(beginning.carry_out(arguments, &mut said)).await;
    show.show(Told::Last(&event, &closing));
    screen.end_line();
    match screen.loss() {
        None => closing.exit,
        Some(error) => {
            screen.line(&format!("agent: standard output could not be written: {error}"));
            Exit::Failed
        }
    }
}

/// What is there before anything is known of the job.
struct Beginning {
    operation: OperationContext,
    show: Arc<dyn Show>,
    terminal: TerminalInteraction,
}

impl Beginning {
    async fn carry_out(
        self,
        arguments: RunArguments,
        said: &mut mpsc::Receiver<String>,
    ) -> (Arc<RunEvent>, Closing) {
        let stop = self.operation.cancellation.clone();
        let ended = match self.job(&arguments).await {
            Ok(mut job) => {
                let lived = job.carry_out(arguments.task, said).await;
                settle(&job).await;
                lived.map(|lived| ended(lived, &job))
            }
            Err(diagnosis) => Err(diagnosis),
        };
        let (event, mut closing) = match ended {
            Ok(ended) => ended,
            Err(_) if stop.is_cancelled() => never_ran(None),
            Err(diagnosis) => never_ran(Some(diagnosis)),
        };
        closing.returned.extend(std::iter::from_fn(|| said.try_recv().ok()));
        (event, closing)
    }

    async fn job(&self, arguments: &RunArguments) -> Result<Job, Diagnosis> {
        let places = Places::find().map_err(|error| Diagnosis::configuration(&error))?;
        let choice = model_choice(arguments.model.clone(), &places)?;
        let interaction = Arc::new(self.terminal.clone());
        let world = composition::world(&arguments.folder, &places, interaction)?;
        let receipts = composition::receipts(&places)?;
        let resources = composition::user_resources(&places, &self.operation).await?;
        let store: Arc<Receipts> = Arc::clone(&receipts);
        let served = composition::serve(choice, store, &self.operation).await?;
        let folder = shown_folder(&arguments.folder);
        self.show.show(Told::Setting(&setting(&served, &folder)));
        Ok(Job {
            session_id: Uuid::new_v4(),
            operation: self.operation.clone(),
            served,
            world,
            folder,
            instructions: instructions(&resources),
            allow_writes: arguments.yes,
            terminal: self.terminal.clone(),
            receipts,
            announced: Announced::default(),
            show: Arc::clone(&self.show),
            left: Left { cycles: arguments.max_cycles, time: arguments.timeout, asks_again: true },
        })
    }
}

/// A call that was given up settles its receipt in a task of its own.
async fn settle(job: &Job) {
    let _ = tokio::time::timeout(SETTLE_LIMIT, job.served.router.settled()).await;
    job.receipts.tell_fresh(&*job.show);
}

/// The last event of a job that ran, and what belongs to it.
fn ended(lived: Lived, job: &Job) -> (Arc<RunEvent>, Closing) {
    let (totals, receipts) = job.receipts.sum();
    let (exit, diagnosis) = match &lived.result {
        Some(result) => judge(result, job),
        None => (Exit::Failed, Some(lost())),
    };
    let error = lived.result.as_ref().and_then(|result| result.error.clone());
    let closing = Closing {
        exit,
        diagnosis,
        failure: error.and_then(|error| error.failure).map(|failure| *failure),
        cancelled: lived.cancelled,
        returned: lived.returned,
        totals,
        receipts,
    };
    let event = lived.last.unwrap_or_else(|| Arc::new(failed(&lost())));
    (event, closing)
}

fn judge(result: &RunResult, job: &Job) -> (Exit, Option<Diagnosis>) {
    let early = |exit: Exit, hint: &str| {
        let diagnosis = result.error.as_ref().map(|error| Diagnosis::of(exit, error));
        (exit, diagnosis.map(|diagnosis| diagnosis.with_hint(hint)))
    };
    match result.status {
        RunStatus::Completed if job.terminal.found_nobody() => (Exit::NobodyToAsk, None),
        RunStatus::Completed => (Exit::Done, None),
        // The person stopped the job in the place of an answer.
        RunStatus::WaitUser if job.operation.cancellation.is_cancelled() => (Exit::Cancelled, None),
        RunStatus::WaitUser => (Exit::Waiting, Some(waiting(result))),
        RunStatus::MaxCycles => early(Exit::CyclesUsedUp, "--max-cycles allows more"),
        RunStatus::BudgetExhausted => early(Exit::BudgetUsedUp, "--timeout allows more"),
        RunStatus::Cancelled => (Exit::Cancelled, None),
        RunStatus::Failed => {
            let diagnosis = result.error.as_ref().map_or_else(lost, Diagnosis::run);
            (diagnosis.exit, Some(diagnosis))
        }
    }
}

fn waiting(result: &RunResult) -> Diagnosis {
    let asked = result.wait_reason.as_deref().unwrap_or_default();
    Diagnosis {
        exit: Exit::Waiting,
        code: "wait_user".to_owned(),
        message: format!("waits for an answer to: {asked}"),
        hint: Some("run again with the answer in the task".to_owned()),
    }
}

fn lost() -> Diagnosis {
    Diagnosis {
        exit: Exit::Failed,
        code: "run_lost".to_owned(),
        message: "the run broke down, which is a fault of this program".to_owned(),
        hint: None,
    }
}

/// The one event of a job that never began: cancelled, or failed.
fn never_ran(diagnosis: Option<Diagnosis>) -> (Arc<RunEvent>, Closing) {
    let event = match &diagnosis {
        Some(diagnosis) => failed(diagnosis),
        None => only(Event::RunCancelled { error: "cancelled before a run began".into() }),
    };
    let closing = Closing {
        exit: diagnosis.as_ref().map_or(Exit::Cancelled, |diagnosis| diagnosis.exit),
        diagnosis,
        failure: None,
        cancelled: None,
        returned: Vec::new(),
        totals: crate::totals::RunTotals::default(),
        receipts: Vec::new(),
    };
    (Arc::new(event), closing)
}

fn failed(diagnosis: &Diagnosis) -> RunEvent {
    let (error, error_code) = (diagnosis.message.as_str(), diagnosis.code.as_str());
    only(Event::RunFailed { error: error.into(), error_code: error_code.into() })
}

/// An event of a run that has no other.
fn only(event: Event) -> RunEvent {
    let identity = RunIdentity::root(Uuid::new_v4().to_string(), "task", "agent");
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    RunEvent {
        version: EVENT_VERSION,
        identity: Arc::new(identity),
        sequence: 1,
        delta: None,
        at_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        cycle: None,
        event,
    }
}

/// The frame of everything but the runs, which are cancelled through their handles.
fn root_operation() -> OperationContext {
    let id = Uuid::new_v4();
    let (id, execution) = (OperationId::from(id), ExecutionId::from(id));
    // Runs have the same limit; what surrounds them outlives it by a little.
    OperationContext::root(id, execution, LONGEST + SETTLE_LIMIT)
}

fn model_choice(named: Option<String>, places: &Places) -> Result<ModelChoice, Diagnosis> {
    let environment = |name: &str| std::env::var(name).ok();
    ConfigurationFile::read(&places.configuration_file())
        .and_then(|file| choose_model(named, environment, file))
        .map_err(|error| Diagnosis::configuration(&error))
}

fn instructions(resources: &ResourceSnapshot) -> String {
    let mut parts = vec![INSTRUCTIONS.to_owned()];
    parts.extend(resources.instructions.iter().cloned());
    parts.extend(resources.skills.iter().map(|(name, text)| format!("# Skill: {name}\n\n{text}")));
    parts.join("\n\n")
}

fn shown_folder(folder: &Path) -> String {
    let whole = std::fs::canonicalize(folder);
    whole.unwrap_or_else(|_| folder.to_owned()).display().to_string()
}

fn setting(served: &Served, folder: &str) -> Setting {
    Setting {
        model: served.model.clone(),
        provider: served.provider.clone(),
        is_offline: served.is_offline,
        folder: folder.to_owned(),
    }
}

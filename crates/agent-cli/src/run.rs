//! Decides how one task is carried out, from the command line to the exit code.
//!
//! Knows the order of things. Refuses to know how any of them is done. Invariant: exactly one
//! event ends the run, and it comes after the receipts.

use std::{sync::Arc, time::Duration};

use router_adapter::TappedIntelligence;
use runtime_kernel::{AgentRuntime, DEFAULT_ROUND_LIMIT, SessionRunRequest};
use runtime_ports::{Intelligence, OperationContext, ResourceSnapshot};
use runtime_types::{ExecutionId, OperationId};
use uuid::Uuid;

use crate::{
    approval::Approvals,
    arguments::RunArguments,
    composition::{self, Served},
    configuration::{ConfigurationFile, ModelChoice, choose_model},
    diagnosis::Diagnosis,
    event::Event,
    exit::Exit,
    host::{Host, Progress},
    interrupt,
    places::{Places, user},
    screen::Screen,
    show::{self, Show, tap::ShowDeltas},
    terminal::{StandardConsole, TerminalInteraction},
    totals::RunTotals,
};

/// Longest run. Every wait within has a shorter limit of its own.
const RUN_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

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
    let job = Job::new(Arc::clone(&screen), Arc::clone(&show));
    interrupt::watch(job.operation.cancellation.clone(), Arc::clone(&show), Arc::clone(&screen));
    let mut totals = RunTotals::default();
    let ended = Box::pin(job.carry_out(arguments, &mut totals)).await;
    let (event, exit) = last_event(ended, totals);
    show.show(&event);
    screen.end_line();
    match screen.loss() {
        None => exit,
        Some(error) => {
            screen.line(&format!("agent: standard output could not be written: {error}"));
            Exit::Failed
        }
    }
}

fn last_event(ended: Result<Ended, Diagnosis>, totals: RunTotals) -> (Event, Exit) {
    match ended {
        Ok(Ended { answer, exit }) => {
            (Event::RunCompleted { answer, totals, exit_code: exit.code() }, exit)
        }
        Err(Diagnosis { exit: Exit::Cancelled, .. }) => {
            let exit_code = Exit::Cancelled.code();
            (Event::RunCancelled { totals, exit_code }, Exit::Cancelled)
        }
        Err(Diagnosis { exit, code, message, hint }) => {
            let exit_code = exit.code();
            (Event::RunFailed { code, message, hint, totals, exit_code }, exit)
        }
    }
}

/// How a run ended that did not fail.
struct Ended {
    answer: Option<String>,
    exit: Exit,
}

/// What a run has from its beginning.
struct Job {
    id: Uuid,
    operation: OperationContext,
    screen: Arc<Screen>,
    show: Arc<dyn Show>,
}

impl Job {
    fn new(screen: Arc<Screen>, show: Arc<dyn Show>) -> Self {
        let id = Uuid::new_v4();
        Self { id, operation: root_operation(id), screen, show }
    }

    async fn carry_out(
        &self,
        arguments: RunArguments,
        totals: &mut RunTotals,
    ) -> Result<Ended, Diagnosis> {
        let places = Places::find().map_err(|error| Diagnosis::configuration(&error))?;
        let choice = model_choice(arguments.model.clone(), &places)?;
        let console = StandardConsole::new(Arc::clone(&self.screen));
        let interaction = Arc::new(TerminalInteraction::new(Arc::new(console)));
        let tools = composition::tools(&arguments.folder, &places, interaction.clone())?;
        let receipts = composition::receipts(&places)?;
        let resources = composition::user_resources(&places, &self.operation).await?;
        let instructions = instructions(&resources);
        let served = composition::serve(choice, receipts, &self.operation, &instructions).await?;
        self.show.show(&started(self.id, &served, &arguments));
        let approvals = Approvals::new(interaction, Arc::clone(&self.show), arguments.yes);
        let mut host = Host {
            task: arguments.task,
            instructions,
            model: served.model.clone(),
            operation: self.operation.clone(),
            tools,
            approvals: Arc::new(approvals),
            show: Arc::clone(&self.show),
            progress: Progress::default(),
        };
        let result = self.drive(&served, &mut host).await;
        *totals = host.progress.totals;
        self.judge(result, host.approvals.found_nobody())
    }

    async fn drive(&self, served: &Served, host: &mut Host) -> anyhow::Result<Option<String>> {
        let router: Arc<dyn Intelligence> = Arc::new(served.router.clone());
        let deltas = ShowDeltas(Arc::clone(&self.show));
        let tapped: Arc<dyn Intelligence> = Arc::new(TappedIntelligence::new(router, deltas));
        let cancelling = self.cancel_with_the_operation(Arc::clone(&tapped));
        let request = SessionRunRequest {
            user_id: user(),
            operation_id: self.id,
            rounds_used: 0,
            round_limit: DEFAULT_ROUND_LIMIT,
        };
        let result = AgentRuntime::new(tapped).run_session(request, host).await;
        // A turn that was given up settles its receipt in a task of its own.
        let _ = tokio::time::timeout(SETTLE_LIMIT, served.router.settled()).await;
        cancelling.abort();
        result
    }

    /// Cancels the turn once the operation is cancelled. The turn settles its own receipt; a
    /// failure to cancel shows in the run's own end.
    fn cancel_with_the_operation(
        &self,
        intelligence: Arc<dyn Intelligence>,
    ) -> tokio::task::JoinHandle<()> {
        let (token, run) = (self.operation.cancellation.clone(), self.id);
        tokio::spawn(async move {
            token.cancelled().await;
            let _ = intelligence.cancel(run).await;
        })
    }

    fn judge(
        &self,
        result: anyhow::Result<Option<String>>,
        found_nobody: bool,
    ) -> Result<Ended, Diagnosis> {
        match result {
            Ok(answer) if found_nobody => Ok(Ended { answer, exit: Exit::NobodyToAsk }),
            Ok(answer) => Ok(Ended { answer, exit: Exit::Done }),
            Err(_) if self.operation.cancellation.is_cancelled() => Err(Diagnosis::cancelled()),
            Err(error) => Err(Diagnosis::run(&error)),
        }
    }
}

fn root_operation(run_id: Uuid) -> OperationContext {
    let (id, run) = (OperationId::from(run_id), ExecutionId::from(run_id));
    OperationContext::root(id, run, RUN_LIMIT)
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

fn started(run_id: Uuid, served: &Served, arguments: &RunArguments) -> Event {
    let folder = std::fs::canonicalize(&arguments.folder);
    let folder = folder.unwrap_or_else(|_| arguments.folder.clone());
    Event::RunStarted {
        run_id,
        model: served.model.clone(),
        provider: served.provider.clone(),
        offline: served.is_offline,
        folder: folder.display().to_string(),
        task: arguments.task.clone(),
    }
}

//! Decides what all runs of one call of the command share, and how one of them is made.
//!
//! Knows the agent that the command makes. Refuses to know what a run is for, and what follows it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use router_adapter::Detour;
use runtime_kernel::engine::{Agent, AgentBuilder, RunOptions, SubAgent, Task};
use runtime_ports::{OperationContext, Tool, ToolWorld};
use runtime_types::{ExecutionId, OperationId};
use serde_json::Value;
use standard_tools::{artifact_tool, standard_tools};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    answer_schema,
    approval::{Announced, Attendance, Person, policy},
    arguments::WorkArguments,
    composition::{self, Receipts, Served},
    configuration::{ConfigurationFile, ModelChoice, Wanted, choose_model},
    diagnosis::Diagnosis,
    job::Left,
    live::{Audience, Live, Lived, Said},
    places::{Places, user},
    question::question,
    show::Show,
    taping::Taping,
    terminal::TerminalInteraction,
    time_limit::LONGEST,
    told::{Setting, Told},
};

/// How long the last receipts may take to reach the disk.
const SETTLE_LIMIT: Duration = Duration::from_secs(10);

const INSTRUCTIONS: &str = "You are an agent that works in one folder on behalf of its owner. \
Use the tools to look before you answer and to do what the task asks. Do not guess what a file \
holds. Paths are relative to the folder. When a tool says that something was not approved, do not \
try it again in another way. When the task is done, answer in a few sentences.";

/// What is there before anything is known of the work.
pub(crate) struct Ground {
    /// Cancelled when the person stops everything.
    pub(crate) operation: OperationContext,
    pub(crate) show: Arc<dyn Show>,
    pub(crate) terminal: TerminalInteraction,
}

/// All that runs need.
pub(crate) struct Bench {
    pub(crate) ground: Ground,
    pub(crate) served: Served,
    pub(crate) receipts: Arc<Receipts>,
    places: Places,
    world: ToolWorld,
    folder: String,
    allow_writes: bool,
    delegates: bool,
    /// Those of the command line.
    fallbacks: Vec<String>,
    /// In nano-dollars.
    budget_usd: Option<u64>,
    taping: Taping,
    /// What the answer must follow, if anything.
    answer: Option<Value>,
    announced: Announced,
}

/// The tools that every agent of this command has.
pub(crate) fn offered_tools() -> Vec<Arc<dyn Tool>> {
    let mut tools = standard_tools();
    tools.push(artifact_tool());
    tools
}

impl Bench {
    /// Finds the model, the folder and the receipts, and tells of them.
    ///
    /// # Errors
    /// One of them cannot be had.
    pub(crate) async fn set_up(work: &WorkArguments, ground: Ground) -> Result<Self, Diagnosis> {
        let places = Places::find().map_err(|error| Diagnosis::configuration(&error))?;
        let fallbacks = work.fallback.clone();
        let wanted = Wanted { model: work.model.clone(), fallbacks };
        let choose = |wanted| model_choice(wanted, &places);
        let taping = Taping::of(work, || choose(wanted.clone())).await?;
        let choice = taping.choice(wanted, choose).await?;
        let interaction = Arc::new(ground.terminal.clone());
        let world = composition::world(&work.folder, &places, interaction)?;
        let receipts = composition::receipts(receipts_folder(&taping, &places))?;
        let store: Arc<Receipts> = Arc::clone(&receipts);
        let watching = watching(&ground.show);
        let (tape, operation) = (taping.tape(), &ground.operation);
        let served = composition::serve(choice, tape, store, watching, operation).await?;
        let served = served.within(work.budget_usd)?;
        let bench = Self {
            ground,
            served,
            receipts,
            places,
            world,
            folder: shown_folder(&work.folder),
            allow_writes: work.yes,
            delegates: work.sub_agents,
            fallbacks: work.fallback.clone(),
            budget_usd: work.budget_usd,
            taping,
            answer: None,
            announced: Announced::default(),
        };
        bench.tell_setting();
        Ok(bench)
    }

    /// From here on the answer must follow the schema of this file.
    ///
    /// # Errors
    /// It cannot be read, is no JSON, or no schema.
    pub(crate) fn answering_with(mut self, file: &Path) -> Result<Self, Diagnosis> {
        let hint = "give --output-schema a file that holds a JSON Schema";
        let schema = answer_schema::read(file);
        let wrong = |error| Diagnosis::configuration(&error).with_hint(hint);
        self.answer = Some(schema.map_err(wrong)?);
        // What cannot be used is found before anything is sent.
        built(self.agent(Uuid::nil(), &Left::none())).map_err(|wrong| wrong.with_hint(hint))?;
        Ok(self)
    }

    /// Goes on with another model.
    ///
    /// # Errors
    /// It cannot be had; all stays as it was.
    pub(crate) async fn change_model(&mut self, name: String) -> Result<(), Diagnosis> {
        let (model, fallbacks) = (Some(name), self.fallbacks.clone());
        let wanted = Wanted { model, fallbacks };
        let choose = |wanted| model_choice(wanted, &self.places);
        let choice = self.taping.choice(wanted, choose).await?;
        let store: Arc<Receipts> = Arc::clone(&self.receipts);
        let (watching, operation) = (watching(&self.ground.show), &self.ground.operation);
        let tape = self.taping.tape();
        let served = composition::serve(choice, tape, store, watching, operation).await?;
        self.served = served.within(self.budget_usd)?;
        self.tell_setting();
        Ok(())
    }

    /// What is wrong with the tape when all is done, if there is one.
    pub(crate) async fn end_of_tape(&self) -> Option<Diagnosis> {
        self.taping.ended().await
    }

    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// The folder that is worked in, as it is shown.
    pub(crate) fn folder(&self) -> &str {
        &self.folder
    }

    /// Runs a task to its end. What is said meanwhile steers, `stop` cancels.
    ///
    /// # Errors
    /// The agent cannot be made.
    pub(crate) async fn run(
        &self,
        session_id: Uuid,
        task: Task,
        left: &Left,
        said: &mut Said,
        stop: &CancellationToken,
    ) -> Result<Lived, Diagnosis> {
        let id = Uuid::new_v4();
        let audit = composition::audit(&self.places, session_id)?;
        let agent = built(self.agent(id, left).context_audit(audit))?;
        let options = RunOptions::default().run_id(id.to_string());
        let options = options.session_id(session_id.to_string());
        let audience = Audience {
            show: Arc::clone(&self.ground.show),
            receipts: Arc::clone(&self.receipts),
            announced: self.announced.clone(),
        };
        let live = Live::start(&agent, task, options, audience);
        Ok(live.follow(said, stop).await)
    }

    /// A call that was given up settles its receipt in a task of its own.
    pub(crate) async fn settle(&self) {
        let _ = tokio::time::timeout(SETTLE_LIMIT, self.served.router.settled()).await;
        self.receipts.tell_fresh(&*self.ground.show);
    }

    fn agent(&self, run_id: Uuid, left: &Left) -> AgentBuilder {
        let model = self.served.router.session(user(), Some(run_id));
        let terminal = self.ground.terminal.clone();
        let person = Person { terminal: terminal.clone(), announced: self.announced.clone() };
        let builder = Agent::builder("agent", model, self.served.model.as_str())
            .instructions(INSTRUCTIONS)
            .tools(offered_tools())
            .world(self.world.clone())
            .resources(Arc::clone(&self.world.resources))
            .workspace(self.folder.as_str())
            .policy(policy(self.allow_writes))
            .approvals(Attendance(terminal.clone()))
            .interaction(Arc::new(person))
            .approval_prompt(question)
            .approval_timeout(LONGEST)
            .max_cycles(left.cycles)
            .wall_time(left.time)
            .budget(left.budget.clone());
        let builder = match &self.answer {
            Some(schema) => builder.answer_schema("answer", schema.clone()),
            None => builder,
        };
        let builder = match self.delegates {
            true => builder.sub_agent(worker(left.cycles)),
            false => builder,
        };
        // A question that nobody hears would be the end of the work.
        match left.may_ask {
            true => builder,
            false => builder.without_ask_user(),
        }
    }

    fn tell_setting(&self) {
        let setting = Setting {
            model: self.served.model.clone(),
            provider: self.served.provider.clone(),
            is_offline: self.served.is_offline,
            fallbacks: self.served.fallbacks.clone(),
            folder: self.folder.clone(),
        };
        self.ground.show.show(Told::Setting(&setting));
    }
}

fn built(builder: AgentBuilder) -> Result<Agent, Diagnosis> {
    let agent = builder.build().context("the agent cannot be made");
    agent.map_err(|error| Diagnosis::configuration(&error))
}

/// Whom the agent may give parts of its task to.
fn worker(cycles: u32) -> SubAgent {
    let description = "works on one part of the task in the same folder with the same tools; it \
                       knows nothing but what it is told, and comes back with a short answer";
    SubAgent::new("worker", description).instructions(INSTRUCTIONS).max_cycles(cycles)
}

/// The frame of everything but the runs, which are cancelled through their handles.
pub(crate) fn root_operation(limit: Duration) -> OperationContext {
    let id = Uuid::new_v4();
    let (id, execution) = (OperationId::from(id), ExecutionId::from(id));
    // Runs have the same limit; what surrounds them outlives it by a little.
    OperationContext::root(id, execution, limit + SETTLE_LIMIT)
}

/// Shows the detours of model calls.
fn watching(show: &Arc<dyn Show>) -> impl Fn(Uuid, &Detour) + Send + Sync + 'static {
    let show = Arc::clone(show);
    move |_, detour| show.show(Told::Detour(detour))
}

fn model_choice(wanted: Wanted, places: &Places) -> Result<ModelChoice, Diagnosis> {
    let environment = |name: &str| std::env::var(name).ok();
    ConfigurationFile::read(&places.configuration_file())
        .and_then(|file| choose_model(wanted, environment, file))
        .map_err(|error| Diagnosis::configuration(&error))
}

/// What a replay used was paid for when it was recorded.
fn receipts_folder(taping: &Taping, places: &Places) -> PathBuf {
    if taping.is_replay() { places.receipts_of_replays() } else { places.receipts() }
}

fn shown_folder(folder: &Path) -> String {
    let whole = std::fs::canonicalize(folder);
    whole.unwrap_or_else(|_| folder.to_owned()).display().to_string()
}

//! Decides which open effect a line of a script settles, and tells what came of it.
//!
//! Knows a machine, a clock that stands still unless it is set, and nothing of what is right.

use std::{collections::BTreeMap, sync::Arc};

use runtime_decision::{
    Effect, Happened, HookSubject, Input, Machine, Out, Outcome, Plan, Requested, RunIdentity,
};
use runtime_ports::{Digest, ModelProfile, ModelRequest};

use super::{agent::Agent, budgets::Budgets, outcome, show, words};

/// A run in the making.
#[derive(Default)]
pub(crate) struct Run {
    agent: Agent,
    machine: Option<Machine>,
    /// What was asked for and not settled.
    asked: Vec<Requested>,
    /// There once one was asked.
    budgets: Option<Budgets>,
    requests: Vec<ModelRequest>,
    summaries: Vec<ModelRequest>,
    /// By the call, the question about it.
    questions: BTreeMap<String, Arc<str>>,
    clock: u64,
    steered: u64,
    /// Whether budgets never answer.
    budgets_wait: bool,
    /// What came of the present line.
    told: Vec<String>,
    lines: Vec<String>,
}

impl Run {
    /// Takes one line of a script.
    pub(crate) fn line(&mut self, line: &str) {
        self.happens_by(line);
        let told = std::mem::take(&mut self.told);
        self.lines.extend(show::wrapped("> ", &told));
    }

    fn happens_by(&mut self, line: &str) {
        let words = words::words(line);
        let words: Vec<_> = words.iter().map(|word| &**word).collect();
        let rest = &words[1..];
        if self.machine.is_none()
            && !matches!(words[0], "start" | "cancel" | "steer" | "at" | "budgets")
        {
            return self.agent.line(&words);
        }
        match words[0] {
            "start" => self.start(rest.is_empty()),
            "cancel" => self.happens(Happened::Cancelled),
            "suspend" => self.happens(Happened::Suspended),
            "resume" => self.happens(Happened::Resumed),
            "below" => {
                let spent = self.budgets().spent_below(rest);
                self.happens(Happened::SpentBelow { spent: Box::new(spent) });
            }
            "time" => self.happens(Happened::WallTimeElapsed),
            "steer" => {
                self.steered += 1;
                let (steering_id, prompt) = (self.steered, words::text(rest).into());
                self.happens(Happened::Steered { steering_id, prompt });
            }
            "approve" | "deny" => self.decide(&words),
            "at" => self.clock = rest[0].parse().expect("a time"),
            "store" => self.store(),
            "crash" => {
                self.store();
                self.asked.clear();
                let machine = self.machine.as_ref().expect("a run");
                let again = || Budgets::of(machine, &self.agent.above);
                self.budgets = self.budgets.is_some().then(again);
            }
            "others" => self.budgets.as_mut().expect("budgets").others_use(rest[1]),
            "budgets" => self.budgets_wait = true,
            "show" => self.show(rest[0]),
            _ => self.settle(&words),
        }
    }

    fn start(&mut self, with_profile: bool) {
        self.happens(Happened::Started);
        if with_profile {
            // That much is the same in every script.
            self.told.clear();
            self.settle(&["profile"]);
            if self.asked.iter().any(|asked| is_about(asked, &["summarizer"], &self.agent)) {
                self.settle(&["summarizer"]);
            }
        }
    }

    fn decide(&mut self, words: &[&str]) {
        let request_id = self.questions.get(words[1]).cloned();
        let request_id = request_id.unwrap_or_else(|| words[1].into());
        let word = if words[0] == "deny" { "denies" } else { "approves" };
        let decision = outcome::decision(&[&[word], &words[2..]].concat());
        self.happens(Happened::Decided { request_id, decision });
    }

    fn happens(&mut self, happened: Happened) {
        let input = Input { at_ms: self.clock, happened };
        let machine = self.machine.get_or_insert_with(|| machine(&self.agent));
        let (before, mut out) = (machine.to_json(), Out::default());
        if let Err(refused) = machine.handle(input, &mut out) {
            assert_eq!(before, machine.to_json(), "a refused input changed something");
            self.told.push(format!("!! {refused}"));
        }
        self.take(out);
        self.check_schemas();
        self.ask_budgets();
    }

    fn take(&mut self, out: Out) {
        for charge in out.charges {
            self.told.push(format!("charged {}", show::amounts(&charge.used)));
            self.budgets().charge(&charge);
        }
        for (id, halt) in out.halts {
            self.told.push(show::halt(id.0, halt));
            let dropped = halt == runtime_decision::Halt::Withdraw;
            self.asked.retain(|asked| !dropped || asked.id != id);
        }
        for event in &out.events {
            self.told.push(show::event(event));
            if let runtime_decision::Event::ApprovalRequested { request_id, tool_call_id, .. } =
                &event.event
            {
                self.questions.insert(tool_call_id.to_string(), Arc::clone(request_id));
            }
        }
        let hooks = self.agent.definition.hooks.iter().map(|hook| hook.name.to_string());
        let definition = &self.agent.definition;
        let delegating = if definition.sub_agents.is_empty() { 0 } else { 6 };
        let (hooks, tools) = (hooks.collect::<Vec<_>>(), definition.tools.len() + delegating);
        for asked in out.effects {
            self.told.extend(show::effect(&asked.effect, &hooks, tools));
            if let Effect::CallModel(request) = &asked.effect {
                self.requests.push(request.clone());
            }
            if let Effect::Summarize(request) = &asked.effect {
                self.summaries.push(request.clone());
            }
            self.asked.push(asked);
        }
    }

    /// Budgets as they are when the run takes up its life.
    fn budgets(&mut self) -> &mut Budgets {
        let machine = self.machine.as_ref().expect("a run");
        let above = &self.agent.above;
        self.budgets.get_or_insert_with(|| Budgets::of(machine, above))
    }

    /// Budgets answer at once.
    fn ask_budgets(&mut self) {
        while let Some(place) = self.asked.iter().position(is_reserve) {
            if self.budgets_wait {
                return;
            }
            let asked = self.asked.remove(place);
            let outcome = self.budgets().answer(&asked);
            self.happens(Input::settled(self.clock, asked.id, outcome).happened);
        }
    }

    /// Schemas answer at once.
    fn check_schemas(&mut self) {
        while let Some(place) = self.asked.iter().position(is_check).filter(|_| !self.agent.waits) {
            let asked = self.asked.remove(place);
            let Effect::CheckArguments { tool, .. } = &asked.effect else { continue };
            let verdict = self.agent.faults.get(&**tool).cloned().map_or(Ok(()), Err);
            let outcome = Outcome::ArgumentsChecked(verdict);
            self.happens(Input::settled(self.clock, asked.id, outcome).happened);
        }
    }

    /// Settles the effect that the line is about.
    fn settle(&mut self, words: &[&str]) {
        let place = self.asked.iter().position(|asked| is_about(asked, words, &self.agent));
        let asked = match place {
            Some(place) => self.asked.remove(place),
            None => panic!("nothing asks for {words:?}: {:#?}\n{:#?}", self.told, self.asked),
        };
        let outcome = match &asked.effect {
            Effect::ResolveProfile { for_summaries, .. } => {
                let profile = profile(&words[1..]);
                Outcome::ProfileResolved(profile.map(|profile| match for_summaries {
                    true => self.agent.summary_profile(profile),
                    false => self.agent.profile(profile),
                }))
            }
            effect => outcome_of(effect, words),
        };
        self.happens(Input::settled(self.clock, asked.id, outcome).happened);
    }

    fn running(&self) -> &Machine {
        self.machine.as_ref().expect("a run")
    }

    fn store(&mut self) {
        let machine = self.running();
        let (stored, plan) = (machine.to_json(), Arc::clone(machine.plan()));
        let loaded = Machine::from_json(plan, &stored).expect("a run that was just stored");
        assert_eq!(stored, loaded.to_json(), "storing changed something");
        self.machine = Some(loaded);
    }

    fn show(&mut self, what: &str) {
        let machine = self.machine.as_ref().expect("a run");
        let shown: Vec<_> = match what {
            "request" => {
                let request = self.requests.last().expect("a request");
                request.messages.messages().map(|it| show::message(it, false)).collect()
            }
            "summary" => {
                let request = self.summaries.last().expect("a request for a summary");
                let messages = request.messages.messages().skip(1);
                messages.map(|it| show::message(it, true)).collect()
            }
            "warnings" => {
                let result = machine.result().expect("a result");
                result.warnings.iter().map(|it| it.to_string()).collect()
            }
            "tokens" => {
                let sizes = self.requests.iter().map(|it| it.messages.estimated_tokens());
                sizes.map(|size| size.to_string()).collect()
            }
            "error" => {
                let error = machine.result().and_then(|result| result.error);
                vec![error.expect("an error").to_string()]
            }
            "history" => machine.history().messages().map(|it| show::message(it, false)).collect(),
            "results" => {
                let results = machine.history().messages();
                let results = results.filter(|it| it.role == runtime_ports::ModelRole::Tool);
                results.map(|it| show::message(it, true)).collect()
            }
            "usage" => {
                let result = machine.result().expect("a result");
                let totals = result.ledger.totals();
                let input = totals.input_tokens;
                let sum = result.usage.input_tokens;
                let at_least = (input.at_least, input.complete);
                vec![format!("{} attempts, input {sum:?} {at_least:?}", totals.attempts)]
            }
            "spent" => show::spent(&machine.spent()),
            "children" => vec![machine.live_children().unwrap_or_default()],
            "approvals" => machine.pending_approvals().iter().map(|it| it.to_string()).collect(),
            "pending" => machine.pending().iter().map(pending).collect(),
            other => panic!("{other} cannot be shown"),
        };
        self.lines.extend(show::wrapped("# ", &shown));
    }

    /// The machine as it is.
    pub(crate) fn into_machine(self) -> Machine {
        self.machine.unwrap_or_else(|| machine(&self.agent))
    }

    /// What came of the whole script.
    pub(crate) fn told(mut self) -> String {
        let ending = show::ending(self.running());
        self.lines.extend(ending);
        if self.running().status().is_some() {
            assert!(self.asked.is_empty(), "asked for and neither settled nor withdrawn");
            if let Some(budgets) = &self.budgets {
                let (used, is_free) = budgets.settled();
                assert_eq!(used, self.running().spent().charged, "the run counts as the tree does");
                assert!(is_free, "the run is over and holds something reserved");
            }
        }
        self.lines.join("\n")
    }
}

fn machine(agent: &Agent) -> Machine {
    let plan = Plan::new(agent.definition.clone()).expect("a definition");
    let identity = RunIdentity::root("r", "task", "agent");
    Machine::new(Arc::new(plan), identity, agent.task.clone())
}

fn pending(pending: &runtime_decision::Pending) -> String {
    let state = if pending.in_flight { "in flight" } else { "held" };
    let effect = show::effect(&pending.effect, &[], usize::MAX).unwrap_or_default();
    format!("{} {state} {effect}", pending.id)
}

fn is_reserve(asked: &Requested) -> bool {
    matches!(asked.effect, Effect::Reserve { .. })
}

fn is_check(asked: &Requested) -> bool {
    matches!(asked.effect, Effect::CheckArguments { .. })
}

fn is_about(asked: &Requested, words: &[&str], agent: &Agent) -> bool {
    match &asked.effect {
        Effect::ResolveProfile { for_summaries: true, .. } => words[0] == "summarizer",
        Effect::ResolveProfile { .. } => words[0] == "profile",
        Effect::CollectCycleInputs(_) => words[0] == "inputs",
        Effect::CollectInterruptions(_) => words[0] == "interruptions",
        Effect::RunHook(call) => {
            words[0] == "hook" && words[1] == &*agent.definition.hooks[call.hook].name
        }
        Effect::CallModel(_) => words[0] == "model",
        Effect::CheckArguments { .. } => false,
        Effect::ConsultApprovals(request) => {
            words[0] == "provider" && words[1] == &*request.tool_call_id
        }
        Effect::AwaitApproval(request) => {
            words[0] == "answer" && words[1] == &*request.tool_call_id
        }
        Effect::InvokeTool(work) => words[0] == &*work.invocation.call_id,
        Effect::LoadResources => words[0] == "resources",
        Effect::ConsultMemory(_) => words[0] == "memory",
        Effect::StoreArtifact { .. } => words[0] == "artifact",
        Effect::Summarize(_) => words[0] == "summary",
        Effect::Reserve { .. } => words[0] == "budget",
        Effect::CheckAnswer { .. } => words[0] == "verdict",
        Effect::RunChild(work) => words[0] == "child" && words[1] == &*work.task_id,
        Effect::SteerChild { .. } => words[0] == "steered",
        Effect::WaitChildren { .. } => words[0] == "waited",
    }
}

fn outcome_of(effect: &Effect, words: &[&str]) -> Outcome {
    let rest = &words[1..];
    match effect {
        Effect::ResolveProfile { .. } => Outcome::ProfileResolved(profile(rest)),
        Effect::CollectCycleInputs(_) => Outcome::InputsCollected(outcome::collected(rest)),
        Effect::CollectInterruptions(_) => {
            Outcome::InterruptionsCollected(outcome::collected(rest))
        }
        Effect::RunHook(call) => {
            Outcome::HookReturned(outcome::verdict(point(&call.subject), &rest[1..]))
        }
        Effect::CallModel(_) => outcome::model_outcome(rest),
        Effect::CheckArguments { .. } => Outcome::ArgumentsChecked(Ok(())),
        Effect::ConsultApprovals(_) => {
            Outcome::ApprovalConsulted(outcome::consultation(&rest[1..]))
        }
        Effect::AwaitApproval(_) => Outcome::ApprovalAnswered(outcome::answer(&rest[1..])),
        Effect::InvokeTool(_) => Outcome::ToolReturned(outcome::tool_end(rest)),
        Effect::Summarize(_) => Outcome::Summarized(outcome::reply(rest)),
        Effect::ConsultMemory(_) => Outcome::MemoryConsulted(outcome::collected(rest)),
        Effect::StoreArtifact { content } => Outcome::ArtifactStored(match rest {
            [] => Ok(Digest::of(content.as_bytes())),
            words => outcome::reply(words).map(|_| Digest::of(b"another")),
        }),
        Effect::WaitChildren { .. } => Outcome::WaitOver,
        Effect::LoadResources => Outcome::ResourcesLoaded(outcome::resources(rest)),
        Effect::CheckAnswer { .. } => Outcome::AnswerChecked(outcome::checked(rest)),
        Effect::RunChild(work) => Outcome::ChildEnded(outcome::child_end(work, &rest[1..])),
        Effect::SteerChild { .. } => Outcome::ChildSteered(match rest {
            [] => Ok(()),
            _ => Err(words::text(rest)),
        }),
        other => panic!("no script can answer {other:?} yet"),
    }
}

fn profile(words: &[&str]) -> Result<ModelProfile, runtime_ports::PortFailure> {
    if !words.is_empty() {
        return outcome::reply(words).map(|_| unreachable!("a profile has no text"));
    }
    Ok(ModelProfile {
        context_window_tokens: 1_000,
        max_input_tokens: 1_000,
        max_output_tokens: None,
        images: true,
        price: None,
    })
}

const fn point(subject: &HookSubject) -> runtime_decision::HookPoint {
    use runtime_decision::HookPoint;

    match subject {
        HookSubject::BeforeMemoryCompact { .. } => HookPoint::BeforeMemoryCompact,
        HookSubject::BeforeLlm { .. } => HookPoint::BeforeLlm,
        HookSubject::AfterLlm { .. } => HookPoint::AfterLlm,
        HookSubject::BeforeToolCall { .. } => HookPoint::BeforeToolCall,
        HookSubject::AfterToolCall { .. } => HookPoint::AfterToolCall,
    }
}

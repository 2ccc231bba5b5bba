//! Decides in which order things happen to a random run.
//!
//! Knows what is open; refuses to know what is right.

use std::sync::Arc;

use runtime_decision::{
    BudgetLimits, Event, Halt, Happened, Input, Machine, Out, Outcome, Refused, Requested,
    RunIdentity,
};

use runtime_ports::{ModelContent, ModelRole, Transcript};

use super::{Dice, Family, Happening, Purse, Record, Scene, answer_of, outcomes::decision};

/// A run and all that happens to it.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) machine: Machine,
    pub(crate) open: Vec<Requested>,
    pub(crate) record: Record,
    clock: u64,
    steered: u64,
    questions: Vec<Arc<str>>,
    purse: Option<Purse>,
    settled: Vec<Requested>,
}

impl World {
    pub(crate) fn new(scene: &Scene) -> Self {
        let identity = RunIdentity::root("r", "task", "agent");
        Self::of(Machine::new(Arc::clone(&scene.plan), identity, scene.task.clone()))
    }

    /// A run of which nothing is known yet.
    pub(crate) const fn of(machine: Machine) -> Self {
        Self {
            machine,
            open: Vec::new(),
            record: Record { happenings: Vec::new() },
            clock: 0,
            steered: 0,
            questions: Vec::new(),
            purse: None,
            settled: Vec::new(),
        }
    }

    /// A run from its first input to its end, as the dice fall.
    pub(crate) fn run(scene: &Scene, dice: &mut Dice<'_>) -> Self {
        Self::new(scene).ran(dice)
    }

    /// Runs that take turns as the dice fall, until each of them has ended.
    pub(crate) fn run_together(
        scenes: &[Scene],
        family: &Family,
        dice: &mut Dice<'_>,
    ) -> Vec<Self> {
        let begun = scenes.iter().map(|scene| {
            let mut world = Self::new(scene);
            world.purse = Some(family.purse(&world.machine));
            world.give(Happened::Started).expect("a start");
            world
        });
        let mut worlds: Vec<_> = begun.collect();
        while !dice.is_empty() {
            let turn = dice.roll(worlds.len());
            if worlds[turn].machine.status().is_none() {
                worlds[turn].step(dice);
            }
        }
        worlds.iter_mut().for_each(Self::bring_to_an_end);
        worlds
    }

    /// The same below a run with these budgets, where nothing costs more than was granted.
    pub(crate) fn run_within(scene: &Scene, above: BudgetLimits, dice: &mut Dice<'_>) -> Self {
        let mut world = Self::new(scene);
        world.purse = Some(Purse::new(&world.machine, above));
        world.ran(dice)
    }

    fn ran(self, dice: &mut Dice<'_>) -> Self {
        let mut world = self;
        if dice.once_in(6) {
            world.steer();
        }
        world.give(Happened::Started).expect("a start");
        while !dice.is_empty() && world.machine.status().is_none() {
            world.step(dice);
        }
        world.bring_to_an_end();
        world
    }

    pub(crate) fn purse(&self) -> &Purse {
        self.purse.as_ref().expect("budgets")
    }

    fn step(&mut self, dice: &mut Dice<'_>) {
        self.clock += u64::try_from(dice.roll(20)).expect("few");
        match dice.roll(32) {
            20 | 21 => self.steer(),
            22 => self.ignore(Happened::Cancelled),
            23 | 24 => self.ignore(Happened::Suspended),
            25 => self.resume(),
            26 => self.ignore(Happened::WallTimeElapsed),
            27 => self.crash(),
            28 => self.decide(dice),
            29 => self.store(),
            30 => self.repeat(dice),
            31 => self.misreport(dice),
            _ => self.settle_any(dice),
        }
    }

    /// Gives an input and keeps what follows; a refused one must change nothing.
    pub(crate) fn give(&mut self, happened: Happened) -> Result<(), Refused> {
        let input = Input { at_ms: self.clock, happened };
        let (before, mut out) = (self.machine.clone(), Out::default());
        if let Err(refused) = self.machine.handle(input.clone(), &mut out) {
            assert_eq!(before.to_json(), self.machine.to_json(), "a refused input did something");
            let is_silent = out.effects.is_empty() && out.halts.is_empty() && out.events.is_empty();
            assert!(is_silent, "a refused input asked for something");
            return Err(refused);
        }
        self.record.happenings.push(Happening::Taken(input));
        self.take(out);
        Ok(())
    }

    fn take(&mut self, out: Out) {
        for charge in out.charges {
            self.purse.iter_mut().for_each(|purse| purse.charge(&charge));
            self.record.happenings.push(Happening::Charged(charge));
        }
        for (id, halt) in out.halts {
            let place = self.open.iter().position(|open| open.id == id);
            let place = place.expect("only what is open is halted");
            if halt == Halt::Withdraw {
                self.purse.iter_mut().for_each(|purse| purse.cancel(id));
                self.open.remove(place);
            }
            self.record.happenings.push(Happening::Halted(id, halt));
        }
        for event in out.events {
            if let Event::ApprovalRequested { request_id, .. } = &event.event {
                self.questions.push(Arc::clone(request_id));
            }
            self.record.happenings.push(Happening::Told(event));
        }
        for asked in out.effects {
            assert!(self.open.iter().all(|open| open.id != asked.id), "asked for twice");
            if let runtime_decision::Effect::CallModel(request) = &asked.effect {
                assert_said(&self.machine, &request.messages);
            }
            self.record.happenings.push(Happening::Asked(asked.clone()));
            self.open.push(asked);
        }
    }

    /// An input that may come too late.
    fn ignore(&mut self, happened: Happened) {
        let _ = self.give(happened);
    }

    /// A live run is not told that it was lost while it was not.
    fn resume(&mut self) {
        if self.machine.is_suspended() {
            self.give(Happened::Resumed).expect("a suspended run is resumed");
        }
    }

    pub(crate) fn steer(&mut self) {
        self.steered += 1;
        let (steering_id, prompt) = (self.steered, format!("steer {}!", self.steered).into());
        self.ignore(Happened::Steered { steering_id, prompt });
    }

    fn decide(&mut self, dice: &mut Dice<'_>) {
        if self.questions.is_empty() {
            return self
                .ignore(Happened::Decided { request_id: "r-0".into(), decision: decision(dice) });
        }
        let request_id = Arc::clone(&self.questions[dice.roll(self.questions.len())]);
        self.ignore(Happened::Decided { request_id, decision: decision(dice) });
    }

    pub(crate) fn store(&mut self) {
        let (stored, plan) = (self.machine.to_json(), Arc::clone(self.machine.plan()));
        self.machine = Machine::from_json(plan, &stored).expect("what was stored can be loaded");
        assert_eq!(self.machine.to_json(), stored, "storing changed something");
        let pending = self.machine.pending();
        for open in &self.open {
            let is_kept = pending
                .iter()
                .any(|it| it.id == open.id && it.in_flight && is_same(&it.effect, &open.effect));
            assert!(is_kept, "an effect that is open is not told after loading: {open:?}");
        }
    }

    fn crash(&mut self) {
        self.store();
        self.purse = self.purse.take().map(|purse| purse.again(&self.machine));
        self.open.clear();
        if self.machine.status().is_none() {
            self.record.happenings.push(Happening::Crashed);
            self.give(Happened::Resumed).expect("a run that was lost goes on");
        }
    }

    /// Reports an outcome a second time.
    fn repeat(&mut self, dice: &mut Dice<'_>) {
        if self.settled.is_empty() {
            return;
        }
        let settled = self.settled[dice.roll(self.settled.len())].clone();
        let outcome = Box::new(answer_of(&settled.effect, dice));
        let refused = self.give(Happened::Settled { effect: settled.id, outcome });
        assert_eq!(refused, Err(Refused::NotOpen { effect: settled.id }));
    }

    /// Reports an outcome of another kind.
    fn misreport(&mut self, dice: &mut Dice<'_>) {
        let Some(open) = self.open.first() else { return };
        let (effect, outcome) = (open.id, answer_of(&open.effect, dice));
        let other = match outcome {
            Outcome::ArgumentsChecked(_) => {
                Outcome::HookReturned(runtime_decision::HookVerdict::Interrupted)
            }
            _ => Outcome::ArgumentsChecked(Ok(())),
        };
        let refused = self.give(Happened::Settled { effect, outcome: Box::new(other) });
        assert_eq!(refused, Err(Refused::WrongOutcome { effect }));
    }

    fn settle_any(&mut self, dice: &mut Dice<'_>) {
        if self.open.is_empty() {
            return self.resume();
        }
        let place = dice.roll(self.open.len());
        let mut outcome = answer_of(&self.open[place].effect, dice);
        if let Some(purse) = &mut self.purse {
            outcome = purse.answer(&self.open[place], outcome, dice);
        }
        self.settle(place, outcome);
    }

    pub(crate) fn settle(&mut self, place: usize, outcome: Outcome) {
        let open = self.open.remove(place);
        let (effect, outcome) = (open.id, Box::new(outcome));
        self.settled.push(open);
        self.give(Happened::Settled { effect, outcome }).expect("an open effect is settled");
    }

    /// Goes on with what comes to an end soonest.
    pub(crate) fn bring_to_an_end(&mut self) {
        for _ in 0..2_000 {
            if self.machine.status().is_some() {
                return;
            }
            self.settle_any(&mut Dice::new(&[]));
        }
        panic!("the run comes to no end: {:#?}", self.machine);
    }
}

/// Whatever a user said is in a request, word for word and in order, unless a hook may have taken
/// it out.
fn assert_said(machine: &Machine, request: &Transcript) {
    use runtime_decision::HookPoint::{BeforeLlm, BeforeMemoryCompact};

    let edits = |point: &_| matches!(point, BeforeLlm | BeforeMemoryCompact);
    if machine.plan().definition().hooks.iter().any(|hook| hook.points.iter().any(edits)) {
        return;
    }
    let mut messages = request.messages();
    for said in machine.history().messages().filter(|it| it.role == ModelRole::User) {
        let is_engines = matches!(&said.content[..], [ModelContent::Text { text }, ..]
            if ["Go on with the task", "The picture that", "[The sub-task "]
                .iter()
                .any(|begin| text.starts_with(begin)));
        assert!(is_engines || messages.any(|message| message == said), "{said:?} is not in it");
    }
}

/// Time goes on while a question is open, or a wait: what is left of it is told.
fn is_same(told: &runtime_decision::Effect, asked: &runtime_decision::Effect) -> bool {
    use runtime_decision::Effect::{AwaitApproval, ConsultApprovals, WaitChildren};

    match (told, asked) {
        (WaitChildren { timeout: left }, WaitChildren { timeout: all }) => left <= all,
        (AwaitApproval(left), AwaitApproval(right))
        | (ConsultApprovals(left), ConsultApprovals(right)) => left.digest == right.digest,
        (left, right) => left == right,
    }
}

/// The same inputs given to another machine, which is stored and loaded after each where
/// `stores` says so; what came of them, and how it was stored in the end.
pub(crate) fn replayed(
    scene: &Scene,
    record: &Record,
    stores: impl Fn(usize) -> bool,
) -> (Record, Vec<u8>) {
    let mut world = World::new(scene);
    for (place, input) in record.inputs().enumerate() {
        let mut out = Out::default();
        world.machine.handle(input.clone(), &mut out).expect("an input that was taken before");
        world.record.happenings.push(Happening::Taken(input.clone()));
        let told = out.events.into_iter().map(Happening::Told);
        let charged = out.charges.into_iter().map(Happening::Charged);
        world.record.happenings.extend(charged);
        let halted = out.halts.into_iter().map(|(id, halt)| Happening::Halted(id, halt));
        let asked = out.effects.into_iter().map(Happening::Asked);
        world.record.happenings.extend(halted.chain(told).chain(asked));
        if stores(place) {
            let (stored, plan) = (world.machine.to_json(), Arc::clone(world.machine.plan()));
            world.machine = Machine::from_json(plan, &stored).expect("what was stored");
        }
    }
    (world.record, world.machine.to_json())
}

//! Decides how children become steps of a `FakeSubagent`.
//!
//! Knows nothing about what the scenarios expect.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use in_memory_fakes::{FakeChild, FakeSubagent, SubagentStep};
use port_conformance::{
    Unstageable,
    subagents::{Child, ChildEnd, Nursery, StagedSubagents, SubagentCapabilities, SubagentHarness},
};
use runtime_ports::{PortFailure, PortFailureKind};

/// A `FakeSubagent` behind every scenario.
pub(crate) struct FakeSubagentHarness;

#[async_trait]
impl SubagentHarness for FakeSubagentHarness {
    fn capabilities(&self) -> SubagentCapabilities {
        SubagentCapabilities::ALL
    }

    async fn stage(&self, children: Vec<(String, Child)>) -> Result<StagedSubagents, Unstageable> {
        let mut plan: HashMap<String, Vec<Child>> = HashMap::new();
        children
            .into_iter()
            .for_each(|(prompt, child)| plan.entry(prompt).or_default().push(child));
        let plan = Mutex::new(plan);
        let fake = FakeSubagent::choosing(move |request| {
            let mut plan = plan.lock().unwrap_or_else(PoisonError::into_inner);
            match plan.get_mut(&request.prompt) {
                Some(children) if children.len() > 1 => step(children.remove(0)),
                Some(children) => step(children[0].clone()),
                None => SubagentStep::fail(unknown()),
            }
        });
        let nursery = Arc::new(FakeNursery(fake.clone()));
        Ok(StagedSubagents { session: Arc::new(fake), nursery })
    }
}

fn step(child: Child) -> SubagentStep {
    let step = match child.end {
        ChildEnd::Answers(answer) => SubagentStep::answer(answer),
        ChildEnd::Fails(failure) => SubagentStep::fail(failure),
        ChildEnd::BreaksDown => SubagentStep::panic("as it was told"),
        ChildEnd::Asks(_) => SubagentStep::ask(),
        ChildEnd::Never => SubagentStep::stall(),
    };
    step.in_turn(child.turns).delay(child.takes)
}

fn unknown() -> PortFailure {
    PortFailure::not_sent(PortFailureKind::NotFound, "NO_CHILD", "no child has this prompt")
}

struct FakeNursery(FakeSubagent);

impl FakeNursery {
    fn told(&self, prompt: &str) -> impl Iterator<Item = FakeChild> {
        let children = self.0.children().into_iter();
        children.filter(move |child| child.request.prompt == prompt)
    }
}

impl Nursery for FakeNursery {
    fn turns(&self, prompt: &str) -> usize {
        self.told(prompt).map(|child| child.turns).sum()
    }

    fn at_work(&self) -> usize {
        self.0.children().iter().filter(|child| child.is_at_work).count()
    }

    fn cancels_itself(&self, prompt: &str) {
        let at_work = self.told(prompt).filter(|child| child.is_at_work);
        at_work.for_each(|child| child.operation.cancellation.cancel());
    }
}

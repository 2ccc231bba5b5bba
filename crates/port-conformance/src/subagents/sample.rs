//! Decides what the children and the requests of the scenarios look like.
//!
//! Knows nothing about what is expected of the session.

use std::time::Duration;

use runtime_ports::{OperationContext, PortFailure, SubagentOutcome, SubagentRequest};
use runtime_types::{ExecutionId, OperationId};
use uuid::Uuid;

use super::{Child, ChildEnd, StagedSubagents, SubagentHarness};
use crate::{
    Broken, Proof,
    claim::{PATIENCE, equal, eventually, operation, operation_within, success, within},
};

/// The turns that a request allows when the limit does not matter.
const TURNS: usize = 4;

impl Child {
    /// Ends like this, in its first turn, at once.
    pub(super) const fn ending(end: ChildEnd) -> Self {
        Self { turns: 1, takes: Duration::ZERO, end }
    }

    pub(super) fn answers(answer: &str) -> Self {
        Self::ending(ChildEnd::Answers(answer.to_owned()))
    }

    pub(super) const fn fails(failure: PortFailure) -> Self {
        Self::ending(ChildEnd::Fails(failure))
    }

    pub(super) const fn never_ends() -> Self {
        Self::ending(ChildEnd::Never)
    }

    /// The same in turn `turns`.
    pub(super) const fn in_turn(mut self, turns: usize) -> Self {
        self.turns = turns;
        self
    }

    /// The same, each turn of which takes so long.
    pub(super) const fn taking(mut self, time: Duration) -> Self {
        self.takes = time;
        self
    }
}

/// A session whose children do this.
pub(super) async fn staged(
    harness: &dyn SubagentHarness,
    children: &[(&str, Child)],
) -> Result<StagedSubagents, Broken> {
    let owned = |(prompt, child): &(&str, Child)| ((*prompt).to_owned(), child.clone());
    Ok(harness.stage(children.iter().map(owned).collect()).await?)
}

pub(super) fn request(id: &str, prompt: &str) -> SubagentRequest {
    SubagentRequest { request_id: id.into(), prompt: prompt.into(), max_model_turns: TURNS }
}

/// Another operation of the same execution.
pub(super) fn sibling(of: &OperationContext) -> OperationContext {
    OperationContext { execution_id: of.execution_id.clone(), ..operation() }
}

/// Another operation of the same execution, which ends after `limit`.
pub(super) fn hasty_sibling(of: &OperationContext, limit: Duration) -> OperationContext {
    OperationContext { execution_id: of.execution_id.clone(), ..operation_within(limit) }
}

/// An operation whose names hold no UUID.
pub(super) fn plainly_named() -> OperationContext {
    let fresh = |what: &str| format!("{what} {}", Uuid::new_v4());
    let (id, execution_id) = (OperationId::new(fresh("call")), ExecutionId::new(fresh("run")));
    let valid = "a short name is valid";
    let (id, execution_id) = (id.expect(valid), execution_id.expect(valid));
    OperationContext { id, execution_id, ..operation() }
}

impl StagedSubagents {
    /// What becomes of a call; it ends by itself.
    pub(super) async fn tried(
        &self,
        operation: &OperationContext,
        request: SubagentRequest,
    ) -> Result<Result<SubagentOutcome, PortFailure>, Broken> {
        within("the call", PATIENCE, self.session.execute(operation, request)).await
    }

    /// The answer of a call that must succeed.
    pub(super) async fn answer(
        &self,
        operation: &OperationContext,
        request: SubagentRequest,
    ) -> Result<String, Broken> {
        let outcome = success("the call", self.tried(operation, request).await?)?;
        Ok(outcome.answer)
    }

    /// The call succeeds with this answer.
    pub(super) async fn answers(
        &self,
        operation: &OperationContext,
        request: SubagentRequest,
        expected: &str,
    ) -> Proof {
        let answer = self.answer(operation, request).await?;
        equal("the answer", answer.as_str(), expected)
    }

    /// So many model turns began in all children that were told this.
    pub(super) fn took(&self, prompt: &str, turns: usize) -> Proof {
        let name: String = prompt.chars().take(20).collect();
        equal(&format!("the number of turns for {name:?}"), &self.nursery.turns(prompt), &turns)
    }

    /// A child is at work before long.
    pub(super) async fn begins(&self) -> Proof {
        eventually("the beginning of a child", || self.nursery.at_work() > 0).await
    }

    /// No child is at work before long.
    pub(super) async fn rests(&self) -> Proof {
        eventually("the end of the child", || self.nursery.at_work() == 0).await
    }
}

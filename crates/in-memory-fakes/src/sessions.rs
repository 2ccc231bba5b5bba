//! Decides which fakes make up the ports of one execution.
//!
//! Knows nothing about what they answer.

use std::sync::Arc;

use runtime_ports::ExecutionSessions;

use crate::{
    FakeContextAudit, FakeConversation, FakeInteraction, FakeModel, FakeResources, FakeSubagent,
    FakeTrace, FakeWorkspace,
};

/// A fake of every port of an execution. Replace those that a test is about:
///
/// ```
/// use in_memory_fakes::{FakeModel, FakeSessions, ModelStep};
///
/// let model = FakeModel::new([ModelStep::text("hello")]);
/// let fakes = FakeSessions { model: model.clone(), ..FakeSessions::default() };
/// let ports = fakes.ports();
/// # model.unchecked();
/// ```
#[derive(Debug, Clone)]
pub struct FakeSessions {
    /// The model; without a step unless it is replaced.
    pub model: FakeModel,
    /// The conversation; empty.
    pub conversation: FakeConversation,
    /// The audit of contexts; empty.
    pub context_audit: FakeContextAudit,
    /// Files and commands; none.
    pub workspace: FakeWorkspace,
    /// The trace; empty.
    pub trace: FakeTrace,
    /// The human, played by the test.
    pub interaction: FakeInteraction,
    /// Delegated tasks; without a step.
    pub subagent: FakeSubagent,
    /// Instructions and skills; none.
    pub resources: FakeResources,
}

impl FakeSessions {
    /// The fakes as the ports of an execution.
    #[must_use]
    pub fn ports(&self) -> ExecutionSessions {
        ExecutionSessions {
            model: Arc::new(self.model.clone()),
            conversation: Arc::new(self.conversation.clone()),
            context_audit: Arc::new(self.context_audit.clone()),
            workspace: Arc::new(self.workspace.clone()),
            trace: Arc::new(self.trace.clone()),
            interaction: Arc::new(self.interaction.clone()),
            subagent: Arc::new(self.subagent.clone()),
            resources: Arc::new(self.resources.clone()),
        }
    }
}

impl Default for FakeSessions {
    fn default() -> Self {
        Self {
            model: FakeModel::new([]),
            conversation: FakeConversation::default(),
            context_audit: FakeContextAudit::default(),
            workspace: FakeWorkspace::default(),
            trace: FakeTrace::default(),
            interaction: FakeInteraction::manual(),
            subagent: FakeSubagent::default(),
            resources: FakeResources::default(),
        }
    }
}

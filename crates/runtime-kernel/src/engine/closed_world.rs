//! Decides what a tool is told that uses a port which its agent was not given.
//!
//! Knows nothing about tools. Invariant: every call fails before anything happens, and says what
//! is missing and who can give it.

#[cfg(test)]
mod tests;

use std::{ops::Range, sync::Arc};

use async_trait::async_trait;
use runtime_ports::{
    ArtifactDigest, ArtifactStore, CommandOutput, CommandRequest, InteractionRequest,
    InteractionResponse, InteractionSession, OperationContext, PortFailure, PortFailureKind,
    ResourceSession, ResourceSnapshot, ToolWorld, WorkspaceEntry, WorkspaceSession,
};

/// A world without anything in it, for agents whose tools need no ports: every port answers
/// `Unavailable`, with the code `NO_WORKSPACE`, `NO_INTERACTION`, `NO_RESOURCES` or `NO_ARTIFACTS`.
/// What a world lacks in part can be put into it.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use runtime_kernel::engine::closed_world;
/// # use runtime_ports::ToolWorld;
/// let artifacts = Arc::new(in_memory_fakes::FakeArtifacts::new());
/// let world = ToolWorld { artifacts, ..closed_world() };
/// ```
#[must_use]
pub fn closed_world() -> ToolWorld {
    ToolWorld {
        workspace: Arc::new(Closed),
        interaction: Arc::new(Closed),
        resources: Arc::new(Closed),
        artifacts: Arc::new(Closed),
    }
}

/// Is no port, and says so.
struct Closed;

fn no_workspace() -> PortFailure {
    missing("NO_WORKSPACE", "the agent has no workspace; give it a tool world that holds one")
}

fn no_interaction() -> PortFailure {
    missing("NO_INTERACTION", "the agent can ask nobody; give it a tool world with an interaction")
}

fn no_resources() -> PortFailure {
    missing("NO_RESOURCES", "the agent has no resources; give it a tool world that holds them")
}

fn no_artifacts() -> PortFailure {
    missing("NO_ARTIFACTS", "the agent has no artifact store; give it a tool world that holds one")
}

fn missing(code: &str, hint: &str) -> PortFailure {
    PortFailure::not_sent(PortFailureKind::Unavailable, code, hint)
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl WorkspaceSession for Closed {
    async fn describe(&self, _: &OperationContext) -> Result<String, PortFailure> {
        Err(no_workspace())
    }

    async fn read(&self, _: &OperationContext, _: &str) -> Result<Vec<u8>, PortFailure> {
        Err(no_workspace())
    }

    async fn write(&self, _: &OperationContext, _: &str, _: &[u8]) -> Result<(), PortFailure> {
        Err(no_workspace())
    }

    async fn list(
        &self,
        _: &OperationContext,
        _: &str,
    ) -> Result<Vec<WorkspaceEntry>, PortFailure> {
        Err(no_workspace())
    }

    async fn search(
        &self,
        _: &OperationContext,
        _: &str,
        _: &str,
        _: usize,
    ) -> Result<Vec<String>, PortFailure> {
        Err(no_workspace())
    }

    async fn execute(
        &self,
        _: &OperationContext,
        _: CommandRequest,
    ) -> Result<CommandOutput, PortFailure> {
        Err(no_workspace())
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl InteractionSession for Closed {
    async fn prepare(
        &self,
        _: &OperationContext,
        _: InteractionRequest,
    ) -> Result<(), PortFailure> {
        Err(no_interaction())
    }

    async fn wait(
        &self,
        _: &OperationContext,
        _: &str,
    ) -> Result<InteractionResponse, PortFailure> {
        Err(no_interaction())
    }

    async fn request(
        &self,
        _: &OperationContext,
        _: InteractionRequest,
    ) -> Result<InteractionResponse, PortFailure> {
        Err(no_interaction())
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ResourceSession for Closed {
    async fn load(&self, _: &OperationContext) -> Result<ResourceSnapshot, PortFailure> {
        Err(no_resources())
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ArtifactStore for Closed {
    async fn put(&self, _: &OperationContext, _: &[u8]) -> Result<ArtifactDigest, PortFailure> {
        Err(no_artifacts())
    }

    async fn read(
        &self,
        _: &OperationContext,
        _: &ArtifactDigest,
        _: Range<u64>,
    ) -> Result<Vec<u8>, PortFailure> {
        Err(no_artifacts())
    }
}

//! Decides which instructions and skills are loaded from memory.
//!
//! Knows nothing about what they say.

use std::collections::BTreeMap;

use async_trait::async_trait;
use runtime_ports::{OperationContext, PortFailure, ResourceSession, ResourceSnapshot};

use crate::fake_port::{FakePort, fake_port};

/// A [`ResourceSession`] in memory. Clones share it.
///
/// Name for a [`FaultPlan`](crate::FaultPlan): `resources.load`.
#[derive(Clone)]
pub struct FakeResources {
    port: FakePort<ResourceSnapshot, ResourceCall>,
}

/// What a [`FakeResources`] was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceCall {
    /// Give what holds now.
    Load,
}

fake_port!(FakeResources, ResourceCall);

impl FakeResources {
    /// Gives these instructions, and no skills.
    #[must_use]
    pub fn new<T: Into<String>>(instructions: impl IntoIterator<Item = T>) -> Self {
        let instructions = instructions.into_iter().map(Into::into).collect();
        Self::of(ResourceSnapshot::new(instructions, BTreeMap::new()))
    }

    /// Gives this snapshot.
    #[must_use]
    pub fn of(snapshot: ResourceSnapshot) -> Self {
        Self { port: FakePort::new(snapshot) }
    }

    /// Gives another snapshot from now on.
    pub fn replace(&self, snapshot: ResourceSnapshot) {
        *self.port.world() = snapshot;
    }
}

impl Default for FakeResources {
    fn default() -> Self {
        Self::new::<String>([])
    }
}

#[async_trait]
impl ResourceSession for FakeResources {
    async fn load(&self, operation: &OperationContext) -> Result<ResourceSnapshot, PortFailure> {
        let load = |snapshot: &mut ResourceSnapshot| Ok(snapshot.clone());
        self.port.call(operation, "resources.load", ResourceCall::Load, load).await
    }
}

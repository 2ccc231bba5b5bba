//! Decides how a tool behaves whose effects are counted, so that what is said of them can be held
//! against what happened.
//!
//! Knows nothing about runs. Invariant: an effect is counted when it takes place, at most once a
//! call of `invoke`.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use in_memory_fakes::FakeTool;
use runtime_ports::{
    EffectClass, OperationContext, PortFailure, PortFailureKind, Tool, ToolDescriptor,
    ToolInvocation, ToolReply, ToolWorld,
};

/// What a tool does when it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Has its effect after half of the time, and replies after all of it; heeds its operation.
    Works(Duration),
    /// As [`Deed::Works`], without heeding its operation.
    Deaf(Duration),
    /// Says that nothing was done.
    Refuses,
    /// Has its effect, and fails in a way that leaves open whether it did.
    LosesItsReply,
    /// Has its effect, and panics.
    Panics,
    /// Never ends, whatever it is told.
    Hangs,
    /// Never ends, and panics when it is dropped.
    DropsBadly,
    /// Replies at once when it is told to stop, with its effect.
    RepliesWhenTold,
}

/// What really happened.
#[derive(Debug, Default)]
pub(crate) struct World {
    applied: Mutex<BTreeMap<String, u32>>,
    at_work: AtomicUsize,
}

impl World {
    /// How often the effect of a call took place.
    pub(crate) fn applied(&self, call_id: &str) -> u32 {
        self.applied.lock().expect("no panic holds it").get(call_id).copied().unwrap_or(0)
    }

    /// How many calls have neither ended nor been dropped.
    pub(crate) fn at_work(&self) -> usize {
        self.at_work.load(Ordering::SeqCst)
    }

    fn apply(&self, call: &ToolInvocation) {
        let mut applied = self.applied.lock().expect("no panic holds it");
        *applied.entry(call.call_id.to_string()).or_default() += 1;
    }
}

/// A tool that does one deed.
#[derive(Debug)]
pub(crate) struct Probe {
    descriptor: ToolDescriptor,
    deed: Deed,
    world: Arc<World>,
}

impl Probe {
    /// A tool that writes, must not be repeated, and runs alone.
    pub(crate) fn new(world: &Arc<World>, name: &str, deed: Deed) -> Self {
        let mut descriptor = FakeTool::default_descriptor(name);
        (descriptor.effect, descriptor.idempotent) = (EffectClass::WorkspaceWrite, false);
        Self { descriptor, deed, world: Arc::clone(world) }
    }

    pub(crate) fn parallel(mut self) -> Self {
        self.descriptor.parallel = true;
        self
    }

    pub(crate) fn reading(mut self) -> Self {
        self.descriptor.effect = EffectClass::ReadOnly;
        self
    }

    pub(crate) fn limited(mut self, output_limit_bytes: usize) -> Self {
        self.descriptor.output_limit_bytes = output_limit_bytes;
        self
    }

    pub(crate) fn within(mut self, timeout: Duration) -> Self {
        self.descriptor.timeout = timeout;
        self
    }
}

struct AtWork(Arc<World>);

impl AtWork {
    fn new(world: &Arc<World>) -> Self {
        world.at_work.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(world))
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Panics when it is dropped.
pub(crate) struct Grudge;

impl Drop for Grudge {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[async_trait]
impl Tool for Probe {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.descriptor
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        _: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        let _at_work = AtWork::new(&self.world);
        let done = || Ok(ToolReply::text(format!("done {}", call.call_id)));
        match self.deed {
            Deed::Works(time) => {
                let half = || operation.bounded(tokio::time::sleep(time / 2));
                half().await.map_err(runtime_ports::Interruption::before_sending)?;
                self.world.apply(&call);
                half().await.map_err(runtime_ports::Interruption::in_flight)?;
                done()
            }
            Deed::Deaf(time) => {
                tokio::time::sleep(time / 2).await;
                self.world.apply(&call);
                tokio::time::sleep(time / 2).await;
                done()
            }
            Deed::Refuses => {
                let kind = PortFailureKind::Unavailable;
                Err(PortFailure::not_sent(kind, "DOWN", "the server is down"))
            }
            Deed::LosesItsReply => {
                self.world.apply(&call);
                let kind = PortFailureKind::Unavailable;
                Err(PortFailure::in_flight_unknown(kind, "LOST", "the reply was lost"))
            }
            Deed::Panics => {
                self.world.apply(&call);
                panic!("SECRET of the tool")
            }
            Deed::Hangs => std::future::pending().await,
            Deed::DropsBadly => {
                let _grudge = Grudge;
                std::future::pending().await
            }
            Deed::RepliesWhenTold => {
                operation.cancellation.cancelled().await;
                self.world.apply(&call);
                done()
            }
        }
    }
}

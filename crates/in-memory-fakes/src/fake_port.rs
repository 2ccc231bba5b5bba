//! Decides how a call reaches the world behind a fake: refused when its operation has ended, then
//! recorded, then performed with the faults that are planned for it.
//!
//! Knows nothing about any world or any call. Invariant: the world is locked for one effect at a
//! time, and never across an await.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runtime_ports::{OperationContext, PortFailure};
use runtime_types::OperationId;

use crate::{FaultPlan, Recorder};

/// What a fake was asked, and by which operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked<C> {
    /// The operation of the call.
    pub operation_id: OperationId,
    /// The operation that caused it, if any.
    pub parent: Option<OperationId>,
    /// The call.
    pub call: C,
}

pub(crate) struct FakePort<W, C> {
    world: Arc<Mutex<W>>,
    pub(crate) asked: Recorder<Asked<C>>,
    pub(crate) faults: FaultPlan,
}

impl<W, C> FakePort<W, C> {
    pub(crate) fn new(world: W) -> Self {
        let world = Arc::new(Mutex::new(world));
        Self { world, asked: Recorder::new(), faults: FaultPlan::new() }
    }

    /// Another door to the same world, with a record of its own.
    pub(crate) fn another_door(&self) -> Self {
        let (world, faults) = (Arc::clone(&self.world), self.faults.clone());
        Self { world, asked: Recorder::new(), faults }
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, W> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Performs one call whose effect takes no time.
    pub(crate) async fn call<T>(
        &self,
        operation: &OperationContext,
        name: &str,
        call: C,
        effect: impl FnOnce(&mut W) -> Result<T, PortFailure>,
    ) -> Result<T, PortFailure> {
        let effect = async { effect(&mut self.world()) };
        self.call_async(operation, name, call, effect).await
    }

    /// Performs one call whose effect takes time.
    pub(crate) async fn call_async<T>(
        &self,
        operation: &OperationContext,
        name: &str,
        call: C,
        effect: impl Future<Output = Result<T, PortFailure>>,
    ) -> Result<T, PortFailure> {
        operation.remaining()?;
        let (operation_id, parent) = (operation.id.clone(), operation.parent.clone());
        self.asked.record(Asked { operation_id, parent, call });
        self.faults.call(operation, name, effect).await
    }
}

impl<W, C> Clone for FakePort<W, C> {
    fn clone(&self) -> Self {
        let (world, asked) = (Arc::clone(&self.world), self.asked.clone());
        Self { world, asked, faults: self.faults.clone() }
    }
}

/// Gives a fake with a field `port: FakePort<_, $call>` what all fakes have in common.
macro_rules! fake_port {
    ($fake:ty, $call:ty) => {
        impl $fake {
            /// Fails where the plan says so.
            #[must_use]
            pub fn with_faults(mut self, plan: &$crate::FaultPlan) -> Self {
                self.port.faults = plan.clone();
                self
            }

            /// What was asked, in order.
            #[must_use]
            pub fn calls(&self) -> Vec<$call> {
                self.asked().into_iter().map(|asked| asked.call).collect()
            }

            /// What was asked and by which operation, in order.
            #[must_use]
            pub fn asked(&self) -> Vec<$crate::Asked<$call>> {
                self.port.asked.all()
            }
        }

        impl std::fmt::Debug for $fake {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let calls = self.port.asked.len();
                formatter.debug_struct(stringify!($fake)).field("calls", &calls).finish()
            }
        }
    };
}

/// Gives a fake with a field `script` the checks of its script.
macro_rules! scripted {
    ($fake:ty) => {
        impl $fake {
            /// Leaves out the check of the script.
            pub fn unchecked(&self) {
                self.script.uncheck();
            }

            /// Checks now that the script was played to its end, and not beyond.
            ///
            /// # Panics
            /// When it was not; the message shows script and reality side by side.
            #[track_caller]
            pub fn assert_script_done(&self) {
                self.script.assert_done();
            }
        }
    };
}

pub(crate) use {fake_port, scripted};

//! Decides what every [`ExecutionSessionFactory`] must hold, and what a harness must give to try it.
//!
//! Knows nothing about issuers: leases are established and used through the port alone, and what
//! waits for an answer was prepared through the ports that the factory made.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use runtime_ports::ExecutionSessionFactory;

use crate::{Declares, Unstageable};

mod list;
mod sample;
mod scenarios;

pub use list::SCENARIOS;

/// Makes the subject: a factory without leases and executions.
#[async_trait]
pub trait DelegationHarness: Send + Sync {
    /// What the factory can do.
    fn capabilities(&self) -> DelegationCapabilities;

    /// A fresh factory whose leases live for `ttl`. In the executions that it makes ports for, a
    /// question waits until it is submitted an answer.
    ///
    /// # Errors
    /// [`Unstageable`] when leases cannot be made to live that long.
    async fn stage(&self, ttl: Duration) -> Result<Arc<dyn ExecutionSessionFactory>, Unstageable>;
}

/// What a factory may lack without breaking the contract. `true` means: it is there, try it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelegationCapabilities {
    /// The harness can make leases that expire within a test.
    pub can_expire: bool,
}

/// One field of [`DelegationCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of the same name")]
pub enum DelegationNeed {
    CanExpire,
}

impl DelegationCapabilities {
    /// Everything is there.
    pub const ALL: Self = Self { can_expire: true };
}

impl Declares<DelegationNeed> for dyn DelegationHarness + '_ {
    fn declares(&self, need: DelegationNeed) -> bool {
        let declared = self.capabilities();
        match need {
            DelegationNeed::CanExpire => declared.can_expire,
        }
    }
}

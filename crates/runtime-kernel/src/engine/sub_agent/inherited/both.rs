//! Decides what two approval providers say together.
//!
//! Knows nothing about who they are. Invariant: what one of them does not release is not released.

use std::sync::Arc;

use async_trait::async_trait;
use runtime_decision::ApprovalRequest;

use crate::engine::{ApprovalProvider, CallbackError, ProviderDecision, RunContext};

/// Both providers, or the one that there is.
pub(super) fn both(
    first: Option<Arc<dyn ApprovalProvider>>,
    second: Option<Arc<dyn ApprovalProvider>>,
) -> Option<Arc<dyn ApprovalProvider>> {
    match (first, second) {
        (Some(first), Some(second)) if !Arc::ptr_eq(&first, &second) => {
            Some(Arc::new(Both([first, second])))
        }
        (first, second) => first.or(second),
    }
}

struct Both([Arc<dyn ApprovalProvider>; 2]);

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ApprovalProvider for Both {
    async fn should_request(
        &self,
        run: &RunContext,
        request: &ApprovalRequest,
    ) -> Result<bool, CallbackError> {
        for provider in &self.0 {
            if provider.should_request(run, request).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Each decides about what it wants to be asked about; the strictest word counts.
    async fn decide(
        &self,
        run: &RunContext,
        request: &ApprovalRequest,
    ) -> Result<ProviderDecision, CallbackError> {
        let mut strictest = ProviderDecision::Approved;
        for provider in &self.0 {
            if !request.required && !provider.should_request(run, request).await? {
                continue;
            }
            let decision = provider.decide(run, request).await?;
            if rank(&decision) > rank(&strictest) {
                strictest = decision;
            }
        }
        Ok(strictest)
    }
}

const fn rank(decision: &ProviderDecision) -> u8 {
    match decision {
        ProviderDecision::Approved => 0,
        ProviderDecision::NeedsApproval => 1,
        ProviderDecision::TimedOut { .. } => 2,
        ProviderDecision::Denied { .. } => 3,
    }
}

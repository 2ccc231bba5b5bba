//! What the saboteur does wrong with receipts and failures.
//!
//! Knows nothing about the course of a turn.

use runtime_ports::{
    CommitDisposition, Metering, PortFailureKind, TokenUsage, TurnEnd, TurnFailure, UsageReceipt,
};

use super::{Memory, TurnFault as Fault};

/// The receipt as it is kept and told.
pub(super) fn spoiled(fault: Fault, mut receipt: UsageReceipt, memory: &Memory) -> UsageReceipt {
    match fault {
        Fault::CompletesEverything => receipt.end = TurnEnd::Completed,
        Fault::MixesUsers => receipt.user_id = memory.first_user.clone().unwrap_or_default(),
        Fault::ForgetsTheRequestedModel => {
            receipt.requested_model.clone_from(&receipt.provider_model);
        }
        Fault::LosesThread => receipt.thread_id = None,
        Fault::LosesParent => receipt.parent_operation_id = None,
        Fault::TimesInSeconds => {
            receipt.started_at_ms /= 1_000;
            receipt.ended_at_ms /= 1_000;
        }
        Fault::HidesRequests => receipt.requests.clear(),
        Fault::ListsTheLastRequest => {
            let earlier = receipt.requests.len().saturating_sub(1);
            receipt.requests.drain(..earlier);
        }
        Fault::NeverALowerBound => receipt.is_lower_bound = false,
        Fault::AlwaysALowerBound => receipt.is_lower_bound = true,
        _ => spoil_counts(fault, &mut receipt),
    }
    receipt
}

fn spoil_counts(fault: Fault, receipt: &mut UsageReceipt) {
    let mut costs = receipt.requests.iter().map(|request| request.cost_nano_usd);
    match fault {
        Fault::ZeroesUsage if receipt.metering == Metering::Unavailable => {
            receipt.metering = Metering::Tokens(TokenUsage::zero());
        }
        Fault::ZeroesCost => receipt.cost_nano_usd = receipt.cost_nano_usd.or(Some(0)),
        Fault::SumsKnownCosts => receipt.cost_nano_usd = Some(costs.flatten().sum()),
        Fault::CostOfTheLastRequest => receipt.cost_nano_usd = costs.next_back().flatten(),
        _ => {}
    }
}

/// The failure as it is told.
pub(super) fn spoiled_failure(
    fault: Fault,
    mut failure: TurnFailure,
    memory: &Memory,
) -> TurnFailure {
    failure.receipt = failure.receipt.map(|receipt| Box::new(spoiled(fault, *receipt, memory)));
    match fault {
        Fault::LosesReceiptsOfFailures => failure.receipt = None,
        Fault::LiesNotCommitted => failure.failure.commit = CommitDisposition::NotCommitted,
        Fault::FlattensKinds => failure = flattened(failure),
        _ => {}
    }
    failure
}

/// The same failure, of no particular kind.
pub(super) fn flattened(mut failure: TurnFailure) -> TurnFailure {
    failure.failure.kind = PortFailureKind::Internal;
    failure
}

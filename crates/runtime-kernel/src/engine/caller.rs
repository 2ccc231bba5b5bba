//! Decides how a run that a call of a tool starts finds the run that the call is of.
//!
//! Knows what the calling run shares: its budgets and its account; refuses to know tools. Invariant:
//! the call is found wherever its future is polled, and in a task of its own only if it is taken
//! there.

use std::{future::Future, sync::Arc};

use runtime_decision::{Amounts, EffectId, Shortage, Spent};

use super::{account::Account, run_budget::RunBudget};

tokio::task_local! {
    static CALLER: Caller;
}

/// The run that a call is of.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) budget: Option<Arc<RunBudget>>,
    pub(super) account: Arc<Account>,
    pub(super) effect: EffectId,
}

impl Caller {
    /// The run whose call is polled at this moment, if one is.
    pub(super) fn present() -> Option<Self> {
        CALLER.try_with(Self::clone).ok()
    }

    /// The future of a call.
    pub(super) fn scope<F: Future>(self, call: F) -> impl Future<Output = F::Output> {
        CALLER.scope(self, call)
    }

    /// Takes one run from what is left of the budgets, and opens its account.
    pub(super) fn take_run(&self) -> Result<Arc<Account>, Shortage> {
        self.budget.iter().try_for_each(|budget| budget.take_run())?;
        // The run itself is one of those that are started for others.
        let one = Spent { charged: Amounts::of_sub_tasks(1), ..Spent::default() };
        let counted = Account::default();
        counted.note(one);
        self.account.add(self.effect, Arc::new(counted));
        let account = Arc::new(Account::default());
        self.account.add(self.effect, Arc::clone(&account));
        Ok(account)
    }
}

/// The same future as a part of the call of a tool that it is made in, whatever task polls it.
///
/// An [`AgentTool`](super::AgentTool) and [`EngineSubagents`](super::EngineSubagents) share the
/// budgets of the run whose tool calls them. A tool that calls them in a task of its own says so
/// with this, else those runs are bounded by the budgets of their own agents alone.
///
/// # Examples
/// ```
/// use runtime_kernel::engine::within_call;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let answer = tokio::spawn(within_call(async { "asked in a task of its own" })).await?;
/// assert_eq!(answer, "asked in a task of its own");
/// # Ok(())
/// # }
/// ```
pub fn within_call<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let caller = Caller::present();
    async move {
        match caller {
            Some(caller) => caller.scope(work).await,
            None => work.await,
        }
    }
}

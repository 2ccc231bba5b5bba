//! Decides which call of which port fails or takes its time, before or after its effect.
//!
//! Knows nothing about what the calls do. Invariant: a planned fault happens at most once, and a
//! plan with a fault that never happened fails its check.

use std::{
    collections::BTreeMap,
    fmt,
    fmt::Write as _,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use runtime_ports::{Interruption, OperationContext, PortFailure};
use tokio::time::sleep;

/// What a planned fault does.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// The call fails with exactly this. Its commit disposition is taken as given: name a true one.
    Fail(PortFailure),
    /// The call hangs until it is cancelled or its deadline passes, then fails as one that was in
    /// flight: commit unknown.
    Stall,
    /// The call takes so much longer on tokio's clock, and then goes on. Ended meanwhile by its
    /// cancellation or its deadline, it fails: not committed before the effect, unknown after it.
    Delay(Duration),
}

impl From<PortFailure> for Fault {
    fn from(failure: PortFailure) -> Self {
        Self::Fail(failure)
    }
}

/// Faults by call: which port, which of its calls (from 1), before or after the effect.
///
/// A call is named `port` or `port.method`, for example `receipts` or `receipts.settle`; each name
/// counts for itself. Clones share the plan, so one plan can span all the fakes of a test. When the
/// last clone is dropped, a fault that never happened panics with what was planned and what was
/// called.
///
/// ```
/// use in_memory_fakes::{FakeModel, FaultPlan, ModelStep};
/// use runtime_ports::{PortFailure, PortFailureKind};
///
/// let unreachable = PortFailure::not_sent(PortFailureKind::Unavailable, "DOWN", "server is down");
/// let plan = FaultPlan::new().before("model.invoke", 1, unreachable);
/// let model = FakeModel::new([ModelStep::text("hello")]).with_faults(&plan);
/// # model.unchecked(); plan.unchecked();
/// ```
#[derive(Clone, Default)]
pub struct FaultPlan(Arc<Planned>);

#[derive(Default)]
struct Planned(Mutex<State>);

#[derive(Default)]
struct State {
    faults: Vec<PlannedFault>,
    called: BTreeMap<String, u64>,
    unchecked: bool,
}

struct PlannedFault {
    call: String,
    nth: u64,
    moment: Moment,
    fault: Fault,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Before,
    After,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Waiting,
    Happened,
    EffectFailed(String),
}

impl FaultPlan {
    /// A plan without faults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Plans a fault for call number `nth` (from 1) of `call`, before its effect. Only a delay that
    /// passes leaves the effect to come.
    #[must_use]
    pub fn before(self, call: impl Into<String>, nth: u64, fault: impl Into<Fault>) -> Self {
        self.plan(call.into(), nth, Moment::Before, fault.into())
    }

    /// Plans a fault for call number `nth` (from 1) of `call`, after its effect. When the effect
    /// itself fails, that failure is returned and the planned fault does not happen.
    #[must_use]
    pub fn after(self, call: impl Into<String>, nth: u64, fault: impl Into<Fault>) -> Self {
        self.plan(call.into(), nth, Moment::After, fault.into())
    }

    fn plan(self, call: String, nth: u64, moment: Moment, fault: Fault) -> Self {
        let fate = Fate::Waiting;
        self.0.state().faults.push(PlannedFault { call, nth, moment, fault, fate });
        self
    }

    /// Leaves out the check for faults that never happened.
    pub fn unchecked(&self) {
        self.0.state().unchecked = true;
    }

    /// Checks now that every planned fault happened.
    ///
    /// # Panics
    /// When one did not; the message shows the plan and the calls side by side.
    #[track_caller]
    pub fn assert_all_happened(&self) {
        self.0.assert_all_happened();
    }

    /// Performs `effect` as one call named `call` (`port.method`), with the faults that are planned
    /// for it. The fakes call it; so can a fake of your own.
    ///
    /// # Errors
    /// `Canceled` or `Timeout` when `operation` has ended already: nothing happened, and the call
    /// does not count. Else the planned fault, or whatever `effect` returns.
    pub async fn call<T>(
        &self,
        operation: &OperationContext,
        call: &str,
        effect: impl Future<Output = Result<T, PortFailure>>,
    ) -> Result<T, PortFailure> {
        operation.remaining()?;
        let (before, after) = self.0.state().count(call);
        if let Some(planned) = before {
            self.befall(operation, planned).await?;
        }
        let outcome = effect.await;
        match (after, outcome) {
            (Some(planned), Ok(value)) => self.befall(operation, planned).await.map(|()| value),
            (Some(planned), Err(failure)) => {
                self.0.state().faults[planned].fate = Fate::EffectFailed(failure.code.clone());
                Err(failure)
            }
            (None, outcome) => outcome,
        }
    }

    /// `Ok` when the call goes on.
    async fn befall(
        &self,
        operation: &OperationContext,
        planned: usize,
    ) -> Result<(), PortFailure> {
        let (fault, moment) = {
            let planned = &mut self.0.state().faults[planned];
            planned.fate = Fate::Happened;
            (planned.fault.clone(), planned.moment)
        };
        match fault {
            Fault::Fail(failure) => Err(failure),
            Fault::Stall => Err(operation.interrupted().await.in_flight()),
            Fault::Delay(wait) => {
                operation.bounded(sleep(wait)).await.map_err(|ended| moment.ended(ended))
            }
        }
    }
}

impl Moment {
    /// What a call says that was ended in this moment.
    fn ended(self, interruption: Interruption) -> PortFailure {
        match self {
            Self::Before => interruption.before_sending(),
            Self::After => interruption.in_flight(),
        }
    }
}

impl State {
    /// Counts a call under its port and its full name, and finds the faults planned for it.
    fn count(&mut self, call: &str) -> (Option<usize>, Option<usize>) {
        let port = call.split('.').next().unwrap_or(call);
        let names = if port == call { vec![call] } else { vec![port, call] };
        for name in &names {
            *self.called.entry((*name).to_owned()).or_default() += 1;
        }
        let planned = |moment| {
            self.faults.iter().position(|fault| {
                fault.moment == moment
                    && names.contains(&fault.call.as_str())
                    && self.called[&fault.call] == fault.nth
            })
        };
        (planned(Moment::Before), planned(Moment::After))
    }

    fn difference(&self) -> Option<String> {
        let open = self.faults.iter().any(|fault| fault.fate != Fate::Happened);
        (open && !self.unchecked).then(|| self.side_by_side())
    }

    fn side_by_side(&self) -> String {
        let mut text = String::from("a planned fault did not happen\n  plan:\n");
        for planned in &self.faults {
            let _ = writeln!(text, "    {planned}");
        }
        text.push_str("  calls:\n");
        for (call, times) in &self.called {
            let _ = writeln!(text, "    {call}: {times}");
        }
        text
    }
}

impl fmt::Display for PlannedFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = if self.moment == Moment::Before { "before" } else { "after" };
        write!(formatter, "{moment} call {} of {}: ", self.nth, self.call)?;
        match &self.fault {
            Fault::Fail(failure) => formatter.write_str(&failure.code),
            Fault::Stall => formatter.write_str("stall"),
            Fault::Delay(wait) => write!(formatter, "delay of {wait:?}"),
        }?;
        match &self.fate {
            Fate::Waiting => formatter.write_str(" (did not happen)"),
            Fate::Happened => formatter.write_str(" (happened)"),
            Fate::EffectFailed(code) => write!(formatter, " (the effect itself failed: {code})"),
        }
    }
}

impl fmt::Debug for FaultPlan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.state();
        formatter.debug_list().entries(state.faults.iter().map(ToString::to_string)).finish()
    }
}

impl Planned {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[track_caller]
    fn assert_all_happened(&self) {
        let difference = self.state().difference();
        if let Some(difference) = difference {
            panic!("{difference}");
        }
    }
}

impl Drop for Planned {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.assert_all_happened();
        }
    }
}

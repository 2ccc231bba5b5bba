//! Decides what a scenario is, and whether an implementation held it, may skip it, or broke it.
//!
//! Knows nothing about any port. Invariant: a scenario is skipped only when the implementation
//! declares that it lacks what the scenario needs, and then it must truly lack it.

use std::{
    any::Any,
    fmt::Debug,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::Poll,
    time::Duration,
};

/// Longest time that one scenario may take before it counts as broken.
pub const SCENARIO_LIMIT: Duration = Duration::from_secs(20);

/// One named promise of a port, and the code that tries it on an implementation behind harness
/// `H`. `N` names what an implementation may lack.
#[derive(Debug)]
pub struct Scenario<H: ?Sized + 'static, N: 'static> {
    /// Name of the scenario, and of the test that is made from it.
    pub name: &'static str,
    /// What is promised, in one sentence.
    pub claim: &'static str,
    /// Capabilities without which the scenario makes no sense; empty for most.
    pub needs: &'static [N],
    /// Tries the promise on a fresh subject.
    pub run: for<'a> fn(&'a H) -> ScenarioFuture<'a>,
}

/// The run of a scenario.
pub type ScenarioFuture<'a> = Pin<Box<dyn Future<Output = Proof> + Send + 'a>>;

/// `Ok` when the promise was kept.
pub type Proof = Result<(), Broken>;

/// Why a promise could not be seen to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// The implementation did something else; says what.
    Claim(String),
    /// The harness cannot make the condition; says why.
    Unstageable(String),
}

/// What a harness answers when it cannot make the condition that a scenario asks for. Right only
/// together with a capability that is declared as missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unstageable(pub String);

impl Unstageable {
    /// Cannot be staged, for this reason.
    pub fn because(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl From<Unstageable> for Broken {
    fn from(reason: Unstageable) -> Self {
        Self::Unstageable(reason.0)
    }
}

/// What became of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The promise was kept.
    Held,
    /// The implementation declares that it lacks a needed capability, and the run agrees.
    Skipped(String),
    /// The promise was broken, or the skip contradicts the declared capabilities.
    Broke(String),
}

/// A harness that says which of the capabilities `N` its subject has.
pub trait Declares<N> {
    /// Whether the subject has this capability.
    fn declares(&self, need: N) -> bool;
}

impl<H, N> Scenario<H, N>
where
    H: Declares<N> + ?Sized,
    N: Copy + Debug,
{
    /// Runs the scenario and judges the outcome:
    ///
    /// | capabilities declared | run | verdict |
    /// |---|---|---|
    /// | all that it needs | kept | held |
    /// | all that it needs | broken, or the harness cannot stage it | broke |
    /// | one is missing | broken, or the harness cannot stage it | skipped |
    /// | one is missing | kept | broke: the declaration hides what is there |
    ///
    /// A panic and a run longer than [`SCENARIO_LIMIT`] count as broken.
    pub async fn judge(&self, harness: &H) -> Verdict {
        let missing = self.needs.iter().find(|need| !harness.declares(**need));
        match (missing, watched((self.run)(harness)).await) {
            (None, Ok(())) => Verdict::Held,
            (None, Err(Broken::Claim(what))) => Verdict::Broke(what),
            (None, Err(Broken::Unstageable(why))) => Verdict::Broke(format!(
                "the harness cannot stage it ({why}), but no capability is declared as missing"
            )),
            (Some(need), Err(_)) => Verdict::Skipped(format!("{need:?} is declared as missing")),
            (Some(need), Ok(())) => Verdict::Broke(format!(
                "held, although {need:?} is declared as missing; declare it as present"
            )),
        }
    }
}

/// Runs the scenario called `name` in a runtime of its own, in real time. What the macros' tests
/// call.
///
/// # Panics
/// When the verdict is [`Verdict::Broke`], and when no scenario has that name.
pub fn check<H, N>(scenarios: &[Scenario<H, N>], name: &str, harness: &H)
where
    H: Declares<N> + ?Sized,
    N: Copy + Debug,
{
    let scenario = scenarios.iter().find(|scenario| scenario.name == name);
    let scenario = scenario.expect("the macro takes its names from the list of scenarios");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a test can start two threads");
    match runtime.block_on(scenario.judge(harness)) {
        Verdict::Held => println!("{name}: held"),
        Verdict::Skipped(reason) => println!("{name}: skipped, {reason}"),
        Verdict::Broke(what) => panic!("{name}: {what}\n  promised: {}", scenario.claim),
    }
}

/// The run with its panics and its overtime turned into broken claims. A subject may panic when it
/// is dropped, too, so the run is dropped under the same watch.
async fn watched(mut run: ScenarioFuture<'_>) -> Proof {
    let steps =
        poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(proof)) => Poll::Ready(proof),
            Err(panic) => Poll::Ready(Err(panicked(panic.as_ref()))),
        });
    let proof = tokio::time::timeout(SCENARIO_LIMIT, steps).await;
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(run)));
    match (proof, dropped) {
        (Err(_), _) => Err(Broken::Claim(format!("not over after {SCENARIO_LIMIT:?}"))),
        (Ok(Ok(())), Err(panic)) => Err(panicked(panic.as_ref())),
        (Ok(proof), _) => proof,
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Broken {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    Broken::Claim(format!("panicked: {}", text.unwrap_or("without a text")))
}

#[cfg(test)]
mod tests;
